/**
 * The store that a command works on, and how to reach its daemon. It is the store of a config, or the one that `run` uses
 * without a config.
 */
import { berthFolder } from "@berthkit/core/client/AccountFolder"
import { proxyVariables } from "@berthkit/core/client/transport/NodeTransport"
import { readPostgresAddress, readVariable } from "@berthkit/terminal/Connection"
import { isPostgres } from "@berthkit/terminal/postgresAddress"
import { Effect, Option, Redacted } from "effect"
import type { Command } from "effect/cli"
import { defaultMaxLag, isToken, tokenForm } from "../config/Config.ts"
import { loadConfig } from "../config/loadConfig.ts"
import type { SinkOptions } from "../deliver/SinkOptions.ts"
import { CommandFailed, misused } from "../process/CommandFailed.ts"
import { report } from "../process/report.ts"
import { textFlag } from "./textFlag.ts"

export const storeFlags = {
  config: textFlag("config", "FILE", "The daemon's config, which names the store"),
  store: textFlag("store", "FILE", "The store (or BERTH_WATCH_STORE; default watch.db in the state folder of berth)")
}

export type StoreOptions = Command.Command.Config.Infer<typeof storeFlags>

/** Reads the config; reports each of its faults. */
export const readConfigFile = (path: string) =>
  Effect.catch(loadConfig(path), ({ lines }) => Effect.andThen(report(...lines), misused(`${path} cannot be used.`)))

/**
 * Rejects a proxy variable whose value is no usable proxy. Without this check every request would fail for as long as the
 * process runs.
 */
export const checkProxy = Effect.mapError(
  Effect.try({ try: () => proxyVariables(process.env), catch: (cause) => (cause as Error).message }),
  (problem) => misused(`${problem}.`, "Set it to an address such as http://proxy.example.com:3128, or unset it.")
)

/** The value of a variable; undefined if it is unset or blank. */
export const variable = (name: string) =>
  Effect.map(readVariable(name), (value) => Option.getOrUndefined(Option.map(value, Redacted.value)))

export const tokenVariable = Effect.gen(function* (): Effect.fn.Return<Redacted.Redacted | null, CommandFailed> {
  const text = yield* variable("BERTH_WATCH_TOKEN")
  if (text === undefined) return null
  const token = Redacted.make(text)
  if (isToken(token)) return token
  return yield* misused(`BERTH_WATCH_TOKEN has to be ${tokenForm}.`)
})

/** The only sink if there is no config. */
export const stdoutSink: SinkOptions = {
  name: "stdout",
  target: { _tag: "Stdout" },
  selection: { types: [], nodes: [], causes: [], accounts: [] },
  start: "now",
  forMillis: 0,
  maxLag: defaultMaxLag
}

/** Checks a store: a path, or a PostgreSQL address. An address contains a password, so no message shows it. */
export const checkedStore = Effect.fnUntraced(function* (
  store: string,
  from: string
): Effect.fn.Return<Redacted.Redacted, CommandFailed> {
  if (!isPostgres(store)) return Redacted.make(store)
  return yield* Effect.mapError(Effect.fromResult(yield* readPostgresAddress(store)), (problem) =>
    misused(`${from} ${problem}.`)
  )
})

export const defaultStorePath = Effect.gen(function* () {
  const chosen = yield* variable("BERTH_WATCH_STORE")
  if (chosen !== undefined) return yield* checkedStore(chosen, "BERTH_WATCH_STORE")
  return yield* berthFolder(variable).pipe(
    Effect.map((folder) => Redacted.make(`${folder}/watch.db`)),
    Effect.mapError(({ message }) => misused(`No folder for the store: ${message}.`))
  )
})

/** Where a store is, and how to reach its daemon. */
export interface StoreSettings {
  /** A path, or a PostgreSQL address, which contains a password. */
  readonly store: Redacted.Redacted
  readonly token: Redacted.Redacted | null
  /** The sinks of the config; null without a config. */
  readonly sinks: ReadonlyArray<SinkOptions> | null
  /** Names of the config's accounts; empty without a config. */
  readonly accounts: ReadonlyArray<string>
}

export const storeSettings = Effect.fnUntraced(function* ({
  config,
  store: flag
}: StoreOptions): Effect.fn.Return<StoreSettings, CommandFailed> {
  const token = yield* tokenVariable
  const found = Option.isSome(config) ? yield* readConfigFile(config.value) : null
  const named = Option.getOrUndefined(flag)
  const store =
    named === undefined ? (found?.store ?? (yield* defaultStorePath)) : yield* checkedStore(named, "--store")
  return {
    store,
    token: found?.token ?? token,
    sinks: found?.sinks ?? null,
    accounts: found?.accounts.map(({ name }) => name) ?? []
  }
})
