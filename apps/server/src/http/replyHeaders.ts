/**
 * The headers of every reply: the allowance (assumption A20 in docs/interface/assumptions.md), the world's date, and the
 * headers of its status.
 */
import { limitHeader, remainingHeader, resetHeader } from "@berthkit/core/api/AllowanceHeaders"
import { DateTime } from "effect"
import type { Reading } from "../world/allowance.ts"

/** Milliseconds in whole seconds. They are rounded up, so that the allowance has really refilled at that second. */
const wholeSeconds = (millis: number): number => Math.ceil(millis / 1000)

/** Seconds until the service grants another request, at least 1. A client that waits this long is not refused again. */
export const retryAfterSeconds = (reading: Reading, now: number): number =>
  Math.max(1, wholeSeconds(reading.retryAt - now))

export const replyHeaders = (status: number, reading: Reading, now: number): Record<string, string> => {
  const headers: Record<string, string> = {
    date: httpDate(now),
    [limitHeader]: String(reading.limit),
    [remainingHeader]: String(reading.remaining),
    [resetHeader]: String(wholeSeconds(reading.resetAt))
  }
  // The server does not read the rest of the body, so no other request can follow on the connection.
  if (status === 413) headers["connection"] = "close"
  if (status === 401) headers["www-authenticate"] = "Bearer"
  if (status === 429) headers["retry-after"] = String(retryAfterSeconds(reading, now))
  return headers
}

let lastSecond = Number.NaN
let lastDate = ""

/** An instant as an HTTP date. The last date is cached, because most requests fall into the same second. */
export const httpDate = (now: number): string => {
  const second = Math.floor(now / 1000)
  if (second !== lastSecond) {
    lastSecond = second
    lastDate = DateTime.toDateUtc(DateTime.makeUnsafe(second * 1000)).toUTCString()
  }
  return lastDate
}
