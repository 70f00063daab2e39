/**
 * What a fault of the wire does to a reply, as data. Who carries it out is `http/badDelivery.ts`.
 */
import { Duration } from "effect"
import type { Strike } from "../ArmedFaults.ts"
import { millis } from "../../injection/FaultKind.ts"

export type Damage =
  /** Nothing comes, and the connection stays. */
  | { readonly _tag: "Silence" }
  /** The connection is reset before the first byte. */
  | { readonly _tag: "Reset" }
  /** The head and so many bytes of the body come, then the connection is reset, or ends. */
  | { readonly _tag: "Cut"; readonly afterBytes: number; readonly by: "reset" | "end" }
  /** These bytes come instead of a reply, and the connection ends. */
  | { readonly _tag: "Garbage"; readonly bytes: Uint8Array }
  /** The body comes in pieces of so many bytes. */
  | { readonly _tag: "Drip"; readonly pieceBytes: number; readonly pause: Duration.Duration }

/** What befalls a request that the service never sees. */
export const damageOnArrival = ({ fault }: Strike): Damage | undefined => {
  if (fault.fault === "reset-before-request") return { _tag: "Reset" }
  return fault.fault === "hang" && fault.processed !== true ? { _tag: "Silence" } : undefined
}

/** What befalls a reply; `bodyBytes` is how long its body is. */
export const damageOfReply = ({ chance, fault }: Strike, bodyBytes: number): Damage | undefined => {
  switch (fault.fault) {
    case "reset-after-request":
      return { _tag: "Reset" }
    case "hang":
      return { _tag: "Silence" }
    case "reset-mid-body":
    case "truncated-body": {
      if (bodyBytes < 2) return undefined
      const afterBytes = Math.min(bodyBytes - 1, Math.max(1, Math.floor(bodyBytes * (fault.share ?? 0.5))))
      return { _tag: "Cut", afterBytes, by: fault.fault === "truncated-body" ? "end" : "reset" }
    }
    case "slow-body": {
      if (bodyBytes === 0) return undefined
      const pieceBytes = fault.chunk ?? Math.ceil(bodyBytes / 10)
      return { _tag: "Drip", pieceBytes, pause: Duration.millis(millis(fault.pause ?? "100 millis")) }
    }
    case "garbage-bytes":
      // Above the letters of HTTP, so that no parser takes it for a beginning.
      return {
        _tag: "Garbage",
        bytes: Uint8Array.from({ length: fault.bytes ?? 64 }, (_, at) => 0x80 | chance(at + 1))
      }
    default:
      return undefined
  }
}
