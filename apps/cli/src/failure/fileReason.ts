/**
 * Explains to people why a file cannot be read or written; the system only returns a code.
 */
import type { FileFault } from "@berthkit/core/client/files/StateFiles"
import { fileReasonOf } from "@berthkit/core/domain/fileReason"

export const fileReason = ({ code, message }: FileFault): string => fileReasonOf(code) ?? code ?? message
