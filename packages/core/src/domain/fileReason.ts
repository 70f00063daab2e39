/** Explains the error codes of a file system to people. */

interface FileError {
  readonly reason?: string
  /** What a person can do about the error. */
  readonly remedy?: string
  /** Whether it may go away by itself. Default false. */
  readonly passes?: boolean
}

const space = { remedy: "Free space there", passes: true }
const files = { remedy: "Close files or raise the limit of open files (ulimit -n)", passes: true }

const errors: Readonly<Record<string, FileError>> = {
  EACCES: { reason: "permission denied" },
  EPERM: { reason: "permission denied" },
  EROFS: { reason: "the file system is read-only", remedy: "Make that file system writable" },
  ENOSPC: { reason: "the disk is full", ...space },
  EDQUOT: { reason: "the disk has no more space for this user", ...space },
  EMFILE: { reason: "this process has too many files open", ...files },
  ENFILE: { reason: "this machine has too many files open", ...files },
  ENOTDIR: { reason: "a part of the path is a file and no folder" },
  EISDIR: { reason: "it is a folder" },
  ELOOP: { reason: "its links lead round in a circle" },
  ENAMETOOLONG: { reason: "the path is too long" },
  EAGAIN: { passes: true },
  EBUSY: { passes: true },
  ENOMEM: { passes: true },
  ESTALE: { passes: true },
  ETIMEDOUT: { passes: true }
}

/** The text for a code such as `ENOSPC`; undefined for an unknown code. */
export const fileReasonOf = (code: string | null | undefined): string | undefined => errors[code ?? ""]?.reason

/** What to do about an error with this code, as the beginning of a sentence; undefined if the code does not say. */
export const fileRemedyOf = (code: string | null | undefined): string | undefined => errors[code ?? ""]?.remedy

/** Whether an error with this code may go away by itself. A read-only or damaged file stays so until somebody repairs it. */
export const mayPass = (code: string | null): boolean => errors[code ?? ""]?.passes ?? false
