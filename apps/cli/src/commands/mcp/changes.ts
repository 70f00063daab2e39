/**
 * The changing tools: `propose` describes a change and sends nothing; `execute` carries it out once, after a person has consented to
 * exactly that change.
 */
import { recordedCreate } from "@berthkit/core/client/creation/IntentStore"
import { Nodes } from "@berthkit/core/client/Nodes"
import { endingWithin } from "@berthkit/core/client/call/Deadline"
import { BerthError } from "@berthkit/core/domain/BerthError"
import { commitmentSettings, takesOption } from "@berthkit/core/domain/Commitment"
import type { Node } from "@berthkit/core/domain/Node"
import { Clock, Effect, Schema } from "effect"
import { McpSchema } from "effect/ai"
import { knownPlans } from "../../catalogue/ImageList.ts"
import { buysPeriod, keepCreated } from "../../commitmentLog/CommitmentLog.ts"
import { commandOf, mayBeSet, sendCommitment } from "../../commitmentLog/sendCommitment.ts"
import { withoutUndefined } from "../../commandLine/Parameter.ts"
import { ProposalRefused, UsageFault } from "../../failure/CliFailure.ts"
import { beginsAsKey, isPrivateKey, keyById, namesFile } from "../../proposal/sshKey.ts"
import { resolveNode } from "../../nodes/resolve.ts"
import { Output } from "../../output/Output.ts"
import { Proposal, sentenceOf } from "../../proposal/Proposal.ts"
import {
  expiryOf,
  isCurrent,
  isSame,
  type Kept,
  type Order,
  type Outcome,
  type ProposalStore
} from "../../proposal/ProposalStore.ts"
import { nodeRecord } from "../../records/node.ts"
import { optionFor } from "../commitment/set.ts"
import {
  type Data,
  integer,
  keysOf,
  node as nodeArgument,
  oneOf,
  parts,
  reading,
  required,
  text,
  texts,
  toggle,
  tool,
  withoutNoNode
} from "./Tool.ts"
import { type Action, actions, type Bounds, makeBounds, notAllowed } from "./bounds.ts"
import { makeConsent } from "./consent.ts"
import { within } from "./reads.ts"
import { termsOf } from "./terms.ts"

/** The time limit of a change, including all reads before and after it. Agents' programs give up after a minute. */
const sendingWithin = endingWithin("50 seconds")

const proposing = Schema.Struct({
  action: required(oneOf(actions)),
  name: text("of the new node"),
  plan: text(),
  image: text(),
  sshKeys: texts,
  tags: texts,
  backups: toggle,
  publicIp: toggle,
  disk: integer(1, undefined, "GB, some plans need it"),
  sku: integer(0, undefined, "committed option"),
  node: nodeArgument,
  setting: oneOf(commitmentSettings)
})

/** The arguments of each action. */
const argumentsOf = {
  create: { needs: ["name", "plan", "image"], takes: ["sshKeys", "tags", "backups", "publicIp", "disk", "sku"] },
  delete: { needs: ["node"], takes: [] },
  commit: { needs: ["node", "setting"], takes: ["sku"] }
} as const

type Proposing = typeof proposing.Type

/** Why the arguments do not fit the action; undefined if they do. */
const faultOf = ({ action, ...given }: Proposing): UsageFault | undefined => {
  const { needs, takes } = argumentsOf[action]
  const names = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  const missing = needs.filter((name) => !names.includes(name))
  const surplus = names.filter((name) => ![...needs, ...takes].some((known) => known === name))
  if (missing.length === 0 && surplus.length === 0) return undefined
  const message =
    missing.length > 0 ? `To ${action}, give ${missing.join(", ")}.` : `${action} takes no ${surplus.join(", ")}.`
  return new UsageFault({ message, hint: `It takes ${[...needs, ...takes].join(", ")}.` })
}

/** A proposal as the agent gets it. */
const shown = (kept: Kept): Data => ({
  id: kept.id,
  expiresAt: expiryOf(kept),
  summary: sentenceOf(kept.terms.proposal),
  proposal: kept.terms.proposal,
  node: kept.terms.about
})

