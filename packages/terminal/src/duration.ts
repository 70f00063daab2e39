/** Durations as people write them: `500ms`, `90s`, `1h30m`, `2d`. `valueFlags.ts` has the flag for `effect/cli`. */
import { Duration, Option } from "effect"

/** The units and their lengths, the largest first. */
const unitMillis = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const

const units = Object.entries(unitMillis)
const part = String.raw`\d+(?:\.\d+)?(?:ms|s|m|h|d)`
const whole = new RegExp(`^(?:${part})+$`)
const parts = new RegExp(part, "g")

/** The duration in milliseconds; none if the text is not a duration. */
export const parseDurationMillis = (text: string): Option.Option<number> => {
  if (!whole.test(text)) return Option.none()
  let millis = 0
  for (const [each] of text.matchAll(parts)) {
    const unit = units.find(([name]) => each.endsWith(name) && /\d$/.test(each.slice(0, -name.length)))
    millis += Number.parseFloat(each) * (unit?.[1] ?? Number.NaN)
  }
  // Round to the nanosecond, because floating-point products such as 1.005 × 1000 are slightly off.
  return Number.isFinite(millis) ? Option.some(Math.round(millis * 1e6) / 1e6) : Option.none()
}

/** The duration in its largest whole unit. */
export const durationText = (millis: number): string => {
  const [name, size] = units.find(([, size]) => millis >= size && millis % size === 0) ?? ["ms", 1]
  return `${millis / size}${name}`
}

/** The accepted range of durations. */
export interface DurationBounds {
  /** Minimum in milliseconds. Default: 1. */
  readonly minMillis?: number
  /** Maximum in milliseconds. Default: unlimited. */
  readonly maxMillis?: number
}

/** A parser of durations in this range, and the end of an error's sentence that says what was expected. */
export const durationValue = ({ maxMillis = Number.POSITIVE_INFINITY, minMillis = 1 }: DurationBounds = {}) => {
  const bounds = Number.isFinite(maxMillis) ? ` from ${durationText(minMillis)} to ${durationText(maxMillis)}` : ""
  return {
    parse: (text: string): Option.Option<Duration.Duration> =>
      parseDurationMillis(text).pipe(
        Option.filter((millis) => millis >= minMillis && millis <= maxMillis),
        Option.map(Duration.millis)
      ),
    expected: `expected a duration${bounds}, such as 90s, 5m or 1h30m`
  }
}
