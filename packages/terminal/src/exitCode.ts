/**
 * The exit codes of `berth` and `berth-watch`. `berth-server` uses only the first three, and `berth-server learn` also
 * `different`. The numbers are frozen, because scripts rely on them. A failed call names its own code (`reason.exit` in
 * `@berthkit/core/domain/ErrorReason`).
 */
export const exitCode = {
  done: 0,
  /** A bug in the program. */
  fault: 1,
  /** The command line is wrong, or a required setting is missing. */
  usage: 2,
  /** The service refuses the credentials, or does not allow the request. */
  denied: 3,
  notFound: 4,
  /** The service refuses the request, because it is invalid or in conflict with the current state. */
  rejected: 5,
  /** The allowance is spent, or waiting for it would exceed the deadline. */
  rateLimited: 6,
  /** The service cannot be reached, did not answer in time, or failed. */
  unavailable: 7,
  /** The reply to a create was lost, and Berth could not find out whether the create made a node. */
  outcomeUnknown: 8,
  /** The command was about several nodes, and some of them failed. */
  someFailed: 9,
  /** A local file or the output cannot be read or written. */
  localFile: 10,
  /** `berth diff` or `berth-server learn --check` found that reality differs from the file. */
  different: 11,
  /** The terminal was closed (SIGHUP). */
  hungUp: 129,
  /** The user pressed Ctrl-C, or answered a question with no. */
  interrupted: 130,
  /** The program got SIGTERM. */
  terminated: 143
} as const

/** The name of an exit code. */
export type Exit = keyof typeof exitCode
