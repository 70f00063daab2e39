/**
 * `berth-watch run`: watches until it is stopped. With a config file, SIGHUP makes it read the file again and restart the
 * daemon within the same process. If the new config is unusable, the daemon continues with the old one.
 */
import { Effect, Option, Result } from "effect"
import type { WatchConfig } from "../config/Config.ts"
import { loadConfig } from "../config/loadConfig.ts"
import type { Reported } from "../daemon/reportTroubles.ts"
import { runDaemon } from "../daemon/runDaemon.ts"
import type { CommandFailed } from "../process/CommandFailed.ts"
import { reloadSignal, StopSignal } from "../process/signals.ts"
import { report } from "../process/report.ts"
import { notifySupervisor } from "../process/supervisor.ts"
import type { RunSettings } from "../settings/RunSettings.ts"

type Next = { readonly _tag: "Stop" } | { readonly _tag: "Reload"; readonly config: WatchConfig }

/** Waits for the next usable config in a file. */
const nextConfig = Effect.fnUntraced(function* (path: string, signal: Effect.Effect<void>) {
  for (;;) {
    yield* signal
    yield* notifySupervisor("RELOADING=1")
    const loaded = yield* Effect.result(loadConfig(path))
    if (Result.isSuccess(loaded)) return loaded.success
    yield* report(...loaded.failure.lines, `berth-watch: ${path} cannot be used; the daemon keeps its config.`)
    yield* notifySupervisor("READY=1")
  }
})

/** Watches the accounts of the config `first`, which was read from the file `path`. */
export const run = Effect.fn("run")(function* (first: WatchConfig, path: string | null, settings: RunSettings) {
  const { isReceived, received } = yield* StopSignal
  const stop = Effect.as(Effect.andThen(received, notifySupervisor("STOPPING=1")), { _tag: "Stop" } as Next)
  const signal = path === null ? null : yield* reloadSignal
  const reload = (path: string, signal: Effect.Effect<void>) =>
    Effect.map(nextConfig(path, signal), (config): Next => ({ _tag: "Reload", config }))
  const until = path === null || signal === null ? stop : Effect.raceFirst(stop, reload(path, signal))

  const reported: Reported = new Map()
  let config = first
  /** The config before the reload. */
  let former: WatchConfig | null = null
  for (;;) {
    // If the signal to stop arrives while the config is replaced, do not start another daemon only to end it.
    if (yield* isReceived) return yield* notifySupervisor("STOPPING=1")
    let isReady = false
    const onReady = Effect.andThen(
      Effect.sync(() => void (isReady = true)),
      notifySupervisor("READY=1")
    )
    const ended: Result.Result<Option.Option<Next>, CommandFailed> = yield* Effect.result(
      runDaemon({ config, settings, isReloaded: former !== null, reported, onReady, until })
    )
    if (Result.isFailure(ended)) {
      // After a daemon is ready, a failure is the config's fault only if the service refused the credentials.
      const isOfConfig = !isReady || ended.failure.exit === "denied"
      if (former === null || !isOfConfig) return yield* ended.failure
      yield* report(`berth-watch: ${ended.failure.message} The daemon keeps its config.`)
      config = former
      former = null
      continue
    }
    const next = Option.getOrUndefined(ended.success)
    if (next === undefined || next._tag === "Stop") return
    former = config
    config = next.config
  }
}, Effect.scoped)
