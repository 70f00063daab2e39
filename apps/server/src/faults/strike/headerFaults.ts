/**
 * Faults of a reply's headers, and of the form of its body.
 */
import { limitHeader, remainingHeader, resetHeader } from "@berth/core/api/AllowanceHeaders"
import { DateTime } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import type { Strike } from "../ArmedFaults.ts"
import { millis } from "../../injection/FaultKind.ts"
import { bytesOf, type Reply } from "../../injection/replyBody.ts"

const allowanceHeaders = [limitHeader, remainingHeader, resetHeader]

/** None of them is a number, or a number of requests or seconds. */
const garbage = ["soon", "-1", "NaN", "1e999", "0x10", "1,200", "[object Object]", "99999999999999999999"]

/** The reply as it goes out, `undefined` when the fault is none of headers or has nothing to change. `now` is the world's. */
export const wornReply = ({ chance, fault }: Strike, reply: Reply, now: number): Reply | undefined => {
  switch (fault.fault) {
    case "wrong-content-type":
      return HttpServerResponse.setHeader(reply, "content-type", fault.value ?? "text/html")
    case "headers-missing": {
      const { headers = allowanceHeaders } = fault
      return (typeof headers === "string" ? [headers] : headers).reduce<Reply>(
        (worn, name) => HttpServerResponse.removeHeader(worn, name.toLowerCase()),
        reply
      )
    }
    case "headers-garbage":
      return HttpServerResponse.setHeaders(
        reply,
        Object.fromEntries(
          allowanceHeaders.map((name, index) => [name, fault.value ?? garbage[chance(index + 1) % garbage.length]!])
        )
      )
    case "date-skew": {
      const skewed = DateTime.makeUnsafe(now + millis(fault.by ?? "5m"))
      return HttpServerResponse.setHeader(reply, "date", DateTime.toDateUtc(skewed).toUTCString())
    }
    case "malformed-json": {
      const bytes = bytesOf(reply)
      if (bytes === undefined) return undefined
      // The last bracket becomes a comma: the length is right, and the end is missing.
      const broken = Uint8Array.from(bytes)
      broken[broken.length - 1] = 0x2c
      return HttpServerResponse.setBody(reply, HttpBody.uint8Array(broken, reply.headers["content-type"]))
    }
    default:
      return undefined
  }
}
