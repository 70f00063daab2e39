/**
 * What something costs by the hour and by the month: the same columns in every record that has a price.
 */
import { rupees } from "../output/format.ts"
import type { Field } from "../output/RecordDescriptor.ts"

/** A record with a price. */
interface Priced {
  readonly pricePerHourInr: number | null
  readonly pricePerMonthInr: number | null
}

export const pricePerHour: Field<Priced> = {
  key: "pricePerHourInr",
  title: "₹/HOUR",
  alias: "price",
  value: ({ pricePerHourInr }) => rupees(pricePerHourInr),
  align: "right"
}

export const pricePerMonth: Field<Priced> = {
  key: "pricePerMonthInr",
  title: "₹/MONTH",
  value: ({ pricePerMonthInr }) => rupees(pricePerMonthInr),
  align: "right"
}
