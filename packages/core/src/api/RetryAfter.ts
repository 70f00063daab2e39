/**
 * How long a failed reply asks to wait (decision 21).
 */
import { remainingHeader, resetHeader } from "./AllowanceHeaders.ts"
import { type Headers, httpDate, minEpochSeconds, wholeNumber } from "./HeaderValues.ts"

/**
 * The wait in milliseconds that `Retry-After` asks for, in seconds or as a date; without it, until the allowance
 * refills if it is empty. Dates are compared with the service's own clock (`Date`), ours standing in when it has none.
 * Null when the reply does not say.
 */
export const retryAfterMillis = (headers: Headers, nowMillis: number): number | null => {
  const retryAfter = headers["retry-after"]
  const seconds = wholeNumber(retryAfter)
  if (seconds !== undefined) return seconds * 1000
  const serverNow = httpDate(headers["date"]) ?? nowMillis
  const date = httpDate(retryAfter)
  if (date !== undefined) return Math.max(0, date - serverNow)
  const reset = wholeNumber(headers[resetHeader])
  if (reset === undefined || wholeNumber(headers[remainingHeader]) !== 0) return null
  return reset < minEpochSeconds ? reset * 1000 : Math.max(0, reset * 1000 - serverNow)
}
