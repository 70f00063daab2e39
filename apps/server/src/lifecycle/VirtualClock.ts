/**
 * The clock of a world as a value. The instant it shows is a function of that value and the real time; nothing here reads a
 * clock. All instants are whole milliseconds since the epoch.
 */

/** Maps real time to world time: rate `1` is real time, `60` is sixty times as fast, `0` is frozen. */
export interface VirtualClock {
  /** World milliseconds per real millisecond, 0 or more. */
  readonly rate: number
  /** The world's instant at `anchorRealMillis`. */
  readonly anchorMillis: number
  readonly anchorRealMillis: number
}

/** The values of `--clock`: `real`, `frozen`, or a factor of 1 or more. */
export type ClockMode = "real" | "frozen" | { readonly times: number }

/** The start of a frozen world, so that two runs show the same times: 2026-01-01T00:00:00.000Z. */
export const frozenStartMillis = 1_767_225_600_000

/** The largest factor of a fast clock. */
export const maxTimes = 1_000_000

/**
 * The end of a world's time, where every clock stops: the last instant of the year 9899. Later instants that follow from it,
 * such as the end of a window or a delay, still have a four-digit year.
 */
export const lastMillis = Date.parse("9899-12-31T23:59:59.999Z")

const rateOf = (mode: ClockMode): number => {
  const rate = mode === "real" ? 1 : mode === "frozen" ? 0 : mode.times
  // A NaN rate would make a world wait for ever.
  if (rate >= 0 && rate <= maxTimes) return rate
  throw new RangeError(
    `Expected a clock that is real, frozen, or a factor of up to ${maxTimes}; its factor is ${rate}.`
  )
}

/**
 * A clock at its start. Unless `startAt` is given, a frozen clock starts at `frozenStartMillis` and any other at the real time.
 */
export const make = (mode: ClockMode, realMillis: number, startAt: number | null = null): VirtualClock => ({
  rate: rateOf(mode),
  anchorMillis: startAt ?? (mode === "frozen" ? frozenStartMillis : realMillis),
  anchorRealMillis: realMillis
})

/** The world's instant, never before the anchor and never after `lastMillis`. */
export const now = (clock: VirtualClock, realMillis: number): number =>
  Math.min(lastMillis, clock.anchorMillis + Math.max(0, Math.floor((realMillis - clock.anchorRealMillis) * clock.rate)))

/** The clock moved on by `byMillis` milliseconds. World time never goes back: a negative duration, or NaN, counts as 0. */
export const advance = (clock: VirtualClock, realMillis: number, byMillis: number): VirtualClock => ({
  rate: clock.rate,
  anchorMillis: Math.min(lastMillis, now(clock, realMillis) + Math.max(0, Math.floor(byMillis) || 0)),
  anchorRealMillis: Math.max(realMillis, clock.anchorRealMillis)
})

/** Speed of the clock. */
export const modeOf = ({ rate }: VirtualClock): ClockMode =>
  rate === 1 ? "real" : rate === 0 ? "frozen" : { times: rate }

/** The same instant, with another speed from now on. */
export const setMode = (clock: VirtualClock, realMillis: number, mode: ClockMode): VirtualClock => ({
  ...advance(clock, realMillis, 0),
  rate: rateOf(mode)
})
