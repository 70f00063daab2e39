/** Faults in the HTTP reply: its status, its headers, its delay. */
import { limitHeader, remainingHeader, resetHeader } from "@berthkit/core/api/AllowanceHeaders"
import { fail } from "@berthkit/core/api/Envelope"
import { DateTime, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { integer, share } from "../faults/Fault.ts"
import { failureResponse } from "../http/failures.ts"
import { replyHeaders } from "../http/replyHeaders.ts"
import { withoutHeader } from "../transport/replyBytes.ts"
import { choice, duration, failureSentence, faultKind, millis, retryAfter, signedDuration, text } from "./FaultKind.ts"
import { status } from "./statusFault.ts"

const allowanceHeaders = [limitHeader, remainingHeader, resetHeader]

/** A random number from 0 to 1, both exclusive. */
const between0And1 = (chance: number): number => (chance + 0.5) / 2 ** 32

/** Header values that are not valid numbers of requests or seconds. */
const garbage = ["soon", "-1", "NaN", "1e999", "0x10", "1,200", "[object Object]", "99999999999999999999"]

export const httpFaults = [
  status,
  faultKind({
    name: "rate-limited",
    summary: "Answers 429 with its headers although requests are left. Spends no allowance.",
    options: { retryAfter: retryAfter("Seconds in retry-after, and until the reset; default 1.") },
    steps: ({ fault: { retryAfter = 1 } }, { world }) => ({
      instead: () => {
        const now = world.latest
        const retryAt = now + retryAfter * 1000
        const reading = { ...world.allowance.peek(now), granted: false, remaining: 0, resetAt: retryAt, retryAt }
        const reply = HttpServerResponse.setHeaders(failureResponse(429, failureSentence), {
          ...replyHeaders(429, reading, now),
          "retry-after": String(retryAfter)
        })
        return { _tag: "Refusal", reply }
      }
    })
  }),
  faultKind({
    name: "rate-limited-bare",
    summary: "Answers 429 without retry-after and without allowance headers. Spends no allowance.",
    steps: (_, { world }) => ({
      instead: () => {
        const { date } = replyHeaders(429, world.allowance.peek(world.latest), world.latest)
        return { _tag: "Refusal", reply: failureResponse(429, failureSentence, { headers: { date: date! } }) }
      }
    })
  }),
  faultKind({
    name: "html-error",
    summary: "Answers with an HTML page, like a proxy. The request is not processed.",
    options: { status: integer(200, 599, "200 to 599; default 502.") },
    steps: ({ fault: { status = 502 } }) => ({
      instead: () => ({
        _tag: "Answer",
        reply: HttpServerResponse.text(
          `<html>\r\n<head><title>${status} Bad Gateway</title></head>\r\n<body>\r\n<center><h1>${status} Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n`,
          { status, contentType: "text/html" }
        )
      })
    })
  }),
  faultKind({
    name: "latency",
    summary: "The reply comes late; the request is processed at once. Takes real time, not the world's.",
    options: {
      delay: duration("The delay: the minimum for uniform, the median for lognormal; default 1 second."),
      distribution: choice(["fixed", "uniform", "lognormal"], "default fixed."),
      upTo: duration("The maximum, for uniform and lognormal; default 1 minute."),
      sigma: share("Spread of lognormal, 0 to 5; default 0.5.", 5)
    },
    steps: ({ chance, fault }) => ({
      delayMillis: () => {
        const [delay, max] = [millis(fault.delay ?? "1 second"), millis(fault.upTo ?? "1 minute")]
        switch (fault.distribution ?? "fixed") {
          case "fixed":
            return delay
          case "uniform":
            return Math.round(delay + between0And1(chance(1)) * Math.max(0, max - delay))
          case "lognormal": {
            // Box–Muller: two uniform numbers make one normal deviate.
            const deviate =
              Math.sqrt(-2 * Math.log(between0And1(chance(1)))) * Math.cos(2 * Math.PI * between0And1(chance(2)))
            return Math.min(max, Math.round(delay * Math.exp((fault.sigma ?? 0.5) * deviate)))
          }
        }
      }
    })
  }),
  faultKind({
    name: "wrong-content-type",
    summary: "The reply names a wrong media type.",
    options: { value: text("The content-type; default text/html.") },
    steps: ({ fault: { value = "text/html" } }) => ({
      form: (reply) => HttpServerResponse.setHeader(reply, "content-type", value)
    })
  }),
  faultKind({
    name: "headers-missing",
    summary: "The reply comes without some headers.",
    options: {
      headers: Schema.optionalKey(
        Schema.Union([Schema.String, Schema.Array(Schema.String).check(Schema.isMaxLength(50))])
      ).annotate({ description: "Their names; default the three ratelimit headers." })
    },
    steps: ({ fault: { headers = allowanceHeaders } }) => ({
      form: (reply) => {
        const names = (typeof headers === "string" ? [headers] : headers).map((name) => name.toLowerCase())
        return names.filter((name) => Object.hasOwn(reply.headers, name)).reduce(withoutHeader, reply)
      }
    })
  }),
  faultKind({
    name: "headers-garbage",
    summary: "The allowance headers have values that are not numbers, or impossible ones.",
    options: { value: text("Their value; default picked by the seed.") },
    steps: ({ chance, fault: { value } }) => ({
      form: (reply) =>
        HttpServerResponse.setHeaders(
          reply,
          Object.fromEntries(
            allowanceHeaders.map((name, index) => [name, value ?? garbage[chance(index + 1) % garbage.length]!])
          )
        )
    })
  }),
  faultKind({
    name: "date-skew",
    summary: "The date header is wrong: the service's clock disagrees with its resets.",
    options: { by: signedDuration("How far it is ahead, or behind such as -5m; default 5m.") },
    steps: ({ fault: { by = "5m" } }, { world }) => ({
      form: (reply) => {
        const skewed = DateTime.makeUnsafe(world.latest + millis(by))
        return HttpServerResponse.setHeader(reply, "date", DateTime.toDateUtc(skewed).toUTCString())
      }
    })
  }),
  faultKind({
    name: "success-with-failure-code",
    summary: "Answers 200 with a failure in the envelope. The request is not processed.",
    options: { code: integer(400, 599, "The code in the body, 400 to 599; default 500.") },
    steps: ({ fault: { code = 500 } }) => ({
      instead: () => ({ _tag: "Answer", reply: HttpServerResponse.jsonUnsafe(fail(code, failureSentence)) })
    })
  })
] as const
