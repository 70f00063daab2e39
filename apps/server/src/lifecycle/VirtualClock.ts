/**
 * The clock of a world, as a value: which instant it shows is a function of that value and of the real time. Nothing here
 * reads a clock. All instants are whole milliseconds since the epoch.
 */

/** How world time follows real time: `1` as it is, `60` sixty times as fast, `0` not at all. */
export interface VirtualClock {
  /** World milliseconds per real millisecond, 0 or more. */
  readonly rate: number
  /** The world's instant at `anchorRealMs`. */
  readonly anchorMs: number
  readonly anchorRealMs: number
}

/** What `--clock` may say: `real`, `frozen`, or a factor of 1 or more. */
export type ClockMode = "real" | "frozen" | { readonly times: number }

/** Where a frozen world begins, so that two runs show the same times: 2026-01-01T00:00:00.000Z. */
export const frozenStartMs = 1_767_225_600_000

const rateOf = (mode: ClockMode): number => (mode === "real" ? 1 : mode === "frozen" ? 0 : mode.times)

/** A clock at its start. A frozen one begins at `frozenStartMs`, the others at the real time. */
export const make = (mode: ClockMode, realMs: number): VirtualClock => ({
  rate: rateOf(mode),
  anchorMs: mode === "frozen" ? frozenStartMs : realMs,
  anchorRealMs: realMs
})

/** The world's instant, never before the anchor. */
export const now = (clock: VirtualClock, realMs: number): number =>
  clock.anchorMs + Math.max(0, Math.floor((realMs - clock.anchorRealMs) * clock.rate))

/** The same clock, `byMs` milliseconds further on. World time never goes back: a negative duration counts as 0. */
export const advance = (clock: VirtualClock, realMs: number, byMs: number): VirtualClock => ({
  rate: clock.rate,
  anchorMs: now(clock, realMs) + Math.max(0, Math.floor(byMs)),
  anchorRealMs: Math.max(realMs, clock.anchorRealMs)
})

/** How the clock passes. */
export const modeOf = ({ rate }: VirtualClock): ClockMode =>
  rate === 1 ? "real" : rate === 0 ? "frozen" : { times: rate }

/** A clock that shows the same instant and passes differently from here on. */
export const setMode = (clock: VirtualClock, realMs: number, mode: ClockMode): VirtualClock => ({
  ...advance(clock, realMs, 0),
  rate: rateOf(mode)
})
