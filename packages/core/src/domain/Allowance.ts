/**
 * The allowance: how many requests the service still grants (interface.md §8). How the client keeps within it is the
 * engine's business.
 */
import { Schema } from "effect"

/** What one reply said about the allowance. */
export const Allowance = Schema.Struct({
  limit: Schema.Int.annotate({ description: "Requests granted per window, whatever kind of window that is." }),
  remaining: Schema.Int.annotate({ description: "Requests left." }),
  resetAt: Schema.NullOr(Schema.DateTimeUtc).annotate({ description: "When it refills, on the service's clock." })
}).annotate({ identifier: "Allowance" })
export interface Allowance extends Schema.Schema.Type<typeof Allowance> {}
