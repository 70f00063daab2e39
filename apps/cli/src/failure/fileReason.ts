/**
 * Explains to people why a file cannot be read or written; the system only returns a code.
 */
import type { FileFault } from "@berthkit/core/client/files/StateFiles"
import { fileReasonOf } from "@berthkit/core/domain/fileReason"

export const fileReason = ({ code, message }: Pick<FileFault, "code" | "message">): string =>
  fileReasonOf(code) ?? code ?? message
