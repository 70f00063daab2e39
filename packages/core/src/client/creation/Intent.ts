/**
 * What is written down before a create is sent, so that afterwards, in this process or a later one, it can be told which
 * node came of it.
 */
import { Schema } from "effect"
import { NodeId } from "../../domain/Node.ts"

/** The record of one create. */
export const Intent = Schema.Struct({
  key: Schema.String.annotate({ description: "Names the create: the caller's own key, or one drawn for it." }),
  name: Schema.String,
  plan: Schema.String,
  image: Schema.String,
  newerThan: Schema.Int.annotate({
    description: "Highest node id known before sending; what comes of it is higher (decision 11)."
  }),
  sentAtMillis: Schema.Number.annotate({ description: "When it was sent, by our clock, since the epoch." }),
  serviceTimeMillis: Schema.Number.annotate({
    description:
      "The service's clock had certainly reached this when it was sent; 0 when nothing is known of that clock."
  }),
  nodeId: Schema.NullOr(NodeId).annotate({ description: "The node that came of it; null until that is known." })
}).annotate({ identifier: "Intent" })
export interface Intent extends Schema.Schema.Type<typeof Intent> {}
