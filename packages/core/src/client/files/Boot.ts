/**
 * Which boot of which machine this process runs on. Processes of one boot share a clock that no step of the wall clock
 * changes, so instants in shared files are kept on both. Known on Linux, from `/proc`; nowhere else.
 */
import { Clock, Effect } from "effect"
import { monotonicMillisUnsafe } from "../time/Monotonic.ts"
import { withFiles } from "./StateFiles.ts"

const orNull = <A, E>(effect: Effect.Effect<A, E>) => Effect.orElseSucceed(effect, () => null)

/** The boot of this machine; null where it cannot be known. */
export const bootId: Effect.Effect<string | null> = orNull(
  Effect.map(
    withFiles((fs) => fs.readFile("/proc/sys/kernel/random/boot_id", "utf8")),
    (text) => text.trim()
  )
)

/** A namespace of this process, such as `pid:[4026531836]`; null where it cannot be known. */
export const namespaceOf = (name: "pid" | "time"): Effect.Effect<string | null> =>
  orNull(withFiles((fs) => fs.readlink(`/proc/self/ns/${name}`)))

/** Names the monotonic clock of this process: the same name is the same clock. Null where that cannot be known. */
export const bootClock: Effect.Effect<string | null> = Effect.zipWith(bootId, namespaceOf("time"), (boot, time) =>
  boot === null ? null : `${boot} ${time}`
)

/** An instant as shared files keep it: on the wall clock, which may step, and, where there is one, on the clock of the boot. */
export interface Stamp {
  readonly wallMillis: number
  readonly bootMillis: number
  /** Names the clock of `bootMillis`; null where that is known to this process alone. */
  readonly bootClock: string | null
}

/** This instant, with the name of the clock there may be. */
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
