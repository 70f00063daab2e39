/** How the dashboard writes prices, statuses, and how old things are. Pure. */
import type { Tone } from "@berthkit/web/components/Badge"
import { dayText, minuteText, spanText } from "@berthkit/web/components/times"
import type { WatchedNode } from "./watchApi.ts"

const rupees = new Intl.NumberFormat("en", { style: "currency", currency: "INR", maximumFractionDigits: 0 })

export const priceText = (value: number | null): string => (value === null ? "–" : rupees.format(value))

/** A price: `atLeast` is the lowest that it may be, in rupees; null when nothing is known. */
export interface Price {
  readonly atLeast: number | null
  readonly isExact: boolean
}

/** A price that may be higher says so. */
export const boundText = ({ atLeast, isExact }: Price): string =>
  `${atLeast === null || isExact ? "" : "≥ "}${priceText(atLeast)}`

/** A name may have nothing in it that can be seen. */
export const nameText = (name: string): string => (name.trim() === "" ? "(no name)" : name)

interface Allowance {
  readonly limit: number
  readonly remaining: number
}

/** What is left of an allowance, from 0 to 1. */
const shareOf = ({ limit, remaining }: Allowance): number => (limit === 0 ? 0 : Math.min(1, remaining / limit))

/** The daemon reports it below the same share, at the latest. */
const lowShare = 0.1

/** Less than this share of the allowance is little. */
const littleShare = 0.2

export const toneOfAllowance = (allowance: Allowance): Tone => {
  const share = shareOf(allowance)
  return share <= lowShare ? "bad" : share < littleShare ? "warm" : "good"
}

/** Of when something is that may have changed since; `isBefore`: it is older than that. */
export interface AsOf {
  readonly atMillis: number
  readonly isBefore: boolean
}

export const asOfText = ({ atMillis, isBefore }: AsOf, nowMillis: number): string =>
  `${isBefore ? "before" : "as of"} ${dayText(atMillis, nowMillis) ?? minuteText(atMillis)}`

/** The time that a history shows: all that was asked for, or since something is known. */
export const beginText = (fromMillis: number, spanMillis: number, nowMillis: number): string =>
  fromMillis <= nowMillis - spanMillis
    ? `Last ${spanText(spanMillis)}`
    : `Since ${dayText(fromMillis, nowMillis) ?? minuteText(fromMillis)}`

/** A status in the service's own spelling where it is not a known one. */
export const statusText = (status: WatchedNode["status"]): string =>
  typeof status === "string" ? status : status.unknown

/** What people ask for is no alarm: amber and red are for what is wrong. */
const statusTones: ReadonlyMap<string, Tone> = new Map([
  ["running", "good"],
  ["creating", "coming"],
  ["created", "coming"],
  ["power-off", "off"],
  ["terminate", "going"]
])

export const toneOfStatus = (status: string): Tone => statusTones.get(status) ?? "odd"

/** The order of statuses wherever several are shown. */
export const statusOrder = (status: string): number => {
  const index = [...statusTones.keys()].indexOf(status)
  return index < 0 ? statusTones.size : index
}
