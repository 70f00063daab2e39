/**
 * What faults answer in place of the service: the request is not processed.
 */
import { fail, succeed } from "@berth/core/api/Envelope"
import { HttpServerResponse } from "effect/http"
import { failureResponse } from "../../http/failures.ts"
import { replyHeaders } from "../../http/replyHeaders.ts"
import type { Allowance } from "../../world/allowance.ts"
import type { Strike } from "../ArmedFaults.ts"
import type { Reply } from "../../injection/replyBody.ts"

const sentence = "A fault that is armed answers in place of the service."

/** The answer of a fault, `undefined` when it is none that answers. What every reply carries is added to it. */
export const answerInstead = ({ fault }: Strike): Reply | undefined => {
  switch (fault.fault) {
    case "status": {
      const { envelope = true, retryAfter, status = 503 } = fault
      const headers: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }
      if (!envelope || status === 204 || status === 205 || status === 304) {
        return HttpServerResponse.empty({ status, headers })
      }
      return HttpServerResponse.jsonUnsafe(status < 300 ? succeed({}) : fail(status, sentence), { status, headers })
    }
    case "html-error": {
      const { status = 502 } = fault
      const page = `<html>\r\n<head><title>${status} Bad Gateway</title></head>\r\n<body>\r\n<center><h1>${status} Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n`
      return HttpServerResponse.text(page, { status, contentType: "text/html" })
    }
    case "success-with-failure-code":
      return HttpServerResponse.jsonUnsafe(fail(fault.code ?? 500, sentence))
    default:
      return undefined
  }
}

/** A 429 without cause, `undefined` when the fault is none. It has all its headers already and costs nothing. */
export const limitInstead = ({ fault }: Strike, allowance: Allowance, now: number): Reply | undefined => {
  if (fault.fault !== "rate-limited" && fault.fault !== "rate-limited-bare") return undefined
  if (fault.fault === "rate-limited-bare") {
    const { date } = replyHeaders(429, allowance.peek(now), now)
    return failureResponse(429, sentence, { headers: { date: date! } })
  }
  const retryAt = now + (fault.retryAfter ?? 1) * 1000
  const reading = { ...allowance.peek(now), granted: false, remaining: 0, resetAt: retryAt, retryAt }
  return HttpServerResponse.setHeaders(failureResponse(429, sentence), {
    ...replyHeaders(429, reading, now),
    "retry-after": String(fault.retryAfter ?? 1)
  })
}

/** The same counter, of which only `limit` are granted: what was spent before counts. */
export const shrunk = (allowance: Allowance, limit: number): Allowance => {
  const read = (reading: ReturnType<Allowance["peek"]>, granted: boolean) => {
    const remaining = Math.max(0, limit - (reading.limit - reading.remaining))
    return { ...reading, granted, limit, remaining, retryAt: remaining > 0 ? reading.retryAt : reading.resetAt }
  }
  const peek = (now: number) => {
    const reading = allowance.peek(now)
    return read(reading, reading.limit - reading.remaining < limit)
  }
  return {
    ...allowance,
    peek,
    spend: (now) => {
      const before = peek(now)
      if (!before.granted) return before
      const spent = allowance.spend(now)
      return read(spent, spent.granted)
    }
  }
}
