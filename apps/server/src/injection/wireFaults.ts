/**
 * Faults of the wire: what becomes of the bytes. On a socket they are real; without one they appear as what a client
 * makes of them (`http/badDelivery.ts`).
 */
import { Schema } from "effect"
import { count, duration, flag, kind } from "./FaultKind.ts"

const share = Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))).annotate({
  description: "How much of the body arrives, 0 to 1; default 0.5."
})

export const wireFaults = [
  kind("wire", "reset-before-request", "Resets the connection. The request is not processed.", {}),
  kind("wire", "reset-after-request", "Processes the request, then resets the connection: the reply is lost.", {}),
  kind("wire", "reset-mid-body", "Resets the connection in the middle of the reply's body.", { share }),
  kind("wire", "truncated-body", "Ends the connection before the body is as long as content-length says.", { share }),
  kind("wire", "malformed-json", "The body is whole by its length and no JSON.", {}),
  kind("wire", "slow-body", "The body comes in pieces with pauses between them. Takes real time, not the world's.", {
    chunk: count(1, "Bytes a piece; default a tenth of the body.", 1_048_576),
    pause: duration("Between two pieces; default 100 millis.")
  }),
  kind("wire", "hang", "Nothing comes, and the connection stays, until the client gives up.", {
    processed: flag("Whether the request is processed; default false.")
  }),
  kind("wire", "garbage-bytes", "Processes the request and answers with bytes that are no HTTP.", {
    bytes: count(1, "How many; default 64.", 65_536)
  })
] as const
