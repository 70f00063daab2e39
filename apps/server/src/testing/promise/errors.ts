/** The errors of the promise API of a test's server. */
import type { Verdict } from "./ControlTypes.ts"

/** An error whose `name` is the name of its class, even if a bundler has renamed the class. */
class Named extends Error {
  constructor(name: string, message: string) {
    super(message)
    Object.defineProperty(this, "name", { value: name, configurable: true, writable: true })
  }
}

/**
 * The mock refused a request of the test, for example because of an unknown option or fault, a node that does not exist, or
 * a world that has ended.
 */
export class MockRefused extends Named {
  /** The HTTP status with which the control plane refused the request: 4xx. */
  readonly status: number
  /** Sentences by the path of each invalid field, such as `rateLimit.limit`. */
  readonly errors: Readonly<Record<string, ReadonlyArray<string>>>
  constructor(status: number, message: string, errors: Readonly<Record<string, ReadonlyArray<string>>>) {
    const fields = Object.entries(errors).map(([field, sentences]) => [field, sentences.join(" ")] as const)
    const lines = fields.filter(([, text]) => text !== message).map(([field, text]) => `\n  ${field}: ${text}`)
    super("MockRefused", message + lines.join(""))
    this.status = status
    this.errors = errors
  }
}

/** The journal is not what `verify` expected. */
export class CallsDiffer extends Named {
  /** The missing and the unexpected calls, with the nearest requests. */
  declare readonly verdict: Verdict
  constructor(verdict: Verdict) {
    super("CallsDiffer", verdict.message)
    // The verdict is not enumerable, because the message already has everything in it.
    Object.defineProperty(this, "verdict", { value: verdict })
  }
}

/** The server is closed. */
export class ServerClosed extends Named {
  constructor() {
    super("ServerClosed", "The server of the test is closed.")
  }
}
