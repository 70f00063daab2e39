/**
 * What the promises of a test's server reject with.
 */
import type { Verdict } from "./ControlTypes.ts"

/** The message of an error, under the name of its class also where bundlers have renamed that. */
class Named extends Error {
  constructor(name: string, message: string) {
    super(message)
    Object.defineProperty(this, "name", { value: name, configurable: true, writable: true })
  }
}

/** What was asked cannot be: an unknown option or fault, a node that does not exist, a world that has ended. */
export class MockRefused extends Named {
  /** The HTTP status by which the control plane refuses: 4xx. */
  readonly status: number
  /** Sentences by the path of each field at fault, such as `rateLimit.limit`. */
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
  /** What is missing or too much, with the requests that come nearest. */
  declare readonly verdict: Verdict
  constructor(verdict: Verdict) {
    super("CallsDiffer", verdict.message)
    // Not shown beside the message, which has all of it.
    Object.defineProperty(this, "verdict", { value: verdict })
  }
}

/** The server was closed before. */
export class ServerClosed extends Named {
  constructor() {
    super("ServerClosed", "The server of the test is closed.")
  }
}
