/**
 * Reads numbers and dates in reply headers, and the headers that report the allowance (how much of the rate limit is left; interface.md §8,
 * A20 and A22). Invalid values read as undefined.
 */
import type { Allowance } from "../domain/Allowance.ts"
import { instant } from "./fields/Instant.ts"

/** Headers of a reply, names in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

/** A whole number. Fractions are rounded up, so that no wait is cut short. */
export const wholeNumber = (value: string | undefined): number | undefined => {
  const number = value !== undefined && /^\s*\d{1,15}(\.\d+)?\s*$/.test(value) ? Math.ceil(Number(value)) : undefined
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined
}

/** A date in HTTP form, as milliseconds since the epoch. */
export const httpDate = (value: string | undefined): number | undefined => {
  const millis = value === undefined || !/GMT|UTC|Z/.test(value) ? Number.NaN : Date.parse(value)
  return Number.isNaN(millis) ? undefined : millis
}

/** A reset below this number counts seconds from now and is not an epoch time (A22). */
export const minEpochSeconds = 1e9

/** Requests granted per window. */
export const limitHeader = "ratelimit-limit"

/** Requests left. */
export const remainingHeader = "ratelimit-remaining"

/** When the allowance refills, in seconds since the epoch. */
export const resetHeader = "ratelimit-reset"

/** The same three headers, described for OpenAPI. */
export const described = {
  [limitHeader]: "Request allowance (documented: interface.md §8)",
  [remainingHeader]: "Requests left (documented: interface.md §8)",
  [resetHeader]: "When the allowance refills, in seconds since the epoch (documented: interface.md §8)"
} as const

/** A reset above this number is in milliseconds, because in seconds it would be three thousand years away. */
const minEpochMillis = 1e11

/** When the allowance refills, in seconds since the epoch; values below 10⁹ count from now (A22). Some gateways report milliseconds. */
export const resetSeconds = (headers: Headers): number | undefined => {
  const reset = wholeNumber(headers[resetHeader])
  return reset !== undefined && reset >= minEpochMillis ? Math.ceil(reset / 1000) : reset
}

/** The latest time that a `Date` can represent, in milliseconds since the epoch. */
const latestMillis = 8.64e15

/** The numbers in the headers. A missing or invalid header reads as null. */
export const countsFrom = (headers: Headers) => ({
  limit: wholeNumber(headers[limitHeader]) ?? null,
  remaining: wholeNumber(headers[remainingHeader]) ?? null,
  reset: resetSeconds(headers) ?? null
})

/** The allowance that the headers report; null when they report none. `receivedAt` replaces a missing `Date`. */
export const allowanceFrom = (headers: Headers, receivedAt: number): Allowance | null => {
  const { limit, remaining, reset } = countsFrom(headers)
  if (limit === null || remaining === null) return null
  const resetMillis =
    reset === null
      ? undefined
      : reset < minEpochSeconds
        ? (httpDate(headers["date"]) ?? receivedAt) + reset * 1000
        : reset * 1000
  const known = resetMillis !== undefined && resetMillis <= latestMillis
  return { limit, remaining, resetAt: known ? instant(resetMillis) : null }
}
