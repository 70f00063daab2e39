/**
 * How the settings of a world are written, in flags and in requests of the control plane alike, and what they mean.
 */
import { Duration, Option } from "effect"
import type { AllowancePolicy } from "./allowance.ts"
import { largestFleet, type Scenario } from "./scenario.ts"
import type { ClockMode } from "./VirtualClock.ts"

/** The longest duration anything takes: ten years. */
export const longestDurationMs = 10 * 365 * 86_400_000

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `10s`, `5m`, `1h`, `250ms`, `1d`, or an Effect duration such as `10 seconds`; in whole milliseconds, up to 10 years. */
export const readDurationMs = (text: string): Option.Option<number> => {
  const short = /^(\d+)(ms|s|m|h|d)$/.exec(text)
  const ms =
    short === null
      ? Option.getOrElse(Option.map(Duration.fromInput(text as Duration.Input), Duration.toMillis), () => Number.NaN)
      : Number(short[1]) * unitMs[short[2] as keyof typeof unitMs]
  return Number.isInteger(ms) && ms >= 0 && ms <= longestDurationMs ? Option.some(ms) : Option.none()
}

/** `1200/1h`: requests per window, both at least 1. */
export const readRateLimit = (text: string): Option.Option<Pick<AllowancePolicy, "limit" | "windowMs">> => {
  const parts = /^([1-9]\d{0,8})\/(.+)$/.exec(text)
  if (parts === null) return Option.none()
  return Option.map(
    Option.filter(readDurationMs(parts[2]!), (windowMs) => windowMs > 0),
    (windowMs) => ({ limit: Number(parts[1]), windowMs })
  )
}

/** `real`, `frozen`, or `x` and a factor of 1 or more, as in `x60`. */
export const readClock = (text: string): Option.Option<ClockMode> => {
  if (text === "real" || text === "frozen") return Option.some(text)
  const factor = /^x(\d{1,6}(?:\.\d{1,3})?)$/.exec(text)?.[1]
  return factor === undefined || Number(factor) < 1 ? Option.none() : Option.some({ times: Number(factor) })
}

/** `empty`, `small`, or `fleet:` and a number of nodes. */
export const readScenario = (text: string): Option.Option<Scenario> => {
  if (text === "empty" || text === "small") return Option.some(text)
  const fleet = /^fleet:(\d{1,9})$/.exec(text)?.[1]
  return fleet === undefined || Number(fleet) > largestFleet ? Option.none() : Option.some({ fleet: Number(fleet) })
}

/** The text `readClock` reads back. */
export const showClock = (mode: ClockMode): string => (typeof mode === "string" ? mode : `x${mode.times}`)

/** The text `readScenario` reads back. */
export const showScenario = (scenario: Scenario): string =>
  typeof scenario === "string" ? scenario : `fleet:${scenario.fleet}`
