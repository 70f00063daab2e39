/**
 * Explains to people why a file cannot be read or written; the system only returns a code.
 */

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk has no more space for this user",
  EMFILE: "this process has too many files open",
  ENFILE: "this machine has too many files open",
  ENOTDIR: "a part of the path is a file and no folder",
  EISDIR: "it is a folder",
  ELOOP: "its links lead round in a circle",
  ENAMETOOLONG: "the path is too long"
}

/** The text for a code such as `ENOSPC`; undefined for an unknown code. */
export const fileReasonOf = (code: string | null | undefined): string | undefined => reasons[code ?? ""]
