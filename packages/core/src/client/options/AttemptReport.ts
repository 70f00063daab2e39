/**
 * What a hook is told of an attempt that is over: its entry in the ledger, and what was sent, without a credential.
 */
import type { Attempt } from "../../domain/Attempt.ts"

/** An attempt that is over, as the error of its call lists it, with what was sent. Nothing in it holds a credential. */
export interface AttemptReport extends Attempt {
  /** Such as `nodes.get`. */
  readonly operation: string
  readonly method: string
  /** The whole address, the API key in it replaced by `<redacted>`. */
  readonly url: string
}
