/**
 * What the exit codes of `berth` and `berth-watch` mean; `berth-server` has the first three, and `learn` also `different`. The numbers are frozen: scripts rely on them. A failed call names its own code
 * (`reason.exit` in `@berthkit/core/domain/ErrorReason`).
 */
export const exitCode = {
  done: 0,
  /** A fault of the program itself. */
  fault: 1,
  /** The command line, or a setting that it needs. */
  usage: 2,
  /** Not authenticated, or not allowed. */
  denied: 3,
  notFound: 4,
  /** Understood and refused: invalid, or in conflict with the present state. */
  rejected: 5,
  /** The allowance is spent, or the wait for it would outlast the deadline. */
  rateLimited: 6,
  /** Unreachable, out of time, or the service failed. */
  unavailable: 7,
  /** A create whose reply was lost and whose reconciliation found no answer. */
  outcomeUnknown: 8,
  /** Some of several failed. */
  someFailed: 9,
  /** A local file or the output cannot be read or written. */
  localFile: 10,
  /** `berth diff`, `berth-server learn --check`: what there is differs from what the file says. */
  different: 11,
  /** The terminal was closed (SIGHUP). */
  hungUp: 129,
  /** Ctrl-C, or answered with no. */
  interrupted: 130,
  /** SIGTERM. */
  terminated: 143
} as const

/** Name of an exit code. */
export type Exit = keyof typeof exitCode
