/**
 * Which boot of which machine this process runs on. Processes of one boot share a clock that a step of the wall clock does not
 * change, so shared files keep instants on both clocks. The boot is known on Linux only, from `/proc`; its clock is known on Node only.
 */
import { Clock, Effect } from "effect"
import { builtin } from "../options/builtin.ts"
import { monotonicMillisUnsafe } from "../time/Monotonic.ts"

/** Reads from `/proc`, at once: it waits for no disk. Null where there is none. */
const fromProc = (read: (fs: typeof import("node:fs")) => string): Effect.Effect<string | null> =>
  Effect.orElseSucceed(
    Effect.try(() => read(builtin("node:fs")!)),
    () => null
  )

/** The boot of this machine; null where it is unknown. */
export const bootId: Effect.Effect<string | null> = fromProc((fs) =>
  fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
)

/** A namespace of this process, such as `pid:[4026531836]`; null where it is unknown. */
export const namespaceOf = (name: "pid" | "time"): Effect.Effect<string | null> =>
  fromProc((fs) => fs.readlinkSync(`/proc/self/ns/${name}`))

/** A runtime needs up to this long to start, so its clock and the age of the process may differ by that. */
const startingSeconds = 1

/**
 * Whether the monotonic clock of this process began before the process. If so, it is the clock of the boot, which other processes have
 * too. In Bun and Deno it begins with the process. The time since the boot is no test: it counts sleep, and a container may have its own.
 */
const isClockOfBoot: Effect.Effect<boolean> = Effect.sync(() => {
  const { hrtime, uptime } = globalThis.process
  return Number(hrtime.bigint()) / 1e9 > uptime() + startingSeconds
})

/**
 * Names the monotonic clock of this process: the same name means the same clock. Null if the clock is unknown or begins with the process:
 * a reading of such a clock would look as old as the boot.
 */
export const bootClock: Effect.Effect<string | null> = Effect.gen(function* () {
  const boot = yield* bootId
  return boot !== null && (yield* isClockOfBoot) ? `${boot} ${yield* namespaceOf("time")}` : null
})

/** An instant in a shared file: on the wall clock, which may step, and, where there is one, on the clock of the boot. */
export interface Stamp {
  readonly wallMillis: number
  readonly bootMillis: number
  /** Names the clock of `bootMillis`; null where only this process has that clock. */
  readonly bootClock: string | null
}

/** This instant. */
export const stampNow = (bootClock: string | null): Effect.Effect<Stamp> =>
  Clock.clockWith((clock) =>
    Effect.sync(() => ({
      wallMillis: clock.currentTimeMillisUnsafe(),
      bootMillis: monotonicMillisUnsafe(clock),
      bootClock
    }))
  )

/** Milliseconds from one stamp to another: by the clock of the boot where both have the same, else by the wall clock. */
export const millisBetween = (from: Stamp, to: Stamp): number =>
  from.bootClock !== null && from.bootClock === to.bootClock
    ? to.bootMillis - from.bootMillis
    : to.wallMillis - from.wallMillis
