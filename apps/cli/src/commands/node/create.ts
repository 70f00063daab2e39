/**
 * `berth node create`: shows the cost of the nodes, asks if necessary, and creates them.
 */
import { IntentStore, recordedCreate } from "@berthkit/core/client/creation/IntentStore"
import { isSpelling } from "@berthkit/core/client/creation/Ownership"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { CommittedOption } from "@berthkit/core/domain/Commitment"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Image } from "@berthkit/core/domain/Image"
import type { Node } from "@berthkit/core/domain/Node"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { fromImages } from "@berthkit/core/domain/Plan"
import { DateTime, Effect, Option, Result } from "effect"
import { quoted } from "@berthkit/terminal/quoted"
import { command } from "../command.ts"
import { waitCommand } from "../../failure/callInWords.ts"
import { keepCreated } from "../../commitmentLog/CommitmentLog.ts"
import { freshCatalogue, knownPlans, recentCatalogue, type TimedCatalogue } from "../../catalogue/ImageList.ts"
import {
  type CreatedNotReady,
  type PriceRisen,
  SomeFailed,
  type SshSilent,
  UsageFault
} from "../../failure/CliFailure.ts"
import { problemOf } from "../../failure/Problem.ts"
import { withListed, withListedFields } from "../../nodes/allNodes.ts"
import { existingNodes } from "../../nodes/ifAbsent.ts"
import { reportProblem, whenInterrupted } from "../../output/reportProblem.ts"
import { untilCreatedAnswers, untilCreatedRuns } from "../../nodes/waitFor.ts"
import { type Changed, Output, printNote, reportingChanged } from "../../output/Output.ts"
import { printAll, printOne } from "../../output/print.ts"
import { reportLeftOut, type ShowState, withCount, withProgress } from "../../output/progress.ts"
import { boundOf, checkCommitments, checkMinimum } from "../../proposal/limits.ts"
import { approve, type Offered } from "../../proposal/Proposal.ts"
import { canAsk } from "../../proposal/confirm.ts"
import { guidedForm } from "../../proposal/guidedForm.ts"
import { currentPrice, type Quote, quoteFor, quoteOf } from "../../proposal/currentPrice.ts"
import { checkCost, createProposal, offerFor, planFault, underSlug } from "../../proposal/offer.ts"
import { type Creation, creationRecord } from "../../records/creation.ts"
import { currencyName } from "../../records/price.ts"
import { creatingClient } from "../../settings/client.ts"
import {
  ensureConsistent,
  isWhole,
  missingFault,
  type Options,
  parameters,
  specOf,
  type Wanted,
  wantedNodes
} from "./createFlags.ts"

/** The plans in the guided form, without those that are sold out. */
const plansToOffer = (images: ReadonlyArray<Image>) => fromImages(images.filter(({ available }) => available !== false))

/** How many creates run at a time. */
const concurrency = 4

const listByName = (name: string) => `berth node list --name ${quoted(name)}`

/** Reports creates whose processes were killed before the outcome was known. It reports each create once, and only if notes are wanted. */
const reportAbandoned = Effect.gen(function* () {
  const { chatty, followable } = yield* Output
  if (!chatty) return
  const abandoned = yield* Effect.orElseSucceed((yield* IntentStore)?.takeAbandoned ?? Effect.succeed([]), () => [])
  for (const { name, sentAt } of abandoned) {
    const when = DateTime.formatIso(DateTime.makeUnsafe(sentAt?.wallMillis ?? 0))
    const hint = followable(`Check whether it exists: ${listByName(name)}`)
    yield* printNote(`An earlier create of ${name} was interrupted (${when}). ${hint}`)
  }
})

/** Whether an earlier create used this key. False if the store cannot be read; the create itself then fails. */
const wasUsed = Effect.fnUntraced(function* (key: string | undefined) {
  return key !== undefined && Boolean(yield* recordedCreate(key))
})

/** Fails, before any node is created, if a key that `--count` derives belongs to another create. */
const ensureOwnKeys = Effect.fnUntraced(function* (wanted: ReadonlyArray<Wanted>, { count, key: given }: Options) {
  if (count === undefined || given === undefined) return
  for (const { key, spec } of wanted) {
    const found = key === undefined ? undefined : yield* recordedCreate(key)
    if (!found || (found.name === spec.name && found.plan === spec.plan)) continue
    return yield* new UsageFault({
      message: `The key ${key}, which --count makes of ${given}, belongs to another create, of ${found.name} on ${found.plan}.`,
      hint: "Use another --idempotency-key with --count. Nothing was created."
    })
  }
})

/** The state of a create after Ctrl-C, and how to find its outcome. */
const maybeCreated = ({ key, spec: { name } }: Wanted) => ({
  message: `Interrupted before the reply came; the node ${name} may exist.`,
  hint: key === undefined ? `Check whether it exists: ${listByName(name)}` : "Run the same command again to finish."
})

