/**
 * The clock of a world, as a value: which instant it shows is a function of that value and of the real time. Nothing here
 * reads a clock. All instants are whole milliseconds since the epoch.
 */

/** How world time follows real time: `1` as it is, `60` sixty times as fast, `0` not at all. */
export interface VirtualClock {
  /** World milliseconds per real millisecond, 0 or more. */
  readonly rate: number
  /** The world's instant at `anchorRealMillis`. */
  readonly anchorMillis: number
  readonly anchorRealMillis: number
}

/** The values of `--clock`: `real`, `frozen`, or a factor of 1 or more. */
export type ClockMode = "real" | "frozen" | { readonly times: number }

/** Where a frozen world begins, so that two runs show the same times: 2026-01-01T00:00:00.000Z. */
export const frozenStartMillis = 1_767_225_600_000

/** The largest factor of a clock that passes faster. */
export const maxTimes = 1_000_000

/**
 * The end of a world's time, where every clock stops: the last instant of the year 9899. What follows from it, as the end of
 * a window or of a delay, still has a year of four digits.
 */
export const lastMillis = Date.parse("9899-12-31T23:59:59.999Z")

const rateOf = (mode: ClockMode): number => {
  const rate = mode === "real" ? 1 : mode === "frozen" ? 0 : mode.times
  // A world whose time is no number would wait for its end for ever.
  if (rate >= 0 && rate <= maxTimes) return rate
  throw new RangeError(
    `Expected a clock that is real, frozen, or a factor of up to ${maxTimes}; its factor is ${rate}.`
  )
}

/** A clock at its start. Unless `startAt` is given, a frozen one begins at `frozenStartMillis` and the others at the real time. */
export const make = (mode: ClockMode, realMillis: number, startAt: number | null = null): VirtualClock => ({
  rate: rateOf(mode),
  anchorMillis: startAt ?? (mode === "frozen" ? frozenStartMillis : realMillis),
  anchorRealMillis: realMillis
})

/** The world's instant, never before the anchor and never after `lastMillis`. */
export const now = (clock: VirtualClock, realMillis: number): number =>
  Math.min(lastMillis, clock.anchorMillis + Math.max(0, Math.floor((realMillis - clock.anchorRealMillis) * clock.rate)))

/** The same clock, `byMillis` milliseconds further on. World time never goes back: a negative duration, or none, counts as 0. */
export const advance = (clock: VirtualClock, realMillis: number, byMillis: number): VirtualClock => ({
  rate: clock.rate,
  anchorMillis: Math.min(lastMillis, now(clock, realMillis) + Math.max(0, Math.floor(byMillis) || 0)),
  anchorRealMillis: Math.max(realMillis, clock.anchorRealMillis)
})

/** How the clock passes. */
export const modeOf = ({ rate }: VirtualClock): ClockMode =>
  rate === 1 ? "real" : rate === 0 ? "frozen" : { times: rate }

/** A clock that shows the same instant and passes differently from here on. */
export const setMode = (clock: VirtualClock, realMillis: number, mode: ClockMode): VirtualClock => ({
  ...advance(clock, realMillis, 0),
  rate: rateOf(mode)
})
