/**
 * Why a file cannot be read or written, for people: the system gives a code.
 */
import type { FileFault } from "@berth/core/client/files/StateFiles"

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk has no more space for this user",
  ENOTDIR: "a part of the path is a file and no folder",
  EISDIR: "it is a folder",
  ENAMETOOLONG: "the path is too long"
}

export const fileReason = ({ code, message }: FileFault): string => reasons[code ?? ""] ?? code ?? message