/** The nodes created before Ctrl-C; undefined if there are none. */
const createdSoFar = (ids: ReadonlyArray<string>, total: number, { count, wait }: Options) => {
  if (ids.length === 0) return undefined
  const what = count === undefined ? "the node exists" : `${ids.length} of ${total} nodes exist`
  return {
    message: `Interrupted; ${what} and ${ids.length === 1 ? "is" : "are"} billed.`,
    hint: wait ? waitCommand(ids, { goal: "running" }) : `See what exists: berth node get ${ids.join(" ")}`
  }
}

/**
 * Reads the node again, so that its record has the same form as in every other command. If the read fails or shows another name, returns
 * the record of the create's reply.
 */
const asShown = Effect.fnUntraced(function* (node: Node, asked: string) {
  const read = Nodes.use((nodes) => nodes.get(node.id, { retry: false, deadline: "5 seconds" }))
  const shown = yield* Effect.orElseSucceed(read, () => node)
  if (shown.name !== node.name && isSpelling(shown.name, asked)) {
    yield* printNote(`The service calls node ${node.id} ${shown.name}.`)
  }
  return withListed(isSpelling(shown.name, node.name) || isSpelling(shown.name, asked) ? shown : node, node)
})

/** Whether an earlier create with this key is known to have made a node. If so, nothing is bought. */
const isMade = Effect.fnUntraced(function* (key: string | undefined) {
  return key !== undefined && ((yield* recordedCreate(key))?.nodeId ?? null) !== null
})

/** Sends one create. Fails if the node costs more than was shown. */
const send = Effect.fnUntraced(function* (wanted: Wanted, affordable: Affordable) {
  const { key, spec } = wanted
  if (!(yield* isMade(key))) yield* affordable
  const isAgain = yield* wasUsed(key)
  if (isAgain) yield* printNote("The key was used before: if it created a node, no other is created.")
  const nodes = yield* Nodes
  const plans = yield* knownPlans
  const { node, outcome } = yield* whenInterrupted(() => maybeCreated(wanted))(nodes.create(spec, { key, plans }))
  const found = isAgain ? " earlier with the same key" : " (no reply named it; found it in the list)"
  const spelled = node.name === spec.name ? "" : ` The service calls it ${node.name}.`
  yield* printNote(`Created node ${node.id}${outcome === "created" ? "" : found}.${spelled}`)
  // The node of an earlier create was read by id, so it does not have the fields of the list.
  const [whole = node] = yield* withListedFields([node])
  return { ...whole, outcome } as Creation
})

/** The result of a create: the node, if any, and why it failed or why its node does not run. */
interface Made {
  readonly creation?: Creation
  readonly failure?: BerthError | CreatedNotReady | PriceRisen | SshSilent | UsageFault
}

/** Fails if a node costs more than was shown. */
type Affordable = Effect.Success<ReturnType<typeof priceNow>>

const priceNow = (spec: NodeSpec, quote: Quote, options: Options) =>
  currentPrice(`${spec.plan} with ${spec.image}`, quote, quoteFor(spec, options))

/** Creates one node, and waits for it if requested. */
const createOne = Effect.fnUntraced(function* (
  wanted: Wanted,
  existing: Node | undefined,
  options: Options,
  affordable: Affordable,
  show: ShowState,
  onCreated: (creation: Creation) => void
): Effect.fn.Return<Made, never, Effect.Services<ReturnType<typeof send>>> {
  if (existing !== undefined) yield* printNote(`Node ${existing.name} (${existing.id}) exists.`)
  const sent = yield* existing === undefined
    ? Effect.result(send(wanted, affordable))
    : Effect.succeed(Result.succeed<Creation>({ ...existing, outcome: "existing" }))
  if (Result.isFailure(sent)) return { failure: sent.failure }
  const creation = sent.success
  onCreated(creation)
  if (options.wait) {
    const until = options.wait === "ssh" ? untilCreatedAnswers : untilCreatedRuns
    return yield* Effect.match(
      until(creation, { isPublic: wanted.spec.publicIp !== false, timeout: options.timeout }, show),
      {
        onFailure: (failure) => ({ creation, failure }),
        onSuccess: (running) => ({ creation: { ...running, outcome: creation.outcome } })
      }
    )
  }
  return {
    creation:
      existing === undefined ? { ...(yield* asShown(creation, wanted.spec.name)), outcome: creation.outcome } : creation
  }
})

/** Creates all nodes. If there are several, a failure does not stop the others. */
const createAll = (
  wanted: ReadonlyArray<Wanted>,
  existing: ReadonlyMap<string, Node>,
  options: Options,
  affordable: Affordable,
  onCreated: (creation: Creation) => void
) =>
  (options.wait ? withProgress : withCount)(
    { goal: options.wait ? "running" : "created", total: wanted.length },
    (show) =>
      Effect.forEach(
        wanted,
        (each) =>
          Effect.tap(
            createOne(each, existing.get(each.spec.name), options, affordable, show, onCreated),
            ({ creation }) =>
              options.wait || creation === undefined ? Effect.void : show({ what: creation.name, state: "created" })
          ),
        { concurrency }
      )
  )

/**
 * Records the commitments of the nodes, which the service does not report. If an earlier create made the node, its commitment began at the
 * time of that create.
 */