/** The order that the arguments describe, and its node if the node had to be read. */
const orderOf = Effect.fnUntraced(function* (given: Proposing) {
  const {
    action,
    backups,
    disk,
    image = "",
    name = "",
    node = "",
    plan = "",
    publicIp,
    setting,
    sku,
    sshKeys,
    tags
  } = given
  if (action === "create") {
    if (sshKeys?.some((key) => key.trim() === "" || isPrivateKey(key) || namesFile(key.trim())) === true) {
      return yield* new UsageFault({
        message: "sshKeys has an empty text, a path, or a private key, which must never leave this machine.",
        hint: "Give the texts of public keys, fingerprints or ids."
      })
    }
    for (const key of sshKeys ?? []) if (!beginsAsKey(key.trim())) yield* keyById("sshKeys", key)
    const options = withoutUndefined({ sshKeys, tags, backups, publicIp, disk, committedSkuId: sku })
    const order: Order = { action, spec: { name, plan, image, ...options } }
    return { order, node: undefined }
  }
  const found = yield* resolveNode(node, { change: true })
  const { id } = found
  if (action === "delete") return { order: { action, id } satisfies Order as Order, node: found }
  if (sku !== undefined && sku !== 0 && (setting === undefined || !takesOption(setting))) {
    return yield* new UsageFault({ message: `sku goes with auto_renew, not with ${setting}.`, hint: "Leave sku out." })
  }
  const order: Order = { action, id, setting: setting ?? "hourly_billing", skuId: sku ?? null }
  return { order, node: found }
})

/** Records the commitment of a node, which the service does not report. */
const keepCommitment = Effect.fnUntraced(function* (
  { createdAt, id }: Node,
  spec: { plan: string; image: string | number; committedSkuId?: number | undefined }
) {
  if (spec.committedSkuId === undefined) return
  yield* optionFor({ plan: spec.plan, image: String(spec.image) }, spec.committedSkuId).pipe(
    Effect.flatMap((option) => keepCreated(id, option, createdAt)),
    Effect.ignore
  )
})

const deleting = (proposal: string, id: number): Outcome => ({
  proposal,
  outcome: "deleting",
  message: `Node ${id} is being deleted. Wait for its end with wait.`,
  node: null
})

/** Sends the request of a proposal. A create uses the proposal's id as its key, so it makes one node however often it is sent. */
const send = Effect.fnUntraced(function* ({ id: key, terms: { about, order } }: Kept) {
  const nodes = yield* Nodes
  switch (order.action) {
    case "create": {
      const { node, outcome } = yield* nodes.create(order.spec, { key, plans: yield* knownPlans })
      yield* keepCommitment(node, order.spec)
      const spelled = node.name === order.spec.name ? "" : ` The service calls it ${node.name}.`
      const message = `Node ${node.id} was created, and is billed.${spelled} Wait for it with wait.`
      return { proposal: key, outcome, message, node: nodeRecord.encode(node) as Data } satisfies Outcome
    }
    case "delete": {
      yield* nodes.delete(order.id)
      return deleting(key, order.id)
    }
    case "commit": {
      const { id, setting } = order
      const skuId = order.skuId ?? undefined
      const read = yield* Effect.orElseSucceed(nodes.get(id), () => ({ plan: null, image: null }))
      const node = { name: about?.name ?? String(id), ...read, id }
      const option =
        skuId === undefined || skuId === 0
          ? undefined
          : yield* Effect.orElseSucceed(optionFor(node, skuId), () => undefined)
      yield* sendCommitment(node, { setting, skuId }, option)
      const message = `The commitment of node ${order.id} is set to ${order.setting}.`
      return { proposal: key, outcome: "set", message, node: null } satisfies Outcome
    }
  }
})

/** What a person has to do before the change can be proposed again. */
const afterLook = (order: Extract<Order, { readonly action: "commit" }>): string =>
  `It is not sent again. A person can look in the account portal before you propose it again${
    buysPeriod({ ...order, skuId: order.skuId ?? undefined })
      ? `, and say what it shows: ${commandOf(order.id, order)} --found set, or --found not-set to send it`
      : ""
  }.`

