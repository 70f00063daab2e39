/**
 * The report of a finished attempt for hooks: its ledger entry and the request, without credentials.
 */
import type { Attempt } from "../../domain/Attempt.ts"

/** A finished attempt as the error of its call lists it, with its request. It contains no credentials. */
export interface AttemptReport extends Attempt {
  /** For example `nodes.get`. */
  readonly operation: string
  readonly method: string
  /** The full address, with the API key replaced by `<redacted>`. */
  readonly url: string
}
