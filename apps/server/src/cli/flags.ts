/**
 * The flags of `berth-server`, each strictly parsed. Flags about worlds take their text form, description and default from
 * the fields of `WorldOptions`. `command.ts` acts on the flags.
 */
import { wholeNumberFlag } from "@berthkit/terminal/valueFlags"
import { readHostName } from "@berthkit/web/guard"
import { Option, Record, Redacted, Result, Schema } from "effect"
import { Flag } from "effect/cli"
import { readOrigin } from "../http/cors.ts"
import { readDurationMillis } from "../lifecycle/timeText.ts"
import { fieldErrors } from "@berthkit/core/api/readFields"
import { algorithms } from "@berthkit/profile/algorithms"
import { readRateLimit, WorldOptions } from "../world/WorldOptions.ts"
import { catalogues, credits, currencies, orders, pagings } from "../world/Today.ts"
import { type Account, authModes, deleteStyles, dialects } from "../world/WorldSettings.ts"
import { controlTokenVariable, isControlToken } from "./controlToken.ts"

/** The default port. */
const defaultPort = 8787

/** Parses `KEY:TOKEN`. The first colon separates the two. Both must be visible ASCII, because they go into headers. */
export const readAccount = (text: string): Option.Option<Account> => {
  const parts = /^([!-9;-~]+):([!-~]+)$/.exec(text)
  return parts === null
    ? Option.none()
    : Option.some({ apiKey: Redacted.make(parts[1]!), accessToken: Redacted.make(parts[2]!) })
}

const { fields } = WorldOptions

/** The flag of a world option, with the description of the field. If the flag is missing, the option has its default. */
const option = <A>(flag: Flag.Flag<A>, field: Schema.Top): Flag.Flag<Option.Option<A>> =>
  Flag.optional(Flag.withDescription(flag, String(Schema.resolveAnnotations(field)?.["description"] ?? "")))

/** The same, for a field whose values have a text form. */
const textOption = <A>(name: string, field: Schema.Codec<A, string>, metavar: string) => {
  const read = Schema.decodeUnknownResult(field)
  const expected = (text: string) =>
    Option.match(Result.getFailure(read(text)), {
      onNone: () => "",
      onSome: ({ issue }) => fieldErrors(issue)["detail"]?.[0]?.replace(/^Expected (.*)\.$/, "expected $1") ?? ""
    })
  return option(
    Flag.filterMap(Flag.withMetavar(Flag.String(name), metavar), (text) => Result.getSuccess(read(text)), expected),
    field
  )
}

const worldFlags = {
  seed: option(wholeNumberFlag("seed"), fields.seed),
  clock: textOption("clock", fields.clock, "SPEED"),
  startAt: textOption("start-at", fields.startAt, "TIME"),
  scenario: textOption("scenario", fields.scenario, "NODES"),
  provisioning: textOption("provisioning", fields.provisioning, "DURATION"),
  termination: textOption("termination", fields.termination, "DURATION"),
  auth: option(Flag.Literals("auth", authModes), fields.auth),
  deleteStyle: option(Flag.Literals("delete-style", deleteStyles), fields.deleteStyle),
  uniqueNames: option(Flag.Boolean("unique-names"), fields.uniqueNames),
  dialect: option(Flag.Literals("dialect", dialects), fields.dialect),
  catalogue: option(Flag.Literals("catalogue", catalogues), fields.catalogue),
  currency: option(Flag.Literals("currency", currencies), fields.currency),
  credit: option(Flag.Literals("credit", credits), fields.credit),
  listDates: option(Flag.Boolean("list-dates"), fields.listDates),
  paging: option(Flag.Literals("paging", pagings), fields.paging),
  order: option(Flag.Literals("order", orders), fields.order),
  failuresWith200: option(Flag.Boolean("failures-with-200"), fields.failuresWith200)
}

/** The name of a world option's flag: `list-dates` for `listDates`. */
export const flagOf = (name: string): string => name.replace(/[A-Z]+|\d+/g, (part) => `-${part.toLowerCase()}`)

/** A flag that names a file. */
export const fileFlag = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar("FILE"), Flag.withDescription(description), Flag.optional)

