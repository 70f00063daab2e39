/**
 * Formats values for people: numbers, memory, disk, money, times, durations.
 */
import type { CommittedOption } from "@berthkit/core/domain/Commitment"
import { DateTime } from "effect"

/** Shown for a missing value. */
export const nothing = "-"

export const numberOr = (value: number | null): string => (value === null ? nothing : String(value))

export const textOr = (value: string | null): string => (value === null || value === "" ? nothing : value)

export const nodeCount = (nodes: number): string => (nodes === 1 ? "1 node" : `${nodes} nodes`)

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Formats a value without a unit: a string, a number, a boolean, or several strings. */
export const plain = (value: string | number | boolean | ReadonlyArray<string> | null): string => {
  if (typeof value === "boolean") return value ? "yes" : "no"
  return textOr(value === null ? null : typeof value === "object" ? value.join(", ") : String(value))
}

/** Formats a size of memory, for example `16 GiB`; in MiB if it is not a whole number of GiB. */
export const memory = (mebibytes: number | null): string => {
  if (mebibytes === null) return nothing
  return mebibytes % 1024 === 0 ? `${mebibytes / 1024} GiB` : `${mebibytes} MiB`
}

/** Formats a size of a disk, for example `100 GB`. */
export const disk = (gigabytes: number | null): string => (gigabytes === null ? nothing : `${gigabytes} GB`)

/** Rupees with at least two decimals and without the sign, for columns with ₹ in the title. */
export const rupees = (amount: number | null): string => {
  if (amount === null) return nothing
  const rounded = amount.toFixed(2)
  return Number(rounded) === amount ? rounded : String(amount)
}

const signs = new Map([
  ["USD", "$"],
  ["EUR", "€"],
  ["GBP", "£"]
])

/** An amount in another currency, with the currency's sign, or with its code if Berth does not know the sign. */
export const foreignAmount = (currency: string, amount: number | null): string =>
  amount === null ? nothing : `${signs.get(currency) ?? `${currency} `}${rupees(amount)}`

/** The price of a committed period, in rupees or with the sign of its own currency; undefined if it is not known. */
export const periodPrice = ({
  foreignPrice,
  priceInr
}: Pick<CommittedOption, "foreignPrice" | "priceInr">): string | undefined => {
  if (priceInr !== null) return `₹${rupees(priceInr)}`
  return foreignPrice === null ? undefined : foreignAmount(foreignPrice.currency, foreignPrice.amount)
}

/** Formats a time in UTC, for example `2026-01-02 10:11`. */
export const moment = (at: DateTime.Utc | null): string =>
  at === null ? nothing : DateTime.formatIso(at).slice(0, 16).replace("T", " ")

/** Formats a duration in its two largest units, for example `42 s`, `3 min 5 s`, `2 h 10 min`. */
export const elapsed = (millis: number): string => {
  const seconds = Math.floor(millis / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/**
 * Formats an age in its largest unit only, for example `42s`, `3m`, `5h`, `12d`, `3y`. Clocks differ, so a time in the future counts as
 * now.
 */
export const age = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`
  const days = Math.floor(seconds / 86_400)
  return days < 730 ? `${days}d` : `${Math.floor(days / 365)}y`
}
