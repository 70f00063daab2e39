/**
 * A fault on the wire, as data. `deliverFault.ts` carries it out on a socket, and `inProcess.ts` imitates it without one.
 */
import type { Duration } from "effect"

/** How the delivery of a reply goes wrong. */
export type WireFault =
  /** Nothing arrives, and the connection stays open. */
  | { readonly _tag: "Silence" }
  /** The connection is reset before the first byte. */
  | { readonly _tag: "Reset" }
  /** The head and this many bytes of the body arrive. Then the connection is reset, or it ends. */
  | { readonly _tag: "Cut"; readonly afterBytes: number; readonly by: "reset" | "end" }
  /** These bytes arrive instead of a reply, and the connection ends. */
  | { readonly _tag: "Garbage"; readonly bytes: Uint8Array }
  /** The body arrives in pieces of this many bytes. */
  | { readonly _tag: "SlowBody"; readonly pieceBytes: number; readonly pause: Duration.Duration }
