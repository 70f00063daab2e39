/**
 * What the daemon knows of the account beside its nodes for good: the columns of the account's row in the store.
 */
import { Schema } from "effect"

const millis = Schema.Int

/** Why the list is not believed. */
const Doubt = Schema.Literals(["nodes-vanished", "list-empty"])

export const Standing = Schema.Struct({
  /** When the nodes that existed already were first known; null before. Nothing is reported of a node before it. */
  baselineMillis: Schema.NullOr(millis),
  /** When a complete sweep began, on the daemon's wall clock: the last one, or one at most a minute before it. */
  sweptMillis: Schema.NullOr(millis),
  /** The same instant on the service's clock; null where its replies have no date. */
  sweptServiceMillis: Schema.NullOr(millis),
  /** Since when the list cannot be read; null while it can. */
  outage: Schema.NullOr(Schema.Struct({ sinceMillis: millis })),
  /** Since when no deletion is reported; null while they are. */
  freeze: Schema.NullOr(Schema.Struct({ doubt: Doubt, sinceMillis: millis })),
  /** Since when the list shows another account; null while it does not. */
  stranger: Schema.NullOr(Schema.Struct({ sinceMillis: millis })),
  /** How often trouble was reported: the versions of those events, which clocks cannot repeat. */
  troubles: Schema.Int,
  /** Fingerprint of the API key that the nodes were read with; null before the first sweep. */
  fingerprint: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Standing" })
export interface Standing extends Schema.Schema.Type<typeof Standing> {}
