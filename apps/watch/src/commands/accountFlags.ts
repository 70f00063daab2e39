/**
 * The flags of `berth-watch account`. The code of the commands is in another file, which is loaded only when a command runs.
 */
import { allowHttpFlag } from "@berthkit/terminal/connectionFlags"
import { durationFlag } from "@berthkit/terminal/valueFlags"
import { Duration, Option } from "effect"
import { Argument, type Command, Flag } from "effect/cli"
import { defaultAccount, parseShare } from "../config/Config.ts"
import { textFlag } from "../settings/textFlag.ts"

const dayMillis = 86_400_000

const switchFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

const millis = (name: string, minMillis: number, description: string) =>
  durationFlag(name, { minMillis, maxMillis: dayMillis }).pipe(
    Flag.map(Duration.toMillis),
    Flag.withDescription(description)
  )

export const nameArgument = Argument.String("NAME").pipe(Argument.withDescription("Name of the account"))

export const addFlags = {
  name: nameArgument,
  baseUrl: Flag.String("base-url").pipe(Flag.withMetavar("URL"), Flag.withDescription("The service's address")),
  project: Flag.Int("project").pipe(
    Flag.withMetavar("NUMBER"),
    Flag.withDescription("The project of the nodes, if the service has projects"),
    Flag.optional
  ),
  location: textFlag("location", "NAME", "The location of the nodes, such as Delhi"),
  allowHttp: allowHttpFlag,
  apiKeyEnv: textFlag("api-key-env", "VARIABLE", "Variable with the API key, in the daemons' environment"),
  accessTokenEnv: textFlag(
    "access-token-env",
    "VARIABLE",
    "Variable with the access token, in the daemons' environment"
  ),
  apiKeyFile: textFlag("api-key-file", "FILE", "File with the API key, on the daemons' machines"),
  accessTokenFile: textFlag("access-token-file", "FILE", "File with the access token, on the daemons' machines"),
  sealed: switchFlag(
    "sealed",
    `Read API key and access token from stdin, one per line or as JSON, and store them sealed with BERTH_WATCH_SEAL_KEY`
  ),
  replace: switchFlag("replace", "Change the account with this name and restart it"),
  unchecked: switchFlag("unchecked", "Accept variables and files that are not on this machine"),
  interval: millis(
    "interval",
    100,
    "Time from one sweep (a read of the whole list) to the next; default: depends on the number of nodes"
  ).pipe(
    Flag.map((each): number | null => each),
    Flag.withDefault(null)
  ),
  share: Flag.String("share").pipe(
    Flag.withMetavar("PERCENT"),
    Flag.filterMap(
      (given) => Option.fromUndefinedOr(parseShare(given)),
      () => "a percentage above 0%, up to 100%"
    ),
    Flag.withDescription("Maximum share of the rate limit; default 60%"),
    Flag.withDefault(defaultAccount.share)
  ),
  grace: millis("grace", 0, "Time between the two 404s that confirm a deletion; default 1m").pipe(
    Flag.withDefault(defaultAccount.graceMillis)
  ),
  hold: millis(
    "hold",
    0,
    "If many nodes vanish from the list at once, how long to wait before reporting them as deleted; default 10m"
  ).pipe(Flag.withDefault(defaultAccount.holdMillis))
}

export type AddOptions = Command.Command.Config.Infer<typeof addFlags>
