/**
 * The steps that all changes have in common. A proposal contains the exact request, its price, and its outcome. It is shown before anything
 * is sent; with `--dry-run` it is only printed. After the confirmation, if one is needed, exactly the proposed request is sent.
 */
import type { WireRequest } from "@berthkit/core/client/transport/Transport"
import { ForeignAmount } from "@berthkit/core/domain/Commitment"
import { ForeignPrice } from "@berthkit/core/domain/Image"
import { sumIfKnown } from "@berthkit/core/domain/Money"
import { Price, sumOfPrices, unknownPrice } from "@berthkit/core/domain/Price"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Effect, Option, Predicate, Schema } from "effect"
import { capitalized, foreignAmount, rupees, textOr } from "../output/format.ts"
import { jsonLine } from "../output/json.ts"
import { type Field, inr, jsonOf, type RecordDescriptor } from "../output/RecordDescriptor.ts"
import { anyPricePerHour, anyPricePerMonth, foreignPriceText, minimumCharge, priceText } from "../records/price.ts"
import { Output } from "../output/Output.ts"
import { printAll, printOne } from "../output/print.ts"
import { table } from "../output/table.ts"
import { confirm, ensureAskable } from "./confirm.ts"

export const Proposal = Schema.Struct({
  action: Schema.Literals(["create", "delete", "set-commitment"]),
  id: Schema.NullOr(Schema.Int),
  name: Schema.String,
  request: Schema.Struct({
    method: Schema.String,
    path: Schema.String.annotate({ description: "Path from the root of the service, without credentials." }),
    body: Schema.Unknown.annotate({ description: "JSON; null if there is none." })
  }),
  ...Price.fields,
  pricePerHourInr: Schema.NullOr(Schema.Number).annotate({
    description: "For a commitment its price spread over its hours; null if it is not known or nothing is ordered."
  }),
  committedPriceInr: Schema.NullOr(Schema.Number).annotate({ description: "For the whole committed period." }),
  minimumBillingInr: Schema.NullOr(Schema.Number).annotate({
    description:
      "The minimum that is billed for a node by the hour, in rupees; null if it is not known, or no such node is created."
  }),
  foreignCommittedPrice: Schema.NullOr(ForeignAmount).annotate({
    description: "For the whole committed period, in a currency other than rupees; `committedPriceInr` is null then."
  }),
  foreignPrice: Schema.NullOr(ForeignPrice).annotate({
    description: "The price in a currency other than rupees; those in rupees are null then."
  }),
  outcome: Schema.String.annotate({ description: "The result, in words." })
})
export interface Proposal extends Schema.Schema.Type<typeof Proposal> {}

type Terms = Pick<Proposal, "committedPriceInr" | "foreignCommittedPrice" | "minimumBillingInr" | "foreignPrice">

/** The proposal to send a request. */
export const propose = (
  { body, method, path }: WireRequest,
  change: Pick<Proposal, "action" | "id" | "name" | "outcome"> & Partial<Price & Terms>
): Proposal => ({
  ...unknownPrice,
  committedPriceInr: null,
  foreignCommittedPrice: null,
  minimumBillingInr: null,
  foreignPrice: null,
  ...change,
  request: { method, path, body: body === undefined ? null : JSON.parse(body) }
})

/** The price for people: per hour and month with the minimum charge, or for the whole committed period. */
const costText = ({
  committedPriceInr,
  foreignCommittedPrice,
  foreignPrice,
  minimumBillingInr,
  ...price
}: Price & Terms): string => {
  if (foreignCommittedPrice !== null) {
    return `${foreignAmount(foreignCommittedPrice.currency, foreignCommittedPrice.amount)} for the period`
  }
  if (foreignPrice !== null) return foreignPriceText(foreignPrice)
  const running = priceText(price) ?? "price not known"
  if (committedPriceInr !== null) return `₹${rupees(committedPriceInr)} for the period (${running})`
  return minimumBillingInr === null || minimumBillingInr === 0
    ? running
    : `${running}, minimum charge ₹${rupees(minimumBillingInr)}`
}

/** The plan and image of a create. */
const orderOf = ({ request: { body } }: Proposal): string =>
  Predicate.isObject(body) ? ` on ${String(body["plan"])} from ${String(body["image"])}` : ""

/** The usual outcome of a create. It is not shown next to a price. */
export const byTheHour = "billed by the hour until deleted"

