/**
 * Spans of time as they are written in a flag: `90s`, `5m`, `1h30m`.
 */
import { Duration, Option } from "effect"
import { Flag } from "effect/cli"

const unitMillis: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The span; none when the text is not one, or is no time at all. */
export const parseDuration = (text: string): Option.Option<Duration.Duration> => {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return Option.none()
  let millis = 0
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|s|m|h)/g)) millis += Number(amount) * unitMillis[unit!]!
  return millis > 0 && Number.isFinite(millis) ? Option.some(Duration.millis(millis)) : Option.none()
}

/** A flag that takes a span of time. */
export const durationFlag = (name: string): Flag.Flag<Duration.Duration> =>
  Flag.String(name).pipe(
    Flag.withMetavar("DURATION"),
    Flag.filterMap(parseDuration, () => "a duration is a number with a unit, such as 90s, 5m or 1h30m")
  )
