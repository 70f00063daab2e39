/**
 * Which service and whose account to watch. Flags win over the environment; secrets come from the environment only, for
 * a command line can be read by everybody on the machine.
 */
import { Config, Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import type { ClientOptions } from "@berth/core/client/options/Settings"
import { type CommandFailed, unauthenticated, usage } from "../process/CommandFailed.ts"

export interface Connection {
  readonly client: Pick<ClientOptions, "baseUrl" | "credentials">
  /** What the account is called in events. The service does not name it, and the key may not. */
  readonly account: string
}

export const connectionFlags = {
  baseUrl: Flag.String("base-url").pipe(
    Flag.withMetavar("URL"),
    Flag.withDescription("Address of the service (or BERTH_BASE_URL)"),
    Flag.optional
  ),
  account: Flag.String("account").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("Name of the account in events (or BERTH_ACCOUNT; default default)"),
    Flag.optional
  )
}

export interface ConnectionInput {
  readonly baseUrl: Option.Option<string>
  readonly account: Option.Option<string>
}

const accountName = /^[\w.@-]{1,64}$/

/** The value of an environment variable; a blank one is none. */
const variable = (name: string): Effect.Effect<Option.Option<string>> =>
  Config.option(Config.NonEmptyString(name)).pipe(
    Effect.orElseSucceed(() => Option.none<string>()),
    Effect.map(Option.filter((value) => value.trim() !== ""))
  )

/** Fails with what `fault` makes of a variable that is not set. */
const required = (name: string, hint: string, fault: typeof unauthenticated) =>
  Effect.flatMap(variable(name), (value) =>
    Option.isSome(value) ? Effect.succeed(value.value) : Effect.fail(fault(`${name} is not set.`, hint))
  )

const secret = (name: string) =>
  Effect.map(
    required(name, "Both credentials are made in the account portal and come from the environment.", unauthenticated),
    (value) => Redacted.make(value, { label: name })
  )

/** What to connect to. Fails with a usage error that names the missing or unusable setting. */
export const readConnection = Effect.fn("readConnection")(function* (
  flags: ConnectionInput
): Effect.fn.Return<Connection, CommandFailed> {
  const baseUrl = Option.isSome(flags.baseUrl)
    ? flags.baseUrl.value
    : yield* required("BERTH_BASE_URL", "Set it, or pass --base-url URL.", usage)
  const credentials = { apiKey: yield* secret("BERTH_API_KEY"), accessToken: yield* secret("BERTH_ACCESS_TOKEN") }
  const named = Option.isSome(flags.account) ? flags.account : yield* variable("BERTH_ACCOUNT")
  const account = Option.getOrElse(named, () => "default")
  if (!accountName.test(account)) {
    return yield* usage("The account name is not usable.", "Use 1 to 64 letters, digits, dots, @, - or _.")
  }
  return { client: { baseUrl, credentials }, account }
})
