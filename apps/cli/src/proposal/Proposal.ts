/**
 * What a change is about to do: the very request, the money, and the result. It is shown before anything is sent, and `--dry-run`
 * prints it.
 */
import type { WireRequest } from "@berth/core/client/transport/Transport"
import { sumInr } from "@berth/core/domain/Money"
import { Price, sumOfPrices, unknownPrice } from "@berth/core/domain/Price"
import { Predicate, Schema } from "effect"
import { rupees, textOr } from "../output/format.ts"
import { jsonLine } from "../output/json.ts"
import { type Field, jsonOf, type RecordDescriptor } from "../output/RecordDescriptor.ts"
import { pricePerHour, pricePerMonth, priceText } from "../records/price.ts"

const Proposal = Schema.Struct({
  action: Schema.Literals(["create", "delete", "set-commitment"]),
  id: Schema.NullOr(Schema.Int),
  name: Schema.String,
  request: Schema.Struct({
    method: Schema.String,
    path: Schema.String.annotate({ description: "From the root of the service on, without credentials." }),
    body: Schema.Unknown.annotate({ description: "JSON; null where there is none." })
  }),
  ...Price.fields,
  pricePerHourInr: Schema.NullOr(Schema.Number).annotate({
    description: "For a commitment its price spread over its hours; null where it is not known or nothing is ordered."
  }),
  committedPriceInr: Schema.NullOr(Schema.Number).annotate({ description: "For the whole committed period." }),
  outcome: Schema.String.annotate({ description: "The result, in words." })
})
export interface Proposal extends Schema.Schema.Type<typeof Proposal> {}

type Committed = Pick<Proposal, "committedPriceInr">

/** The proposal to send a request. */
export const propose = (
  { body, method, path }: WireRequest,
  change: Pick<Proposal, "action" | "id" | "name" | "outcome"> & Partial<Price & Committed>
): Proposal => ({
  ...unknownPrice,
  committedPriceInr: null,
  ...change,
  request: { method, path, body: body === undefined ? null : JSON.parse(body) }
})

/** The price for people: of an hour and a month, and of the whole period where one is committed to. */
const costText = (price: Price & Committed): string => {
  const running = priceText(price) ?? "price not known"
  return price.committedPriceInr === null ? running : `₹${rupees(price.committedPriceInr)} for the period (${running})`
}

/** The plan and the image of a create. */
const orderOf = ({ request: { body } }: Proposal): string =>
  Predicate.isObject(body) ? ` on ${String(body["plan"])} from ${String(body["image"])}` : ""

/** One change as a sentence. */
export const sentenceOf = (proposal: Proposal): string => {
  const { action, id, name, outcome } = proposal
  switch (action) {
    case "create":
      return `Creating ${name}${orderOf(proposal)}: ${costText(proposal)}${proposal.committedPriceInr === null ? "" : `, ${outcome}`}.`
    case "delete":
      return `Deleting ${name} (${id}): ${outcome}.`
    case "set-commitment":
      return `Setting the commitment of ${name} (${id}): ${outcome}.`
  }
}

const committedTotal = (proposals: ReadonlyArray<Proposal>): number | null => {
  const amounts = proposals.map(({ committedPriceInr }) => committedPriceInr)
  return amounts.some((amount) => amount === null) ? null : sumInr(amounts.filter((amount) => amount !== null))
}

/** What several creates cost together; undefined for other changes. */
export const totalOf = (proposals: ReadonlyArray<Proposal>): string | undefined => {
  const [first] = proposals
  if (first === undefined || proposals.some(({ action }) => action !== "create")) return undefined
  const price = costText({ ...sumOfPrices(proposals), committedPriceInr: committedTotal(proposals) })
  return `Creating ${proposals.length} nodes${orderOf(first)}, together: ${price}.`
}

const subject: ReadonlyArray<Field<Proposal>> = [
  { key: "action", title: "ACTION", value: ({ action }) => action },
  { key: "id", title: "ID", value: ({ id }) => textOr(id === null ? null : String(id)) },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12 }
]

const price: ReadonlyArray<Field<Proposal>> = [
  pricePerHour,
  pricePerMonth,
  {
    key: "committedPriceInr",
    title: "₹ COMMITTED",
    value: ({ committedPriceInr }) => rupees(committedPriceInr),
    align: "right"
  }
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

const isPriced = (proposals: ReadonlyArray<Proposal>): boolean =>
  proposals.some(({ action, committedPriceInr }) => action === "create" || committedPriceInr !== null)

/** The fields that are shown before a change is confirmed: those of `--dry-run` without the request. */
export const shownFields = (proposals: ReadonlyArray<Proposal>): ReadonlyArray<Field<Proposal>> =>
  [...subject, ...(isPriced(proposals) ? price : []), ...change].filter(
    ({ key }) => key !== "action" && key !== "request"
  )

export const proposalRecord: RecordDescriptor<Proposal> = {
  ...jsonOf(Proposal),
  fields: (proposals) => [
    ...subject,
    ...(proposals.length === 0 || isPriced(proposals) ? price : []),
    ...change,
    ...(proposals.length === 0 || proposals.some(({ request }) => request.body !== null) ? [body] : [])
  ],
  none: "no changes to make"
}
