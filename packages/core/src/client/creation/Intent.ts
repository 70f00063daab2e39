/**
 * What is written down of a create before and while it is sent, so that afterwards, in this process or a later one, it can be
 * told which node came of it.
 */
import { Schema } from "effect"
import { NodeId } from "../../domain/Node.ts"

/** When a request was sent: on every clock there is, for none of them alone can be trusted later. */
export const SentAt = Schema.Struct({
  wallMillis: Schema.Number.annotate({ description: "By the wall clock of the machine, since the epoch." }),
  bootMillis: Schema.Number.annotate({ description: "By the clock of its boot." }),
  bootClock: Schema.NullOr(Schema.String).annotate({ description: "Names that clock; null where it cannot be named." }),
  serviceMillis: Schema.Number.annotate({
    description: "The service's clock had certainly reached this, since the epoch; 0 when nothing is known of it."
  })
})
export interface SentAt extends Schema.Schema.Type<typeof SentAt> {}

/** The version of what is written: a later one may mean something else. */
export const intentVersion = 1

/** The record of one create. */
export const Intent = Schema.Struct({
  version: Schema.Literal(intentVersion),
  key: Schema.String.annotate({ description: "Names the create: the caller's own key, or one drawn for it." }),
  name: Schema.String,
  plan: Schema.String,
  image: Schema.String,
  newerThan: Schema.Int.annotate({
    description: "Highest node id known before sending; what comes of it is higher (decision 11)."
  }),
  sentAt: Schema.NullOr(SentAt).annotate({
    description:
      "When it was sent last; null while it was certainly not sent, or what was sent was certainly not processed."
  }),
  lost: Schema.Boolean.annotate({
    description: "Whether no reply to it can come any more: what came of it shows in the list alone."
  }),
  nodeId: Schema.NullOr(NodeId).annotate({ description: "The node that came of it; null until that is known." })
}).annotate({ identifier: "Intent" })
export interface Intent extends Schema.Schema.Type<typeof Intent> {}