const refused = (kept: Kept, message: string, hint: string) => new ProposalRefused({ proposal: kept.id, message, hint })

/**
 * The outcome of a proposal whose request may already have been sent; undefined if the request must be sent again. Fails if the outcome
 * cannot be found.
 */
const resumed = Effect.fnUntraced(function* (kept: Kept) {
  const { id: key, terms } = kept
  if (terms.order.action === "create") {
    const isKnown = ((yield* recordedCreate(key))?.nodeId ?? null) !== null
    // If the create's node is known, `send` only reads it.
    return isKnown ? yield* send(kept) : undefined
  }
  if (terms.order.action === "commit") {
    return yield* refused(
      kept,
      `It is not known whether the commitment of node ${terms.order.id} was set: its request was sent before, and the service reports no commitments.`,
      afterLook(terms.order)
    )
  }
  const { id } = terms.order
  const gone: Outcome = { proposal: key, outcome: "deleted", message: `Node ${id} is deleted.`, node: null }
  return yield* Nodes.use((nodes) => nodes.get(id)).pipe(
    Effect.map(({ status }) => (status === "terminate" ? deleting(key, id) : undefined)),
    Effect.catchReason("BerthError", "NodeNotFound", () => Effect.succeed(gone))
  )
})

const again = "Nothing was sent. Propose it again."

const ensureCurrent = Effect.fnUntraced(function* (kept: Kept, wasSent: boolean) {
  if (isCurrent(kept, yield* Clock.currentTimeMillis)) return
  const expired = `The proposal ${kept.id} expired at ${expiryOf(kept)}`
  return yield* wasSent
    ? refused(kept, `${expired}, and its request may have been carried out.`, "To see the outcome: berth node list")
    : refused(kept, `${expired}.`, again)
})

/** The differences from what the person consented to, in words. */
const difference = (before: Kept["terms"], now: Kept["terms"]): string => {
  const priceOf = ({ proposal }: Kept["terms"]) => sentenceOf(proposal)
  return priceOf(before) === priceOf(now)
    ? "the request or the node has changed."
    : `it was: ${priceOf(before)} Now it is: ${priceOf(now)}`
}

/** Fails unless the order still has the terms that the person saw. */
const ensureSame = Effect.fnUntraced(function* (kept: Kept) {
  const now = yield* termsOf(kept.terms.order)
  if (isSame(kept.terms, now)) return
  return yield* refused(kept, `What was proposed has changed: ${difference(kept.terms, now)}`, again)
})

/** The answer of `execute`. */
const resultOf = (outcome: Outcome, repeated: boolean): Data => withoutNoNode({ ...outcome, repeated })

/** Whether a failed create may have made a node. */
const mayExist = (error: unknown): boolean => error instanceof BerthError && error.reason._tag === "OutcomeUnknown"

/**
 * Whether the service has certainly done nothing. The client retries a commitment only if the previous attempt was not processed, so the
 * last attempt decides.
 */
const isUndone = ({ action }: Order, error: unknown): boolean =>
  action === "commit" && !(error instanceof BerthError && mayBeSet(error))

