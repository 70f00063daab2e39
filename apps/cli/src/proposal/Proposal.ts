/**
 * What a change is about to do: the very request, the money, and the result. `--dry-run` prints it.
 */
import type { WireRequest } from "@berth/core/client/transport/Transport"
import { Schema } from "effect"
import { rupees, textOr } from "../output/format.ts"
import { jsonLine } from "../output/json.ts"
import { type Field, jsonOf, type RecordDescriptor } from "../output/RecordDescriptor.ts"

const Proposal = Schema.Struct({
  action: Schema.Literals(["create", "delete", "set-commitment"]),
  id: Schema.NullOr(Schema.Int),
  name: Schema.String,
  request: Schema.Struct({
    method: Schema.String,
    path: Schema.String.annotate({ description: "From the root of the service on, without credentials." }),
    body: Schema.Unknown.annotate({ description: "JSON; null where there is none." })
  }),
  pricePerHourInr: Schema.NullOr(Schema.Number),
  pricePerMonthInr: Schema.NullOr(Schema.Number),
  committedPriceInr: Schema.NullOr(Schema.Number).annotate({ description: "For the whole committed period." }),
  outcome: Schema.String.annotate({ description: "The result, in words." })
})
export interface Proposal extends Schema.Schema.Type<typeof Proposal> {}

type Price = Pick<Proposal, "pricePerHourInr" | "pricePerMonthInr" | "committedPriceInr">

const noPrice: Price = { pricePerHourInr: null, pricePerMonthInr: null, committedPriceInr: null }

/** The proposal to send a request. */
export const propose = (
  { body, method, path }: WireRequest,
  change: Pick<Proposal, "action" | "id" | "name" | "outcome"> & Partial<Price>
): Proposal => ({
  ...noPrice,
  ...change,
  request: { method, path, body: body === undefined ? null : JSON.parse(body) }
})

const subject: ReadonlyArray<Field<Proposal>> = [
  { key: "action", title: "ACTION", value: ({ action }) => action },
  { key: "id", title: "ID", value: ({ id }) => textOr(id === null ? null : String(id)) },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12 }
]

const price: ReadonlyArray<Field<Proposal>> = [
  { key: "pricePerHourInr", title: "₹/HOUR", value: ({ pricePerHourInr }) => rupees(pricePerHourInr) },
  { key: "pricePerMonthInr", title: "₹/MONTH", value: ({ pricePerMonthInr }) => rupees(pricePerMonthInr) },
  { key: "committedPriceInr", title: "₹ COMMITTED", value: ({ committedPriceInr }) => rupees(committedPriceInr) }
]

const change: ReadonlyArray<Field<Proposal>> = [
  { key: "outcome", title: "OUTCOME", value: ({ outcome }) => outcome, shrinkTo: 20 },
  { key: "request", title: "REQUEST", value: ({ request }) => `${request.method} ${request.path}`, dropOrder: 1 }
]

const body: Field<Proposal> = {
  key: "request.body",
  title: "BODY",
  value: ({ request }) => jsonLine(request.body),
  dropOrder: 1
}

export const proposalRecord: RecordDescriptor<Proposal> = {
  ...jsonOf(Proposal),
  fields: (proposals) => [
    ...subject,
    ...(proposals.length === 0 || proposals.some(({ action }) => action === "create") ? price : []),
    ...change,
    ...(proposals.length === 0 || proposals.some(({ request }) => request.body !== null) ? [body] : [])
  ],
  none: "no changes to make"
}