/** A flag without a value. */
export const givenFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

/** A duration in milliseconds, or `off`. */
const readTtl = (text: string): Option.Option<number | "off"> =>
  text === "off" ? Option.some("off") : Option.filter(readDurationMillis(text), (millis) => millis > 0)

export const flags = {
  port: wholeNumberFlag("port", 0, 65_535).pipe(
    Flag.withDescription(`Port to listen on, 0 for a free one; default ${defaultPort}`),
    Flag.withDefault(defaultPort)
  ),
  host: Flag.String("host").pipe(
    Flag.withDescription("Address to listen on; default 127.0.0.1. Any address but loopback requires a control token"),
    Flag.withDefault("127.0.0.1")
  ),
  world: worldFlags,
  rateLimit: Flag.String("rate-limit").pipe(
    Flag.filterMap(readRateLimit, () => "expected requests per window, such as 1200/1h"),
    Flag.withDescription("Requests per window; default 1200/1h"),
    Flag.optional
  ),
  rateLimitAlgorithm: Flag.Literals("rate-limit-algorithm", algorithms).pipe(
    Flag.withDescription("The kind of window; default fixed-window"),
    Flag.optional
  ),
  // `command.ts` parses this flag, because an error about an account must not show its credentials.
  account: Flag.String("account").pipe(
    Flag.withMetavar("KEY:TOKEN"),
    Flag.withDescription("API key and access token of an account; repeatable; default berth-key:berth-token"),
    Flag.atLeast(0)
  ),
  fault: Flag.String("fault").pipe(
    Flag.withMetavar("NAME[:option=value…]"),
    Flag.withDescription("Arm a fault from the start; repeatable. berth-server faults lists them"),
    Flag.atLeast(0)
  ),
  // Read in controlToken.ts.
  controlToken: Flag.Redacted("control-token").pipe(
    Flag.filter(
      (token) => isControlToken(Redacted.value(token)),
      () => "expected a token of visible ASCII characters, which a header can hold"
    ),
    Flag.withDescription(
      `Token for the control plane (/_mock), which controls the mock. Other users of the machine can see it; prefer --control-token-file or ${controlTokenVariable}`
    ),
    Flag.optional
  ),
  controlTokenFile: fileFlag("control-token-file", "File with the control token"),
  tlsKey: fileFlag("tls-key", "Serve HTTPS with this private key (PEM); needs --tls-cert"),
  tlsCert: fileFlag("tls-cert", "Certificate for --tls-key (PEM), with its intermediate certificates"),
  cors: Flag.String("cors").pipe(
    Flag.filter(
      (text) => readOrigin(text) !== undefined,
      () => "expected an origin such as http://localhost:5173, without a path, or *"
    ),
    Flag.withMetavar("ORIGIN"),
    Flag.withDescription("Allow web pages from this origin (* for any); repeatable; default none"),
    Flag.atLeast(0)
  ),
  worldTtl: Flag.String("world-ttl").pipe(
    Flag.filterMap(readTtl, () => "expected a duration such as 30m or 1h, or off"),
    Flag.withDescription(
      "Remove worlds (mock accounts) that were created over HTTP and have been unused for this long; off: never; default 1h, or off with a state file"
    ),
    Flag.optional
  ),
  allowHost: Flag.String("allow-host").pipe(
    Flag.filter(
      (name) => readHostName(name) !== undefined,
      () => "expected a host name or an address, without a port"
    ),
    Flag.withMetavar("NAME"),
    Flag.withDescription("Also serve the control plane at this host name; repeatable"),
    Flag.atLeast(0)
  ),
  exitWithParent: givenFlag(
    "exit-with-parent",
    "Exit when stdin closes, as it does when the program that started the server ends"
  ),
  profile: fileFlag("profile", "Imitate the service that this profile was learned from; see berth-server learn --help"),
  state: fileFlag("state", "Keep the worlds in this file; its contents override all world flags")
}

/** The options that the user has set. */
export const given = <A extends object>(options: { readonly [K in keyof A]: Option.Option<A[K]> }): Partial<A> =>
  Record.getSomes<string, unknown>(options) as Partial<A>
