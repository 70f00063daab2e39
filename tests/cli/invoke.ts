/**
 * Runs `berth` within the process of the test, on streams of the test and over real HTTP. This is for the many small cases that need no
 * process. `berth.ts` is for tests of processes, signals and pipes.
 */
import { type Duplex, PassThrough } from "node:stream"
import { text } from "node:stream/consumers"
import type { Ended } from "@berthkit/testing/Program"
import type { TestServer } from "@berthkit/server/testing"
import { Clock, ConfigProvider, Duration, Effect } from "effect"
import { run } from "@berthkit/cli/program"
import { type RunOptions, settings } from "./berth.ts"

interface InvokeOptions extends Pick<RunOptions, "env"> {
  readonly stdout?: Duplex
  /** If set, both streams are a terminal of this width; otherwise they are pipes. */
  readonly terminalColumns?: number
}

/** Runs `berth` to its end. */
export const invoke = (
  args: ReadonlyArray<string>,
  { env, stdout = new PassThrough(), terminalColumns }: InvokeOptions = {}
): Effect.Effect<Ended> =>
  Effect.gen(function* () {
    const surface = terminalColumns === undefined ? {} : { isTTY: true, columns: terminalColumns }
    const streams = { stdout: Object.assign(stdout, surface), stderr: Object.assign(new PassThrough(), surface) }
    // A stdout that a test makes fail has no text.
    const written = Promise.all([text(streams.stdout).catch(() => ""), text(streams.stderr)])
    const set = Object.fromEntries(Object.entries(env ?? {}).filter((entry) => entry[1] !== undefined))
    const provider = ConfigProvider.fromEnv({ env: set as Record<string, string> })
    const code = yield* Effect.provideService(run(args, streams), ConfigProvider.ConfigProvider, provider)
    streams.stdout.end()
    streams.stderr.end()
    const [data, stderr] = yield* Effect.promise(() => written)
    return { code, stdout: data, stderr }
  })

/** All pauses between attempts are shorter than this, and all time limits of calls are longer. */
const maxPauseMillis = 13_000

/** Runs an effect with pauses between attempts that are fifty times shorter, for calls that keep failing. */
export const hurried = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const hurrying: Clock.Clock = {
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
      currentTimeMillis: clock.currentTimeMillis,
      currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
      currentTimeNanos: clock.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration) => {
        const millis = Duration.toMillis(duration)
        return clock.sleep(Duration.millis(millis < maxPauseMillis ? millis / 50 : millis))
      }
    }
    return Effect.provideService(effect, Clock.Clock, hurrying)
  })

const times = 20

/** Runs an effect with all time passing twenty times as fast, for calls that wait for a limit. */
export const accelerated = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const [beginMillis, beginNanos] = [clock.currentTimeMillisUnsafe(), clock.monotonicTimeNanosUnsafe()]
    const millis = () => beginMillis + (clock.currentTimeMillisUnsafe() - beginMillis) * times
    const nanos = () => BigInt(millis()) * 1_000_000n
    const monotonic = () => beginNanos + (clock.monotonicTimeNanosUnsafe() - beginNanos) * BigInt(times)
    const accelerating: Clock.Clock = {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: monotonic,
      monotonicTimeNanos: Effect.sync(monotonic),
      sleep: (duration) => clock.sleep(Duration.millis(Duration.toMillis(duration) / times))
    }
    return Effect.provideService(effect, Clock.Clock, accelerating)
  })

/** A clock that a test can advance. */
export const movable = Effect.map(Clock.Clock, (clock) => {
  let aheadMillis = 0
  const moved: Clock.Clock = {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + aheadMillis,
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + aheadMillis),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(aheadMillis) * 1_000_000n,
    currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + BigInt(aheadMillis) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + BigInt(aheadMillis) * 1_000_000n,
    monotonicTimeNanos: Effect.map(clock.monotonicTimeNanos, (now) => now + BigInt(aheadMillis) * 1_000_000n),
    sleep: (duration) => clock.sleep(duration)
  }
  return { clock: moved, moveOn: (millis: number) => void (aheadMillis += millis) }
})

/** Runs `berth` against the service under test. */
export const berth = (args: ReadonlyArray<string>): Effect.Effect<Ended, never, TestServer> =>
  Effect.flatMap(settings, (env) => invoke(args, { env }))
