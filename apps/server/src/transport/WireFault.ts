/**
 * A fault of the wire, as data. `deliverFault.ts` carries it out on a socket, `inProcess.ts` without one.
 */
import type { Duration } from "effect"

/** How the delivery of a reply goes wrong. */
export type WireFault =
  /** Nothing comes, and the connection stays. */
  | { readonly _tag: "Silence" }
  /** The connection is reset before the first byte. */
  | { readonly _tag: "Reset" }
  /** The head and so many bytes of the body come, then the connection is reset, or ends. */
  | { readonly _tag: "Cut"; readonly afterBytes: number; readonly by: "reset" | "end" }
  /** These bytes come instead of a reply, and the connection ends. */
  | { readonly _tag: "Garbage"; readonly bytes: Uint8Array }
  /** The body comes in pieces of so many bytes. */
  | { readonly _tag: "SlowBody"; readonly pieceBytes: number; readonly pause: Duration.Duration }
