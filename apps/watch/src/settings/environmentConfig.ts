/**
 * The config without a file: one account from `BERTH_*`, whose events go to stdout. `BERTH_WATCH_STORE`, `BERTH_WATCH_LISTEN` and
 * `BERTH_WATCH_TOKEN` change what they name.
 */
import type { Connection } from "@berthkit/terminal/Connection"
import { Effect, Redacted } from "effect"
import {
  defaultAccount,
  defaultListen,
  isLoopback,
  type Listen,
  parseListen,
  type WatchConfig
} from "../config/Config.ts"
import { CommandFailed, misused } from "../process/CommandFailed.ts"
import { defaultRetention } from "../store/retention.ts"
import { defaultStorePath, stdoutSink, tokenVariable, variable } from "./storeSettings.ts"

const readListen = Effect.gen(function* (): Effect.fn.Return<Listen | null, CommandFailed> {
  const text = yield* variable("BERTH_WATCH_LISTEN")
  if (text === undefined) return defaultListen
  if (text === "off") return null
  const listen = parseListen(text)
  if (listen !== undefined) return listen
  return yield* misused("BERTH_WATCH_LISTEN has to be HOST:PORT or off.")
})

export const environmentConfig = Effect.fn("environmentConfig")(function* (
  { options }: Pick<Connection, "options">,
  account: string
): Effect.fn.Return<WatchConfig, CommandFailed> {
  const listen = yield* readListen
  const token = yield* tokenVariable
  if (listen !== null && !isLoopback(listen) && token === null) {
    return yield* misused(
      "BERTH_WATCH_LISTEN is reachable from other machines, so a token is needed.",
      "Set BERTH_WATCH_TOKEN."
    )
  }
  return {
    store: Redacted.make(yield* defaultStorePath),
    listen,
    token,
    publicOrigin: null,
    accounts: [{ ...defaultAccount, name: account, connection: options }],
    sinks: [stdoutSink],
    heartbeat: null,
    retention: defaultRetention
  }
})
