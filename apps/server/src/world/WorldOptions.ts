/**
 * How the settings of a world are written, in flags and in requests of the control plane alike, and what they mean.
 */
import { Option } from "effect"
import type { AllowancePolicy } from "./allowance.ts"
import { readDurationMillis } from "../lifecycle/durationText.ts"
import { largestFleet, type Scenario } from "./scenario.ts"
import type { ClockMode } from "../lifecycle/VirtualClock.ts"

/** `1200/1h`: requests per window, both at least 1. */
export const readRateLimit = (text: string): Option.Option<Pick<AllowancePolicy, "limit" | "windowMillis">> => {
  const parts = /^([1-9]\d{0,8})\/(.+)$/.exec(text)
  if (parts === null) return Option.none()
  return Option.map(
    Option.filter(readDurationMillis(parts[2]!), (windowMillis) => windowMillis > 0),
    (windowMillis) => ({ limit: Number(parts[1]), windowMillis })
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
