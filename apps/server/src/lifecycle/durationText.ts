/**
 * How a duration is written, in flags, in requests of the control plane and in faults alike.
 */
import { Duration, Option } from "effect"

/** The longest duration anything takes: ten years. */
const longestDurationMillis = 10 * 365 * 86_400_000

const unitMillis = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `10s`, `5m`, `1h`, `250ms`, `1d`, or an Effect duration such as `10 seconds`; in whole milliseconds, up to 10 years. */
export const readDurationMillis = (text: string): Option.Option<number> => {
  const short = /^(\d+)(ms|s|m|h|d)$/.exec(text)
  const ms =
    short === null
      ? Option.getOrElse(Option.map(Duration.fromInput(text as Duration.Input), Duration.toMillis), () => Number.NaN)
      : Number(short[1]) * unitMillis[short[2] as keyof typeof unitMillis]
  return Number.isInteger(ms) && ms >= 0 && ms <= longestDurationMillis ? Option.some(ms) : Option.none()
}
