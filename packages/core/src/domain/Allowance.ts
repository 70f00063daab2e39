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

/** What is known of the allowance at one moment. */
export const AllowanceLevel = Schema.Struct({
  limit: Schema.NullOr(Schema.Int).annotate({
    description: "Requests granted per window; null until a reply has said so."
  }),
  remaining: Schema.NullOr(Schema.Int).annotate({
    description:
      "Requests left: what the newest reply said, less what has been sent since. Null until a reply has said so."
  }),
  resetInMillis: Schema.NullOr(Schema.Number).annotate({
    description:
      "Time until the stated reset, by the service's clock; 0 when it is due. Null until a reply has said so."
  }),
  pausedMillis: Schema.Number.annotate({
    description:
      "Time during which nothing is sent, because the service refused a request for want of allowance; else 0."
  }),
  underWay: Schema.Int.annotate({ description: "Requests sent and not yet answered." }),
  waiting: Schema.Int.annotate({ description: "Requests that wait for their turn." })
}).annotate({ identifier: "AllowanceLevel" })
export interface AllowanceLevel extends Schema.Schema.Type<typeof AllowanceLevel> {}
