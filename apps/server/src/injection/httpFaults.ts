/**
 * Faults that show in the reply as HTTP: its status, its headers, when it comes.
 */
import { Schema } from "effect"
import { choice, count, duration, flag, kind, signedDuration, text } from "./FaultKind.ts"

const retryAfter = (description: string) => count(0, description, 86_400)

export const httpFaults = [
  kind("http", "status", "Answers a status instead of the reply. The request is not processed.", {
    status: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))).annotate({
      description: "200 to 599; default 503."
    }),
    envelope: flag("Whether the body is the envelope, or empty; default true."),
    retryAfter: retryAfter("Seconds in retry-after; default none.")
  }),
  kind("http", "rate-limited", "Answers 429 with its headers, though allowance is left. It costs nothing.", {
    retryAfter: retryAfter("Seconds in retry-after, and until the reset; default 1.")
  }),
  kind(
    "http",
    "rate-limited-bare",
    "Answers 429 without retry-after, without allowance headers. It costs nothing.",
    {}
  ),
  kind("http", "html-error", "Answers with a page of HTML, as a proxy does. The request is not processed.", {
    status: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))).annotate({
      description: "200 to 599; default 502."
    })
  }),
  kind("http", "latency", "The reply comes late; the request is processed at once. Takes real time, not the world's.", {
    delay: duration("How late; of uniform the least, of lognormal the median; default 1 second."),
    distribution: choice(["fixed", "uniform", "lognormal"], "default fixed."),
    upTo: duration("The most, of uniform and lognormal; default 1 minute."),
    sigma: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 5 }))).annotate({
      description: "Spread of lognormal, 0 to 5; default 0.5."
    })
  }),
  kind("http", "wrong-content-type", "The reply says that it is something else.", {
    value: text("The content-type; default text/html.")
  }),
  kind("http", "headers-missing", "The reply comes without some headers.", {
    headers: Schema.optionalKey(
      Schema.Union([Schema.String, Schema.Array(Schema.String).check(Schema.isMaxLength(50))])
    ).annotate({ description: "Which; default the three ratelimit headers." })
  }),
  kind("http", "headers-garbage", "The allowance headers say what is no number, or none that can be.", {
    value: text("What they say; default a choice of the seed.")
  }),
  kind("http", "date-skew", "The date header is off: the clock of the service and its resets disagree.", {
    by: signedDuration("How far, -5m for behind; default 5m.")
  }),
  kind(
    "http",
    "success-with-failure-code",
    "Answers 200 with a failure in the envelope. The request is not processed.",
    {
      code: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 400, maximum: 599 }))).annotate({
        description: "The code in the body, 400 to 599; default 500."
      })
    }
  )
] as const
