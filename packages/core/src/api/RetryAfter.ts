/**
 * Reads the wait that a failed reply asks for (A21).
 */
import {
  type Headers,
  httpDate,
  minEpochSeconds,
  remainingHeader,
  resetSeconds,
  wholeNumber
} from "./AllowanceHeaders.ts"

/**
 * The wait in milliseconds. The header `Retry-After` states it in seconds or as a date; without that header, it is the time until an empty
 * allowance refills. Dates are compared with the service's clock (`Date`), or with ours if the reply has no `Date`. Null if the reply asks
 * for no wait.
 */
export const retryAfterMillis = (headers: Headers, nowMillis: number): number | null => {
  const retryAfter = headers["retry-after"]
  const seconds = wholeNumber(retryAfter)
  if (seconds !== undefined) return seconds * 1000
  const serverNow = httpDate(headers["date"]) ?? nowMillis
  const date = httpDate(retryAfter)
  if (date !== undefined) return Math.max(0, date - serverNow)
  const reset = resetSeconds(headers)
  if (reset === undefined || wholeNumber(headers[remainingHeader]) !== 0) return null
  return reset < minEpochSeconds ? reset * 1000 : Math.max(0, reset * 1000 - serverNow)
}
