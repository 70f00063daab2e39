/**
 * Why a file cannot be read or written, for people: the system gives a code.
 */
import type { FileFault } from "@berthkit/core/client/files/StateFiles"
import { fileReasonOf } from "@berthkit/core/domain/fileReason"

export const fileReason = ({ code, message }: FileFault): string => fileReasonOf(code) ?? code ?? message
