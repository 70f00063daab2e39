/**
 * What a change is about to do: the very request, the money, and the result. It is shown before anything is sent, and `--dry-run`
 * prints it.
 */
import type { WireRequest } from "@berth/core/client/transport/Transport"
import { Predicate, Schema } from "effect"
import { rupees, textOr } from "../output/format.ts"
import { jsonLine } from "../output/json.ts"
import { type Field, jsonOf, type RecordDescriptor } from "../output/RecordDescriptor.ts"
import { pricePerHour, pricePerMonth } from "../records/price.ts"

const Proposal = Schema.Struct({
  action: Schema.Literals(["create", "delete", "set-commitment"]),
  id: Schema.NullOr(Schema.Int),
  name: Schema.String,
  request: Schema.Struct({
    method: Schema.String,
    path: Schema.String.annotate({ description: "From the root of the service on, without credentials." }),
    body: Schema.Unknown.annotate({ description: "JSON; null where there is none." })
  }),
  pricePerHourInr: Schema.NullOr(Schema.Number).annotate({
    description: "For a commitment its price spread over its hours; null where it is not known or nothing is ordered."
  }),
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

/** What there is to say of how a node was found: the index may have a name that the node has no more, and lack another that has it. */
export const foundBy = (from: "id" | "list" | "index"): string =>
  from === "index" ? "; found by the name index, not by the whole list: see that this id is the one you mean" : ""

/** The price for people: of an hour and a month, and of the whole period where one is committed to. */
const priceText = ({ committedPriceInr, pricePerHourInr, pricePerMonthInr }: Price): string => {
  const perHour =
    pricePerHourInr === null
      ? "price not known"
      : `₹${rupees(pricePerHourInr)} per hour${pricePerMonthInr === null ? "" : `, ₹${rupees(pricePerMonthInr)} per month`}`
  return committedPriceInr === null ? perHour : `₹${rupees(committedPriceInr)} for the period (${perHour})`
}

/** The plan and the image of a create. */
const orderOf = ({ request: { body } }: Proposal): string =>
  Predicate.isObject(body) ? ` on ${String(body["plan"])} from ${String(body["image"])}` : ""

/** One change as a sentence. */
export const sentenceOf = (proposal: Proposal): string => {
  const { action, id, name, outcome } = proposal
  switch (action) {
    case "create":
      return `Creating ${name}${orderOf(proposal)}: ${priceText(proposal)}${proposal.committedPriceInr === null ? "" : `, ${outcome}`}.`
    case "delete":
      return `Deleting ${name} (${id}): ${outcome}.`
    case "set-commitment":
      return `Setting the commitment of ${name} (${id}): ${outcome}.`
  }
}

/** A price to the paisa: sums of decimal fractions are a little off. */
export const toPaise = (amount: number): number => Math.round(amount * 100) / 100

/** What several cost together; null where one of the prices is not known. */
export const sumOf = (amounts: ReadonlyArray<number | null>): number | null =>
  amounts.reduce((sum, amount) => (sum === null || amount === null ? null : toPaise(sum + amount)), 0)

/** What several creates cost together; undefined for other changes. */
export const totalOf = (proposals: ReadonlyArray<Proposal>): string | undefined => {
  const [first] = proposals
  if (first === undefined || proposals.some(({ action }) => action !== "create")) return undefined
  const isCommitted = proposals.some(({ committedPriceInr }) => committedPriceInr !== null)
  const price = priceText({
    pricePerHourInr: sumOf(proposals.map(({ pricePerHourInr }) => pricePerHourInr)),
    pricePerMonthInr: sumOf(proposals.map(({ pricePerMonthInr }) => pricePerMonthInr)),
    committedPriceInr: isCommitted ? sumOf(proposals.map(({ committedPriceInr }) => committedPriceInr)) : null
  })
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
