/**
 * `berth auth status`: shows which account a command would use, where its settings come from, and whether the service accepts them.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import type { Sourced } from "@berthkit/terminal/Connection"
import { Effect, Option, Result } from "effect"
import { command } from "../command.ts"
import { printOne } from "../../output/print.ts"
import { type Account, accountRecord } from "../../records/account.ts"
import { accountSettings } from "../../settings/account.ts"
import { clientOf, connectionFor } from "../../settings/client.ts"

/** The account of the settings, and whether the service accepts its credentials. */
export const accountOf = (
  settings: Effect.Success<typeof accountSettings>,
  authenticated: boolean | null
): Account => ({
  profile: value(settings.profile),
  profileSource: source(settings.profile),
  baseUrl: value(settings.baseUrl),
  baseUrlSource: source(settings.baseUrl),
  project: value(settings.project),
  projectSource: source(settings.project),
  location: value(settings.location),
  locationSource: source(settings.location),
  userAgent: value(settings.userAgent ?? Option.none()),
  userAgentSource: source(settings.userAgent ?? Option.none()),
  apiKeySource: source(settings.apiKey),
  accessTokenSource: source(settings.accessToken),
  authenticated
})

const value = (setting: Option.Option<Sourced<string>>): string | null =>
  Option.getOrNull(Option.map(setting, ({ value }) => value))

const source = (setting: Option.Option<Sourced<unknown>>): string | null =>
  Option.getOrNull(Option.map(setting, ({ source }) => source))

export const status = command(
  {},
  Effect.fnUntraced(function* () {
    const settings = yield* accountSettings
    const asked = yield* Effect.result(
      Effect.flatMap(connectionFor(settings), (connection) =>
        Nodes.use((nodes) => nodes.listPage({ page: 1, perPage: 1 })).pipe(Effect.provide(clientOf(connection)))
      )
    )
    const failure = Result.isFailure(asked) ? asked.failure : undefined
    const refused = failure?._tag === "SettingFault" || (failure !== undefined && failure.reason.exit === "denied")
    yield* printOne(accountRecord, accountOf(settings, failure === undefined ? true : refused ? false : null))
    if (failure !== undefined) return yield* failure
  })
)
