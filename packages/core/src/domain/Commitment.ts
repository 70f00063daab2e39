/**
 * Commitments: what happens to a node's reserved price at the end of its period, and the periods that a plan offers.
 */
import { Schema } from "effect"

/**
 * What happens at the end of a commitment (interface.md §3, A17): `auto_renew` starts another,
 * `auto_terminate` terminates the node, `hourly_billing` drops the commitment.
 */
export const commitmentSettings = ["auto_renew", "auto_terminate", "hourly_billing"] as const
/** One of the three settings at the end of a commitment. */
export type CommitmentSetting = (typeof commitmentSettings)[number]
export const CommitmentSetting = /*#__PURE__*/ Schema.Literals(commitmentSettings)

/** An amount in a currency other than rupees. Berth shows it, but never adds it to rupees or compares it with them. */
export const ForeignAmount = /*#__PURE__*/ Schema.Struct({
  /** As the service writes it, such as `USD`. */
  currency: Schema.String,
  amount: Schema.Number
}).annotate({ identifier: "ForeignAmount" })
export interface ForeignAmount extends Schema.Schema.Type<typeof ForeignAmount> {}

/** A period for which a plan can be reserved (interface.md §2.6, committed_sku). */
export const CommittedOption = /*#__PURE__*/ Schema.Struct({
  /** Id to pass when choosing this option. */
  skuId: Schema.Int,
  name: Schema.String,
  /** Length of the period in days. */
  days: Schema.Int,
  /** Price of the whole period in rupees. */
  priceInr: Schema.NullOr(Schema.Number),
  /** Price of the whole period in another currency; `priceInr` is null then. */
  foreignPrice: Schema.NullOr(ForeignAmount),
  message: Schema.String,
  /** End of the period if it began now, in the service's own words. */
  until: Schema.String
}).annotate({ identifier: "CommittedOption" })
export interface CommittedOption extends Schema.Schema.Type<typeof CommittedOption> {}

/**
 * Whether a setting may name a committed option. Only a renewal may (interface.md §4 note 3), so no other setting buys a period.
 *
 * @internal
 */
export const takesOption = (setting: CommitmentSetting): boolean => setting === "auto_renew"
