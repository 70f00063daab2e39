/**
 * The clock of a world as a value. This value and the real time determine the instant that the clock shows. Nothing
 * here reads a real clock. All instants are whole milliseconds since the epoch.
 */

/**
 * Maps real time to world time. With rate 1, world time passes as real time does; with 60 it passes sixty times as fast;
 * with 0 it is frozen.
 */
export interface VirtualClock {
  /** World milliseconds per real millisecond, 0 or more. */
  readonly rate: number
  /** The world's instant at `anchorRealMillis`. */
  readonly anchorMillis: number
  readonly anchorRealMillis: number
}

/** The values of `--clock`: `real`, `frozen`, or a factor of 1 or more. */
export type ClockMode = "real" | "frozen" | { readonly times: number }

/** When a frozen world starts: 2026-01-01T00:00:00.000Z. It is fixed so that two runs show the same times. */
export const frozenStartMillis = 1_767_225_600_000

/** The largest factor of a fast clock. */
export const maxTimes = 1_000_000

/**
 * The end of a world's time, at which every clock stops: the last instant of the year 9899. Later instants that are computed
 * from it, such as the end of a window or a delay, still have a four-digit year.
 */
export const lastMillis = Date.parse("9899-12-31T23:59:59.999Z")

const rateOf = (mode: ClockMode): number => {
  const rate = mode === "real" ? 1 : mode === "frozen" ? 0 : mode.times
  // Check the rate, because a world with the rate NaN would wait indefinitely.
  if (rate >= 0 && rate <= maxTimes) return rate
  throw new RangeError(
    `Expected a clock that is real, frozen, or a factor of up to ${maxTimes}; its factor is ${rate}.`
  )
}

/**
 * A clock at its start. If `startAt` is not given, a frozen clock starts at `frozenStartMillis` and any other clock at the
 * real time.
 */
export const make = (mode: ClockMode, realMillis: number, startAt: number | null = null): VirtualClock => ({
  rate: rateOf(mode),
  anchorMillis: startAt ?? (mode === "frozen" ? frozenStartMillis : realMillis),
  anchorRealMillis: realMillis
})

/** The world's instant, never before the anchor and never after `lastMillis`. */
export const now = (clock: VirtualClock, realMillis: number): number =>
  Math.min(lastMillis, clock.anchorMillis + Math.max(0, Math.floor((realMillis - clock.anchorRealMillis) * clock.rate)))

/** The clock, moved on by `byMillis` milliseconds. World time never goes back, so a negative duration or NaN counts as 0. */
export const advance = (clock: VirtualClock, realMillis: number, byMillis: number): VirtualClock => ({
  rate: clock.rate,
  anchorMillis: Math.min(lastMillis, now(clock, realMillis) + Math.max(0, Math.floor(byMillis) || 0)),
  anchorRealMillis: Math.max(realMillis, clock.anchorRealMillis)
})

/** Speed of the clock. */
export const modeOf = ({ rate }: VirtualClock): ClockMode =>
  rate === 1 ? "real" : rate === 0 ? "frozen" : { times: rate }

/** The clock with another speed from now on. The instant stays the same. */
export const setMode = (clock: VirtualClock, realMillis: number, mode: ClockMode): VirtualClock => ({
  ...advance(clock, realMillis, 0),
  rate: rateOf(mode)
})
