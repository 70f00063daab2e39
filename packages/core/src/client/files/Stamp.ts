/**
 * Times that several processes compare: on the wall clock, and on the boot's clock, which steps of the wall clock do not change. `Boot.ts`
 * names the boot's clock.
 */
import { Clock, Effect } from "effect"
import { monotonicMillisUnsafe } from "../time/Monotonic.ts"

/** A time in a shared file: on the wall clock, which may step, and on the boot's clock, if there is one. */
export interface Stamp {
  readonly wallMillis: number
  readonly bootMillis: number
  /** Names the clock of `bootMillis`; null if only this process has that clock. */
  readonly bootClock: string | null
}

/** The current time. */
export const stampNow = (bootClock: string | null): Effect.Effect<Stamp> =>
  Clock.clockWith((clock) =>
    Effect.sync(() => ({
      wallMillis: clock.currentTimeMillisUnsafe(),
      bootMillis: monotonicMillisUnsafe(clock),
      bootClock
    }))
  )

/** Whether two stamps are on the clock of one boot. */
export const isOfOneBoot = (from: Stamp, to: Stamp): boolean =>
  from.bootClock !== null && from.bootClock === to.bootClock

/** Milliseconds between two stamps: on the boot's clock if both have the same, otherwise on the wall clock. */
export const millisBetween = (from: Stamp, to: Stamp): number =>
  isOfOneBoot(from, to) ? to.bootMillis - from.bootMillis : to.wallMillis - from.wallMillis

/** A wall clock may step by this much, and the wall clocks of two machines may differ by this much. */
export const maxStepMillis = 15 * 60_000

/** The minimum time between two stamps: if only wall clocks show it, the largest step is subtracted. */
export const minMillisBetween = (from: Stamp, to: Stamp): number =>
  millisBetween(from, to) - (isOfOneBoot(from, to) ? 0 : maxStepMillis)
