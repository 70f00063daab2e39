/**
 * The commitment of a node according to berth's own record. The service reports at most whether the node has one.
 */
import { CommitmentSetting } from "@berthkit/core/domain/Commitment"
import { Node, NodeId } from "@berthkit/core/domain/Node"
import { DateTime, Schema } from "effect"
import type { Entry } from "../commitmentLog/CommitmentLog.ts"
import { moment, nothing, numberOr, plain, rupees, textOr } from "../output/format.ts"
import { recordOf } from "../output/RecordDescriptor.ts"

const OwnCommitment = Schema.Struct({
  id: NodeId,
  name: Schema.String,
  committed: Node.fields.committed.annotate({
    description: "Whether the service says that the node is committed; null if it does not say."
  }),
  setAt: Schema.NullOr(Schema.DateTimeUtc).annotate({
    description: "When Berth set it last, as far as it knows; null if it knows of no setting."
  }),
  setting: Schema.NullOr(CommitmentSetting).annotate({ description: "What happens at the end; null if not set." }),
  skuId: Schema.NullOr(Schema.Int).annotate({ description: "The committed option that was passed." }),
  days: Schema.NullOr(Schema.Int),
  committedPriceInr: Schema.NullOr(Schema.Number).annotate({ description: "For the whole committed period." }),
  until: Schema.NullOr(Schema.DateTimeUtc).annotate({
    description: "End of the period that began with the create; null if berth does not know when it began."
  })
})
interface OwnCommitment extends Schema.Schema.Type<typeof OwnCommitment> {}

const instant = (millis: number | null | undefined) => (millis == null ? null : DateTime.makeUnsafe(millis))

/** The record of a node. If the log has no entry for it, most fields are null. */
export const ownCommitmentOf = ({ committed, id, name }: Node, entry: Entry | undefined): OwnCommitment => ({
  id,
  name,
  committed,
  setAt: instant(entry?.setMillis),
  setting: entry?.setting ?? null,
  skuId: entry?.skuId ?? null,
  days: entry?.days ?? null,
  committedPriceInr: entry?.priceInr ?? null,
  until: instant(entry?.untilMillis)
})

const momentOr = (at: DateTime.Utc | null): string => (at === null ? nothing : moment(at))

export const ownCommitmentRecord = recordOf(OwnCommitment, { none: "no commitments" }, [
  { key: "id", title: "ID", value: ({ id }) => String(id) },
  { key: "name", title: "NAME", value: ({ name }) => name },
  { key: "committed", title: "COMMITTED", value: ({ committed }) => plain(committed), dropOrder: 1 },
  { key: "setting", title: "SETTING", value: ({ setting }) => textOr(setting) },
  { key: "skuId", title: "SKU", value: ({ skuId }) => numberOr(skuId) },
  { key: "days", title: "DAYS", value: ({ days }) => numberOr(days) },
  { key: "committedPriceInr", title: "₹ COMMITTED", value: ({ committedPriceInr }) => rupees(committedPriceInr) },
  { key: "until", title: "UNTIL (UTC)", value: ({ until }) => momentOr(until) },
  { key: "setAt", title: "SET BY BERTH (UTC)", value: ({ setAt }) => momentOr(setAt) }
])