/** The price of a create, and the outcome. */
const termsOf = (proposal: Proposal): string =>
  `${costText(proposal)}${proposal.outcome === byTheHour ? "" : `, ${proposal.outcome}`}`

/** For each action, the words at the beginning of a sentence and of a question. */
const verbs: Readonly<Record<Proposal["action"], readonly [sentence: string, question: string]>> = {
  create: ["Creating", "Create node"],
  delete: ["Deleting", "Delete node"],
  "set-commitment": ["Setting the commitment of", "Set the commitment of node"]
}

/** A name in a sentence. It is quoted if a reader could take it for our own words, such as another price. */
export const nameIn = (name: string): string => (/^[\p{L}\p{M}\p{N}._-]+$/u.test(name) ? name : jsonLine(name))

/** The node of a change, and everything that a person should know before the change. */
const partsOf = (proposal: Proposal): readonly [what: string, terms: string] =>
  proposal.action === "create"
    ? [`${nameIn(proposal.name)}${orderOf(proposal)}`, termsOf(proposal)]
    : [`${nameIn(proposal.name)} (${proposal.id})`, proposal.outcome]

/** One change in several lines, with one fact in each. The first line has the price or the loss. */
export const factsOf = (proposal: Proposal): ReadonlyArray<string> => {
  const { action, name, request } = proposal
  if (action !== "create") {
    const what = action === "delete" ? "Delete a node" : "Set the commitment of a node"
    return [`${what}: ${proposal.outcome}.`]
  }
  const { image, plan } = Predicate.isObject(request.body) ? request.body : {}
  return [
    `Create a node: ${termsOf(proposal)}.`,
    `Plan: ${String(plan)}`,
    `Image: ${String(image)}`,
    `Name: ${nameIn(name)}`
  ]
}

/** One planned change as a sentence. */
export const sentenceOf = (proposal: Proposal): string => {
  const [what, terms] = partsOf(proposal)
  return `${verbs[proposal.action][0]} ${what}: ${terms}.`
}

/** One change as a question with everything that a person should know. */
const oneQuestion = (proposal: Proposal): string => {
  const [what, terms] = partsOf(proposal)
  return `${verbs[proposal.action][1]} ${what}? ${capitalized(terms)}.`
}

const totalIn = (proposals: ReadonlyArray<Proposal>, key: "committedPriceInr" | "minimumBillingInr"): number | null =>
  sumIfKnown(proposals.map((proposal) => proposal[key]))

/** The total price of several creates, which all have the same order. Prices in another currency are not added up. */
const togetherOf = (proposals: ReadonlyArray<Proposal>): string => {
  const foreign = proposals.find(
    ({ foreignCommittedPrice, foreignPrice }) => foreignCommittedPrice !== null || foreignPrice !== null
  )
  if (foreign !== undefined) return `together: each ${costText(foreign)}`
  return `together: ${costText({ ...sumOfPrices(proposals), foreignCommittedPrice: null, foreignPrice: null, committedPriceInr: totalIn(proposals, "committedPriceInr"), minimumBillingInr: totalIn(proposals, "minimumBillingInr") })}`
}

const areCreates = (proposals: ReadonlyArray<Proposal>): boolean => proposals.every(({ action }) => action === "create")

/** The total price of several creates, as a sentence; undefined for other changes. */
const totalOf = (proposals: ReadonlyArray<Proposal>): string | undefined => {
  const [first] = proposals
  if (first === undefined || !areCreates(proposals)) return undefined
  return `Creating ${proposals.length} nodes${orderOf(first)}, ${togetherOf(proposals)}.`
}

/** The question before changes of one kind. For several changes, a table was shown before. */
export const questionOf = (proposals: ReadonlyArray<Proposal>): string => {
  const [first] = proposals
  if (first === undefined) return ""
  if (proposals.length === 1) return oneQuestion(first)
  const { length } = proposals
  return areCreates(proposals)
    ? `Create these ${length} nodes${orderOf(first)}? ${capitalized(togetherOf(proposals))}.`
    : `Delete these ${length} nodes? Their disks are deleted too.`
}

const subject: ReadonlyArray<Field<Proposal>> = [
  { key: "action", title: "ACTION", value: ({ action }) => action },
  { key: "id", title: "ID", value: ({ id }) => textOr(id === null ? null : String(id)) },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12 }
]

