/**
 * Which store a command is about: the one of a config, or the one that `run` uses without a config.
 */
import { berthFolder } from "@berth/core/client/AccountFolder"
import { readVariable } from "@berth/terminal/Connection"
import { Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { isPostgres } from "../config/Config.ts"
import { loadConfig } from "../config/loadConfig.ts"
import { CommandFailed } from "../process/CommandFailed.ts"
import { report } from "../process/report.ts"

export const storeFlags = {
  config: Flag.String("config").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("The daemon's config, which names the store"),
    Flag.optional
  ),
  store: Flag.String("store").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("The store (or BERTH_WATCH_STORE; default watch.db in the state folder of berth)"),
    Flag.optional
  )
}

export interface StoreOptions {
  readonly config: Option.Option<string>
  readonly store: Option.Option<string>
}

/** Reads the config; reports each of its faults. */
export const readConfigFile = (path: string) =>
  Effect.catch(loadConfig(path), ({ lines }) =>
    Effect.andThen(report(...lines), new CommandFailed({ exit: "usage", message: `${path} cannot be used.` }))
  )

/** What a variable holds; undefined when it is not set, or blank. */
export const variable = (name: string) =>
  Effect.map(readVariable(name), (value) => Option.getOrUndefined(Option.map(value, Redacted.value)))

export const defaultStorePath = Effect.gen(function* () {
  const chosen = yield* variable("BERTH_WATCH_STORE")
  if (chosen !== undefined) return chosen
  return yield* berthFolder(variable).pipe(
    Effect.map((folder) => `${folder}/watch.db`),
    Effect.mapError(
      ({ message }) => new CommandFailed({ exit: "usage", message: `There is no folder for the store: ${message}.` })
    )
  )
})

export const storePath = Effect.fnUntraced(function* ({ config, store }: StoreOptions) {
  if (Option.isSome(store)) return store.value
  if (Option.isNone(config)) return yield* defaultStorePath
  const path = Redacted.value((yield* readConfigFile(config.value)).store)
  if (!isPostgres(path)) return path
  return yield* new CommandFailed({
    exit: "usage",
    message: "This command reads stores in files only.",
    hint: "Use the daemon's HTTP interface."
  })
})