/** The two tools that propose and apply changes. `proposals` is undefined if nothing may be proposed. */
export const changes = (bounds: Bounds, proposals: ProposalStore | undefined) => {
  const { ensureWithin, giveBack, take } = makeBounds(bounds)
  /** The store for proposals of an action; fails for an action that the server is not allowed to perform. */
  const placeFor = (action: Action) =>
    proposals !== undefined && bounds.allow.includes(action)
      ? Effect.succeed(proposals)
      : Effect.fail(notAllowed(action, bounds))
  const ask = makeConsent()

  const propose = tool(
    {
      name: "propose",
      description:
        "Shows the exact request, price and what will be gone; sends nothing. create needs name, plan, image; delete needs node; commit needs node, setting. Then execute within 10 minutes.",
      parameters: proposing,
      output: parts({
        id: { type: "string" },
        expiresAt: { type: "string" },
        summary: { type: "string" },
        proposal: keysOf(Proposal),
        node: { type: "object" }
      }),
      annotations: { ...reading, idempotentHint: false }
    },
    Effect.fnUntraced(function* (given) {
      const place = yield* placeFor(given.action)
      const fault = faultOf(given)
      if (fault !== undefined) return yield* fault
      const { node, order } = yield* orderOf(given)
      const terms = yield* termsOf(order, node)
      yield* ensureWithin(terms)
      return withoutNoNode(shown(yield* place.keep(terms)))
    }, within)
  )

  /** Executes an approved proposal, unless it was already executed or its terms have changed. */
  const carryOut = Effect.fnUntraced(function* (id: string, store: ProposalStore) {
    const kept = yield* store.find(id)
    const { result, terms, wasSent } = kept
    // Return the outcome to the agent even if it cannot be stored for the next call.
    const finish = (outcome: Outcome) =>
      Effect.match(store.finish(id, outcome), {
        onSuccess: () => resultOf(outcome, false),
        onFailure: (fault) => resultOf({ ...outcome, message: `${outcome.message} ${fault.message}` }, false)
      })
    if (result !== null) return resultOf(result, true)
    if (wasSent) {
      const found = yield* resumed(kept)
      if (found !== undefined) return yield* finish(found)
    }
    yield* ensureCurrent(kept, wasSent)
    yield* ensureSame(kept)
    yield* ensureWithin(terms, id)
    take(kept)
    const sent = Effect.tapError(Effect.andThen(store.markSent(id), send(kept)), (error) => {
      const isCertain = terms.order.action === "commit" ? isUndone(terms.order, error) : !mayExist(error)
      if (!wasSent && isCertain) giveBack(kept)
      return isUndone(terms.order, error) ? store.unmarkSent(id) : Effect.void
    })
    return yield* Effect.flatMap(sent, finish)
  })

  const pending = Effect.fnUntraced(function* (kept: Kept, outcome: string, message: string) {
    const { followable } = yield* Output
    return resultOf({ proposal: kept.id, outcome, message: followable(message), node: null }, false)
  })

  const execute = tool(
    {
      name: "execute",
      description:
        "Asks a person, then sends what was proposed, once. outcome approval_needed: a person has to run the command in message first, then call it again.",
      parameters: Schema.Struct({ proposal: required(text("id")) }),
      output: parts({
        proposal: { type: "string" },
        outcome: { type: "string" },
        message: { type: "string" },
        node: { type: "object" },
        repeated: { type: "boolean" }
      }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true }
    },
    Effect.fnUntraced(function* ({ proposal: id }) {
      // This check comes first, because a read-only server executes nothing, whatever proposals are on the disk.
      const store = yield* placeFor(bounds.allow[0] ?? "create")
      const kept = yield* store.find(id)
      yield* placeFor(kept.terms.order.action)
      if (kept.result !== null) return resultOf(kept.result, true)
      // Limits are checked before a person is asked.
      if (!kept.wasSent) {
        yield* ensureCurrent(kept, false)
        yield* ensureWithin(kept.terms, id)
      }
      const asked = kept.answer ?? (yield* ask(kept))
      // The person may have answered through another server or in a terminal by now. `store.answer` returns the answer that counts.
      const answer = asked === "approved" || asked === "declined" ? yield* store.answer(id, asked) : asked
      if (answer instanceof McpSchema.InputRequired) return answer
      switch (answer) {
        case "declined":
          return yield* pending(kept, "declined", "A person declined this proposal. Nothing was sent.")
        case "cancelled":
          return yield* pending(kept, "cancelled", "Nobody answered. Nothing was sent; the proposal is still valid.")
        case "terminal":
          return yield* pending(
            kept,
            "approval_needed",
            `Nothing was sent. A person has to run in a terminal: berth approve ${id}`
          )
        case "approved":
          return yield* sendingWithin(store.carryingOut(id, carryOut(id, store)))
      }
    })
  )

  return [propose, execute] as const
}