const price: ReadonlyArray<Field<Proposal>> = [
  anyPricePerHour,
  anyPricePerMonth,
  {
    ...inr("committedPriceInr", "₹ COMMITTED"),
    value: ({ committedPriceInr, foreignCommittedPrice: foreign }) =>
      foreign === null ? rupees(committedPriceInr) : foreignAmount(foreign.currency, foreign.amount)
  },
  minimumCharge
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
  proposals.some(
    ({ action, committedPriceInr, foreignCommittedPrice }) =>
      action === "create" || committedPriceInr !== null || foreignCommittedPrice !== null
  )

/** The fields shown before a confirmation: those of `--dry-run` without the request. */
const shownFields = (proposals: ReadonlyArray<Proposal>): ReadonlyArray<Field<Proposal>> =>
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

/** How a change is approved. */
export interface Approval {
  /** What the command does, as a verb such as `delete`, for messages. */
  readonly verb: string
  /** Whether the change needs a confirmation. */
  readonly mustAsk: boolean
  /** `--yes`: already confirmed. */
  readonly yes: boolean
  readonly dryRun: boolean
}

/** Proposals, with the data to carry them out. */
export interface Offered<A> {
  readonly proposals: ReadonlyArray<Proposal>
  /** Whether one node was named alone, so that JSON is one object. */
  readonly single: boolean
  /** The data to carry the proposals out. */
  readonly order: A
}

/** Maximum number of changes that are shown. If there are more, only the first are shown, and the user must type the count. */
const maxShown = 20

/**
 * Shows several proposals as a table, with their total price, and a single one as a sentence. If a question follows, it contains the total
 * price or the sentence, so they are left out here. With `--quiet`, proposals are shown only before a question.
 */
const show = Effect.fnUntraced(function* (proposals: ReadonlyArray<Proposal>, isAsked: boolean) {
  const { chatty, note, stderr } = yield* Output
  const [first] = proposals
  if (first === undefined || !(chatty || isAsked)) return
  const line = (text: string) => note(escapeControls(text))
  if (proposals.length === 1) return isAsked ? undefined : yield* line(sentenceOf(first))
  const shown = proposals.slice(0, maxShown)
  const options = { available: stderr.columns, colour: stderr.colour }
  yield* note(table(shownFields(shown), shown, options).text.trimEnd())
  const total = isAsked ? undefined : totalOf(proposals)
  if (proposals.length > shown.length) yield* line(`… and ${proposals.length - shown.length} more.`)
  if (total !== undefined) yield* line(total)
})

/** Fails if a change needs a confirmation and there is no terminal, before anything is read for it. */
export const ensureApprovable = ({ dryRun, mustAsk, verb, yes }: Approval) =>
  mustAsk && !yes && !dryRun ? ensureAskable(verb) : Effect.void

const encodeProposals = Schema.encodeSync(Schema.fromJsonString(Schema.Array(Proposal)))

/** Whether two offers are equal in everything that is shown or sent. */
const isSame = (a: Offered<unknown>, b: Offered<unknown>): boolean =>
  encodeProposals(a.proposals) === encodeProposals(b.proposals)

const askAbout = (proposals: ReadonlyArray<Proposal>, verb: string) => {
  const count = proposals.length
  return confirm({ question: questionOf(proposals), count: count > maxShown ? count : undefined, verb })
}

/**
 * Returns the order to carry out; none with `--dry-run`. Fails if the user does not confirm. A question may stay open
 * for hours, so after a yes `again` reads everything once more. If anything that was shown has changed, this function
 * shows the proposals and asks again.
 */
export const approve = Effect.fnUntraced(function* <A, E, R>(
  offered: Offered<A>,
  again: Effect.Effect<Offered<A>, E, R>,
  approval: Approval
) {
  const { dryRun, mustAsk, verb, yes } = approval
  const { proposals, single } = offered
  const [first] = proposals
  if (dryRun) {
    yield* single && first !== undefined ? printOne(proposalRecord, first) : printAll(proposalRecord, proposals)
    return Option.none<A>()
  }
  if (first === undefined) return Option.some(offered.order)
  yield* ensureApprovable(approval)
  const isAsked = mustAsk && !yes
  yield* show(proposals, isAsked)
  if (!isAsked) return Option.some(offered.order)
  yield* askAbout(proposals, verb)
  let shown = offered
  while (true) {
    const now = yield* again
    if (now.proposals.length === 0 || isSame(shown, now)) return Option.some(now.order)
    yield* (yield* Output).note(
      "The change is different from what was shown before the question. Nothing has been done yet."
    )
    yield* show(now.proposals, true)
    yield* askAbout(now.proposals, verb)
    shown = now
  }
})
