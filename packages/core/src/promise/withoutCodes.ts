/**
 * Bundles for pages have this file instead of `client/transport/connectionFault.ts` and `domain/fileReason.ts`: errors in a page have no
 * codes of the system.
 */
import type { ConnectionFault, Told } from "../client/transport/connectionFault.ts"

export const connectionFault = ({ code, text }: Told): ConnectionFault => ({
  fault: "network",
  unsent: false,
  text,
  code
})
export const fileReasonOf = (): undefined => undefined
export const fileRemedyOf = (): undefined => undefined
export const mayPass = (): boolean => false
