/** How the dashboard writes prices, statuses and ages. Pure. */
import type { Tone } from "@berthkit/web/components/Badge"
import { dayText, minuteText, spanText } from "@berthkit/web/components/times"
import type { WatchedNode } from "./watchApi.ts"

const rupees = new Intl.NumberFormat("en", { style: "currency", currency: "INR", maximumFractionDigits: 0 })

export const priceText = (value: number | null): string => (value === null ? "–" : rupees.format(value))

/** A price in rupees: `atLeast` is its minimum; null if nothing is known. */
export interface Price {
  readonly atLeast: number | null
  readonly isExact: boolean
}

/** A price, marked if it may be higher. */
export const boundText = ({ atLeast, isExact }: Price): string =>
  `${atLeast === null || isExact ? "" : "≥ "}${priceText(atLeast)}`

/** A name, which may consist of invisible characters. */
export const nameText = (name: string): string => (name.trim() === "" ? "(no name)" : name)

interface Allowance {
  readonly limit: number
  readonly remaining: number
}

/** The remaining part of an allowance, from 0 to 1. */
const shareOf = ({ limit, remaining }: Allowance): number => (limit === 0 ? 0 : Math.min(1, remaining / limit))

/** The daemon reports the allowance below this share, at the latest. */
const lowShare = 0.1

/** Below this share the allowance counts as little. */
const littleShare = 0.2

export const toneOfAllowance = (allowance: Allowance): Tone => {
  const share = shareOf(allowance)
  return share <= lowShare ? "bad" : share < littleShare ? "warm" : "good"
}

/** The instant of data that may have changed since; `isBefore`: the data is even older. */
export interface AsOf {
  readonly atMillis: number
  readonly isBefore: boolean
}

export const asOfText = ({ atMillis, isBefore }: AsOf, nowMillis: number): string =>
  `${isBefore ? "before" : "as of"} ${dayText(atMillis, nowMillis) ?? minuteText(atMillis)}`

/** The start of a history: the requested time, or the first known moment. */
export const beginText = (fromMillis: number, spanMillis: number, nowMillis: number): string =>
  fromMillis <= nowMillis - spanMillis
    ? `Last ${spanText(spanMillis)}`
    : `Since ${dayText(fromMillis, nowMillis) ?? minuteText(fromMillis)}`

/** A status, in the service's own spelling if it is unknown. */
export const statusText = (status: WatchedNode["status"]): string =>
  typeof status === "string" ? status : status.unknown
