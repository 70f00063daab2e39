/**
 * The exit codes of `berth` and `berth-watch`; `berth-server` uses the first three, and `learn` also `different`. The numbers
 * are frozen, because scripts rely on them. A failed call names its own code (`reason.exit` in
 * `@berthkit/core/domain/ErrorReason`).
 */
export const exitCode = {
  done: 0,
  /** A bug in the program. */
  fault: 1,
  /** The command line, or a required setting. */
  usage: 2,
  /** Not authenticated, or not allowed. */
  denied: 3,
  notFound: 4,
  /** Refused by the service: invalid, or in conflict with the current state. */
  rejected: 5,
  /** The allowance is spent, or waiting for it would exceed the deadline. */
  rateLimited: 6,
  /** Unreachable, timed out, or the service failed. */
  unavailable: 7,
  /** A create whose reply was lost and whose reconciliation found no answer. */
  outcomeUnknown: 8,
  /** Some of several failed. */
  someFailed: 9,
  /** A local file or the output cannot be read or written. */
  localFile: 10,
  /** `berth diff`, `berth-server learn --check`: reality differs from the file. */
  different: 11,
  /** The terminal was closed (SIGHUP). */
  hungUp: 129,
  /** Ctrl-C, or a question was answered with no. */
  interrupted: 130,
  /** SIGTERM. */
  terminated: 143
} as const

/** The name of an exit code. */
export type Exit = keyof typeof exitCode