const keepCommitments = (
  made: ReadonlyArray<Made>,
  option: CommittedOption,
  { commitmentSetting }: Pick<NodeSpec, "commitmentSetting">
) =>
  Effect.forEach(
    made.flatMap(({ creation }) => creation ?? []),
    Effect.fnUntraced(function* ({ createdAt, id, outcome }) {
      if (outcome === "existing") return
      yield* keepCreated(id, option, outcome === "created" ? null : createdAt, commitmentSetting)
    }),
    { discard: true }
  )

/** The created nodes, for a command that was stopped before it printed their records; undefined if there are none. */
const changedBy = (creations: ReadonlyArray<Creation>): Changed | undefined => {
  const made = creations.filter(({ outcome }) => outcome !== "existing").map(({ id, name }) => ({ id, name }))
  const [only] = made
  if (only === undefined) return undefined
  const ids = made.map(({ id }) => id)
  const what = made.length === 1 ? `Node ${only.id} (${only.name}) was` : `Nodes ${ids.join(", ")} were`
  return {
    message: `${what} created, and ${made.length === 1 ? "is" : "are"} billed.`,
    hint: `See what exists: berth node get ${ids.join(" ")}`,
    details: { nodes: made }
  }
}

/** Prints the created nodes; failures are reported and fail the command. */
const printCreations = Effect.fnUntraced(function* (results: ReadonlyArray<Made>, single: boolean) {
  const creations = results.flatMap(({ creation }) => creation ?? [])
  const failures = results.flatMap(({ failure }) => failure ?? [])
  const [only] = creations
  if (!single) yield* reportingChanged(changedBy(creations))(printAll(creationRecord, creations))
  else if (only !== undefined) yield* reportingChanged(changedBy(creations))(printOne(creationRecord, only))
  const [first] = failures
  if (first === undefined) return
  if (single) return yield* first
  for (const failure of failures) yield* reportProblem(problemOf(failure))
  return yield* new SomeFailed({ failed: failures.length, of: results.length })
})

export const create = command(
  parameters,
  Effect.fnUntraced(function* (options) {
    yield* ensureConsistent(options)
    const asked = yield* specOf(options)
    if (!isWhole(asked) && !(yield* canAsk)) return yield* missingFault(asked)
    const catalogue = yield* recentCatalogue
    yield* reportLeftOut
    const { images } = catalogue
    const slugged = underSlug(asked, images)
    const given = options.force ? Result.getOrElse(slugged, () => asked) : yield* Effect.fromResult(slugged)
    // Refuse an impossible plan before asking for the other values.
    const { plan } = given
    const noPlan = plan === undefined || options.force ? undefined : planFault({ ...given, plan }, images)
    if (noPlan !== undefined) return yield* Effect.fromResult(noPlan)
    const spec = isWhole(given)
      ? given
      : yield* Effect.fromResult(underSlug(yield* guidedForm(given, plansToOffer(images)), images))
    const wanted = yield* Effect.fromResult(wantedNodes(spec, options))
    yield* ensureOwnKeys(wanted, options)
    const single = options.count === undefined
    const offered = Effect.fnUntraced(function* (catalogue: TimedCatalogue) {
      const offer = yield* offerFor(spec, catalogue, options)
      const specs = wanted.map((each) => each.spec)
      const existing = options.ifAbsent ? yield* existingNodes(wanted) : new Map<string, Node>()
      const proposals = specs.flatMap((each) => (existing.has(each.name) ? [] : [createProposal(each, offer)]))
      yield* checkCost(proposals, spec, offer, options.maxCost)
      yield* checkMinimum(
        proposals.map(({ minimumBillingInr }) => minimumBillingInr),
        options.maxMinimum
      )
      const periods = spec.committedSkuId === undefined ? [] : proposals
      yield* checkCommitments(
        periods.map(({ committedPriceInr }) => committedPriceInr),
        boundOf(options),
        undefined,
        offer.foreignPrice && currencyName(offer.foreignPrice)
      )
      const quote = quoteOf(spec, offer, catalogue)
      const order = { existing, option: offer.option, quote }
      return { proposals, single: single && proposals.length === 1, order } satisfies Offered<typeof order>
    })
    const first = yield* offered(catalogue)
    const approved = yield* approve(first, Effect.flatMap(freshCatalogue, offered), {
      verb: "create",
      mustAsk:
        wanted.length > 1 ||
        !isWhole(given) ||
        spec.committedSkuId !== undefined ||
        first.proposals.some(({ pricePerHourInr }) => pricePerHourInr === null),
      yes: options.yes,
      dryRun: options.dryRun
    })
    if (Option.isNone(approved)) return
    const { existing, option, quote } = approved.value
    const affordable = yield* priceNow(spec, quote, options)

    yield* reportAbandoned
    const ids: Array<string> = []
    const created = Effect.tap(
      createAll(wanted, existing, options, affordable, ({ id }) => ids.push(String(id))),
      (results) => (option === undefined ? Effect.void : keepCommitments(results, option, spec))
    )
    const results = yield* whenInterrupted(() => createdSoFar(ids, wanted.length, options))(created)
    yield* printCreations(results, single)
  }),
  ({ key }) => creatingClient(key)
)
