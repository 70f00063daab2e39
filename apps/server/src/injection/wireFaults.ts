/**
 * Faults on the wire, which damage the bytes of a reply. On a socket the damage is real; without a socket, the client sees
 * the same effect. `transport/deliverFault.ts` carries these faults out.
 */
import { Duration } from "effect"
import { integer, share } from "../faults/Fault.ts"
import { bytesOf, withBytes } from "../transport/replyBytes.ts"
import type { WireFault } from "../transport/WireFault.ts"
import { duration, faultKind, flag, millis } from "./FaultKind.ts"

const arriving = share("How much of the body arrives, 0 to 1; default 0.5.")

const cut = (bodyBytes: number, share: number, by: "reset" | "end"): WireFault | undefined =>
  bodyBytes < 2
    ? undefined
    : { _tag: "Cut", afterBytes: Math.min(bodyBytes - 1, Math.max(1, Math.floor(bodyBytes * share))), by }

const comma = 0x2c

export const wireFaults = [
  faultKind({
    name: "reset-before-request",
    summary: "Resets the connection. The request is not processed.",
    steps: () => ({ instead: () => ({ _tag: "Nothing", wireFault: { _tag: "Reset" } }) })
  }),
  faultKind({
    name: "reset-after-request",
    summary: "Processes the request, then resets the connection: the reply is lost.",
    steps: () => ({ wire: () => ({ _tag: "Reset" }) })
  }),
  faultKind({
    name: "reset-mid-body",
    summary: "Resets the connection in the middle of the reply's body.",
    options: { share: arriving },
    steps: ({ fault: { share = 0.5 } }) => ({ wire: (_, bodyBytes) => cut(bodyBytes, share, "reset") })
  }),
  faultKind({
    name: "truncated-body",
    summary: "Ends the connection before the body is as long as content-length says.",
    options: { share: arriving },
    steps: ({ fault: { share = 0.5 } }) => ({ wire: (_, bodyBytes) => cut(bodyBytes, share, "end") })
  }),
  faultKind({
    name: "malformed-json",
    summary: "The body has its full length but is not JSON.",
    steps: (_, { request }) => ({
      form: (reply) => {
        const bytes = request.method === "HEAD" ? undefined : bytesOf(reply)
        // Skip a body that another fault has already broken, because the body may be long and a hundred faults may be armed.
        if (bytes === undefined || bytes.at(-1) === comma) return undefined
        // The last bracket becomes a comma, so that the length is right but the end is missing.
        const broken = Uint8Array.from(bytes)
        broken[broken.length - 1] = comma
        return withBytes(reply, broken)
      }
    })
  }),
  faultKind({
    name: "slow-body",
    summary: "The body comes in pieces with pauses between them. Takes real time, not the world's.",
    options: {
      chunk: integer(1, 1_048_576, "Bytes in each piece; default a tenth of the body."),
      pause: duration("Between two pieces; default 100 millis.")
    },
    steps: ({ fault: { chunk, pause = "100 millis" } }) => ({
      wire: (_, bodyBytes) => {
        const pieceBytes = chunk ?? Math.ceil(bodyBytes / 10)
        const pauseMillis = millis(pause)
        // If there is at most one piece, there is no pause.
        return pieceBytes >= bodyBytes || pauseMillis === 0
          ? undefined
          : { _tag: "SlowBody", pieceBytes, pause: Duration.millis(pauseMillis) }
      }
    })
  }),
  faultKind({
    name: "hang",
    summary: "No reply comes; the connection stays open until the client gives up.",
    options: { processed: flag("Whether the request is processed; default false.") },
    steps: ({ fault: { processed = false } }) =>
      processed
        ? { wire: () => ({ _tag: "Silence" }) }
        : { instead: () => ({ _tag: "Nothing", wireFault: { _tag: "Silence" } }) }
  }),
  faultKind({
    name: "garbage-bytes",
    summary: "Processes the request and answers with bytes that are not HTTP.",
    options: { bytes: integer(1, 65_536, "How many; default 64.") },
    steps: ({ chance, fault: { bytes = 64 } }) => ({
      // All bytes are above ASCII, so that no parser reads them as the start of a reply.
      wire: () => ({ _tag: "Garbage", bytes: Uint8Array.from({ length: bytes }, (_, at) => 0x80 | chance(at + 1)) })
    })
  })
] as const
