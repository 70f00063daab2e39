/**
 * What `berth apply` does, or would do, to one member of a fleet.
 */
import { sumIfKnown } from "@berthkit/core/domain/Money"
import { Schema } from "effect"
import { nothing, plain, rupees, textOr } from "../output/format.ts"
import { type Field, inr, recordOf, type RecordDescriptor } from "../output/RecordDescriptor.ts"

const actions = [
  "create",
  "delete",
  "replace",
  "differs",
  "commit",
  "forfeit",
  "unchanged",
  "kept",
  "doubled",
  "doubted",
  "unsure"
] as const

const amount = (description: string) => Schema.NullOr(Schema.Number).annotate({ description })

const FleetChange = Schema.Struct({
  action: Schema.Literals(actions).annotate({
    description:
      "`differs`: an apply does not change it by itself; `commit`: its commitment is set; `forfeit`: the commitment of a node that is deleted, which is paid to its end; `kept`: too many, and protected; `doubled`: a node that may be a second one of the member; `doubted`: cannot be found, and is not certainly gone; `unsure`: it is not known whether its commitment was set."
  }),
  member: Schema.String.annotate({ description: "Group and number, such as web-1." }),
  id: Schema.NullOr(Schema.Int).annotate({ description: "Id of the node; null if there is none yet." }),
  name: Schema.String,
  plan: Schema.NullOr(Schema.String),
  image: Schema.NullOr(Schema.String),
  reason: Schema.String.annotate({ description: "The reason, in words; empty if there is nothing to say." }),
  outcome: Schema.Literals([
    "planned",
    "none",
    "created",
    "running",
    "deleting",
    "deleted",
    "replaced",
    "committed",
    "failed",
    "skipped"
  ]).annotate({
    description: "The outcome; `planned` if nothing was done yet, `none` if there is nothing to do."
  }),
  pricePerHourNowInr: amount("Rupees per hour before; 0 without a node, null if it is not known."),
  pricePerHourAfterInr: amount("Rupees per hour afterwards; 0 without a node, null if it is not known."),
  differencePerHourInr: amount("Rupees per hour more; negative if less; null if it is not known."),
  differencePerMonthInr: amount("Rupees per month more; negative if less; null if it is not known."),
  committedPriceInr: amount("Rupees for the whole committed period that this buys; 0 without one, null if not known."),
  minimumBillingInr: amount("The minimum charge of the node that this makes; 0 if none, null if not known.")
})
export interface FleetChange extends Schema.Schema.Type<typeof FleetChange> {
  /** How many members the row represents in a table; 1 in every record. */
  readonly of?: number
}

/** The sign of an action. */
export const signs: Readonly<Record<FleetChange["action"], string>> = {
  create: "+",
  delete: "−",
  replace: "±",
  differs: "~",
  commit: "*",
  forfeit: "!",
  unchanged: "=",
  kept: "!",
  doubled: "!",
  doubted: "?",
  unsure: "?"
}

const signed = (amount: number | null): string =>
  amount === null ? "not known" : amount === 0 ? "0.00" : `${amount > 0 ? "+" : "−"}${rupees(Math.abs(amount))}`

const isMany = ({ of = 1 }: FleetChange) => of > 1

const fields: ReadonlyArray<Field<FleetChange>> = [
  {
    key: "action",
    title: "CHANGE",
    value: ({ action, of = 1 }) => (action === "unchanged" ? `= ${of} unchanged` : `${signs[action]} ${action}`),
    style: ({ action }) =>
      action === "create" ? "good" : action === "delete" ? "bad" : action === "unchanged" ? "faint" : "waiting"
  },
  { key: "member", title: "MEMBER", value: (row) => (isMany(row) ? nothing : row.member) },
  { key: "id", title: "ID", value: (row) => (isMany(row) ? nothing : plain(row.id)), align: "right", dropOrder: 4 },
  { key: "name", title: "NAME", value: (row) => (isMany(row) ? nothing : row.name), shrinkTo: 12, dropOrder: 5 },
  { key: "plan", title: "PLAN", value: (row) => (isMany(row) ? nothing : textOr(row.plan)), dropOrder: 2 },
  { key: "image", title: "IMAGE", value: (row) => (isMany(row) ? nothing : textOr(row.image)), dropOrder: 1 },
  inr("pricePerHourNowInr", "₹/HOUR NOW", { dropOrder: 3 }),
  inr("pricePerHourAfterInr", "AFTER", { dropOrder: 3 }),
  inr("differencePerHourInr", "DIFFERENCE", { value: ({ differencePerHourInr }) => signed(differencePerHourInr) }),
  inr("differencePerMonthInr", "₹/MONTH", {
    value: ({ differencePerMonthInr }) => signed(differencePerMonthInr),
    dropOrder: 6
  }),
  inr("committedPriceInr", "₹ COMMITTED"),
  inr("minimumBillingInr", "₹ MINIMUM", { dropOrder: 6 }),
  {
    key: "outcome",
    title: "RESULT",
    value: ({ outcome }) => (outcome === "none" || outcome === "planned" ? nothing : outcome),
    style: ({ outcome }) => (outcome === "failed" ? "bad" : undefined)
  },
  { key: "reason", title: "WHY", value: ({ reason }) => textOr(reason), shrinkTo: 20 }
]

/** Whether a row has a result. Before the plan is carried out, no row has a result. */
const isDone = ({ outcome }: FleetChange) => outcome !== "planned" && outcome !== "none"

export const fleetChangeRecord: RecordDescriptor<FleetChange> = recordOf(FleetChange, { none: "no members" }, fields)

/** Columns that are shown only if a row has a value for them. */
const onDemand: Readonly<Record<string, (row: FleetChange) => boolean>> = {
  outcome: isDone,
  committedPriceInr: ({ committedPriceInr }) => committedPriceInr !== 0,
  minimumBillingInr: ({ minimumBillingInr }) => (minimumBillingInr ?? 0) > 0
}

export const shownFleetChange: RecordDescriptor<FleetChange> = {
  ...fleetChangeRecord,
  fields: (rows) =>
    rows.length === 0 ? fields : fields.filter(({ key }) => !(key in onDemand) || rows.some(onDemand[key]!))
}

/** Rows for people: all unchanged members share one row. */
export const collapsed = (rows: ReadonlyArray<FleetChange>): ReadonlyArray<FleetChange> => {
  const unchanged = rows.filter(({ action }) => action === "unchanged")
  const [first] = unchanged
  if (first === undefined) return rows
  const sum = (key: "pricePerHourNowInr" | "pricePerHourAfterInr") => sumIfKnown(unchanged.map((row) => row[key]))
  return [
    ...rows.filter(({ action }) => action !== "unchanged"),
    {
      ...first,
      of: unchanged.length,
      pricePerHourNowInr: sum("pricePerHourNowInr"),
      pricePerHourAfterInr: sum("pricePerHourAfterInr")
    }
  ]
}

/** A price difference in a sentence: `₹3.20 more per hour`. */
export const differenceText = (perHour: number | null, perMonth: number | null): string => {
  const one = (amount: number | null, period: string) =>
    amount === null
      ? `an unknown difference per ${period}`
      : amount === 0
        ? `no difference per ${period}`
        : `₹${rupees(Math.abs(amount))} ${amount > 0 ? "more" : "less"} per ${period}`
  return perHour === 0 && perMonth === 0 ? "none" : `${one(perHour, "hour")}, ${one(perMonth, "month")}`
}
