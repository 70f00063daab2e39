/**
 * One attempt of a call, as the ledger of a `BerthError` keeps it: what was done on the wire, when, and what came of it.
 */
import { Schema } from "effect"
import { Allowance } from "./Allowance.ts"

/** One attempt. Times are milliseconds since the call began; nothing in it holds a credential. */
export const Attempt = Schema.Struct({
  number: Schema.Int.annotate({ description: "1 for the first attempt of the call." }),
  startedAtMillis: Schema.Number.annotate({ description: "Since the call began." }),
  backoffMillis: Schema.Number.annotate({ description: "Waited before it because the attempt before it failed." }),
  queuedMillis: Schema.Number.annotate({ description: "Waited for its turn within the allowance." }),
  durationMillis: Schema.Number.annotate({ description: "On the wire, until the reply was read." }),
  status: Schema.NullOr(Schema.Int).annotate({ description: "HTTP status; null when no reply came." }),
  outcome: Schema.String.annotate({ description: "`ok`, the tag of the reason it failed for, or `interrupted`." }),
  allowance: Schema.NullOr(Allowance).annotate({ description: "What the reply said about the allowance." })
}).annotate({ identifier: "Attempt" })
export interface Attempt extends Schema.Schema.Type<typeof Attempt> {}
