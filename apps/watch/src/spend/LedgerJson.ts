/** A ledger (the stored spending of an account) in the store's format: one JSON value, and one row per changed day. */
import { Schema } from "effect"
import type { Day, Days, Rates } from "./Days.ts"
import { AlertMarks, Budget, keyOf, type Ledger } from "./Ledger.ts"

const Step = Schema.Struct({
  /** Null: for all time before the next price. */
  fromMillis: Schema.NullOr(Schema.Finite),
  low: Schema.Finite,
  high: Schema.NullOr(Schema.Finite),
  assumed: Schema.Finite
})

const Kept = Schema.Struct({
  sinceMillis: Schema.Finite,
  pricedMillis: Schema.NullOr(Schema.Finite),
  changedPlans: Schema.Array(Schema.Tuple([Schema.String, Schema.Finite])),
  currencies: Schema.optionalKey(Schema.Array(Schema.String)),
  groups: Schema.Array(
    Schema.Struct({
      plan: Schema.NullOr(Schema.String),
      image: Schema.NullOr(Schema.String),
      count: Schema.Int,
      prices: Schema.Array(Step),
      recent: Schema.Array(Schema.Tuple([Schema.Finite, Schema.Int, Schema.Literals(["low", "high", "both"])]))
    })
  ),
  budget: Schema.NullOr(Budget),
  marks: AlertMarks
}).annotate({ identifier: "SpendLedger" })

const KeptJson = Schema.fromJsonString(Kept)
const encode = Schema.encodeSync(KeptJson)
const decode = Schema.decodeSync(KeptJson)

export const writeLedger = ({
  budget,
  changedPlans,
  currencies,
  groups,
  marks,
  pricedMillis,
  sinceMillis
}: Ledger): string =>
  encode({
    sinceMillis,
    pricedMillis,
    budget,
    marks,
    ...(currencies !== undefined && { currencies }),
    changedPlans: Array.from(changedPlans),
    groups: Array.from(groups.values(), ({ prices, recent, ...group }) => ({
      ...group,
      prices: prices.map((step) => ({ ...step, fromMillis: step.fromMillis === -Infinity ? null : step.fromMillis })),
      recent: recent.map(({ count, fromMillis, side }) => [fromMillis, count, side] as const)
    }))
  })

export const readLedger = (body: string, days: Days): Ledger => {
  const { changedPlans, groups, ...ledger } = decode(body)
  return {
    ...ledger,
    changedPlans: new Map(changedPlans),
    groups: new Map(
      groups.map(({ prices, recent, ...group }) => [
        keyOf(group.plan, group.image),
        {
          ...group,
          prices: prices.map((step) => ({ ...step, fromMillis: step.fromMillis ?? -Infinity })),
          recent: recent.map(([fromMillis, count, side]) => ({ fromMillis, count, side }))
        }
      ])
    ),
    days
  }
}

/** The part of a ledger, other than the days, that the HTTP interface shows. */
export const readHeader = (body: string): Pick<Ledger, "sinceMillis" | "budget" | "currencies"> => decode(body)

/** The JSON of a day. Amounts are strings, in the order of `Rates`, because JSON numbers cannot hold them exactly. */
export const writeDay = ({ amount, changedMillis, rates }: Day): string =>
  JSON.stringify([amount.map(String), rates.map(String), changedMillis])

const readRates = (texts: ReadonlyArray<string>): Rates => texts.map(BigInt) as unknown as Rates

export const readDay = (body: string): Day => {
  const [amount, rates, changedMillis] = JSON.parse(body) as [Array<string>, Array<string>, number]
  return { amount: readRates(amount), rates: readRates(rates), changedMillis }
}
