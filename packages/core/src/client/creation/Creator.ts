/**
 * Creates exactly once. The interface has no idempotency key and a node costs money, so a create whose reply is lost is
 * never sent again: what came of it is looked up, by comparing what there is now with what there was before.
 */
import { Clock, Duration, Effect, Option, Random, Semaphore } from "effect"
import { BerthError } from "../../domain/BerthError.ts"
import { type ErrorReason, InvalidRequest, OutcomeUnknown, TimedOut } from "../../domain/ErrorReason.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import type { NodeSpec } from "../../domain/NodeSpec.ts"
import type { CallOptions } from "../Operation.ts"
import type { Intent } from "./Intent.ts"
import type { IntentStore, IntentStoreFailed } from "./IntentStore.ts"
import { highestId, nodesAbove, type ReadPage } from "./NewestNodes.ts"
import { settle } from "./Settlement.ts"

/** What came of a create: a new node, or one found to be ours after its reply was lost. */
export interface Creation {
  readonly outcome: "created" | "adopted"
  readonly node: Node
}

/** How to create. */
export interface CreateOptions extends CallOptions {
  /**
   * A name for this very create: asking again with the same key, also in a later process with the same intent store, makes
   * no second node. 1 to 128 letters, digits, dots, dashes, underscores. Default: none.
   */
  readonly key?: string | undefined
}

/** What the creator is made from. */
export interface Parts {
  readonly send: (spec: NodeSpec, options: CallOptions) => Effect.Effect<Node, BerthError>
  /** Longest time a create may take altogether, the looking included, unless it says otherwise. */
  readonly deadline: Duration.Duration
  readonly get: (id: NodeId) => Effect.Effect<Node, BerthError>
  readonly readPage: ReadPage
  /** What the service's clock has certainly reached at an instant of ours. */
  readonly serviceTimeAt: (instant: number) => number
  readonly store: IntentStore
}

const operation = "nodes.create"

/** Keys name files, so they are kept plain. */
const plainKey = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** How long what was known of the highest id is good for. */
const watermarkMillis = 10_000

/** Looks at the list after a lost reply: the service may need a moment to list what it made. */
const looksMillis = [0, 1000, 3000, 8000]

/** A create of an earlier process that left no node this long after it was sent was never processed. */
const resumeAfterMillis = 20_000

/** Most creates alike in name that may be under way at once. */
const mostAlike = 1_000_000

/** Whether the service may have made a node although the call failed. */
const mayHaveMade = (reason: ErrorReason): boolean => {
  switch (reason._tag) {
    case "Unreachable":
    case "TimedOut":
      return reason.sent !== "no"
    case "ServiceFault":
    case "ServiceUnavailable":
    case "UnexpectedResponse":
      return true
    default:
      return false
  }
}

const fail = (reason: ErrorReason, attempts: BerthError["attempts"] = []) =>
  Effect.fail(new BerthError({ operation, reason, attempts }))

const notWritten = (error: IntentStoreFailed) =>
  fail(new InvalidRequest({ status: null, detail: `the intent cannot be written down (${error.detail})`, fields: {} }))

/** A creator for one client. */
export const make = Effect.fnUntraced(function* ({ deadline, get, readPage, send, serviceTimeAt, store }: Parts) {
  const claimed = new Set<NodeId>()
  /** Creates by name: while one is settled no other of the same name is under way. */
  const alike = new Map<string, { readonly gate: Semaphore.Semaphore; users: number; lost: number }>()
  let watermark = { id: 0, page: 1, asOf: Number.NEGATIVE_INFINITY }

  /** Intents that earlier processes left open, by key. Reading them also tells which nodes belong to other creates. */
  const leftOpen = yield* Effect.cached(
    Effect.map(Effect.catch(store.all, notWritten), (intents) => {
      for (const { nodeId } of intents) if (nodeId !== null) claimed.add(nodeId)
      return new Map(intents.filter(({ nodeId }) => nodeId === null).map((intent) => [intent.key, intent]))
    })
  )

  const refreshWatermark = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now - watermark.asOf < watermarkMillis) return
    const { id, page } = yield* Effect.mapError(
      highestId(readPage, watermark.page),
      ({ attempts, reason }) => new BerthError({ operation, reason, attempts })
    )
    watermark = { id: Math.max(id, watermark.id), page, asOf: now }
  })

  const claim = (node: Node) => {
    claimed.add(node.id)
    watermark = { ...watermark, id: Math.max(watermark.id, node.id) }
  }

  const settled = Effect.fnUntraced(function* (intent: Intent, node: Node, keep: boolean) {
    claim(node)
    yield* Effect.catch(keep ? store.save({ ...intent, nodeId: node.id }) : store.remove(intent.key), notWritten)
  })

  /** Looks for the node of an intent until it is found or has had time to show. */
  const find = Effect.fnUntraced(function* (intent: Intent, lostAlike: () => number) {
    let failure: BerthError | undefined
    for (const pause of looksMillis) {
      yield* Effect.sleep(pause)
      const look = yield* Effect.result(nodesAbove(readPage, intent.newerThan, watermark.page))
      if (look._tag === "Failure") {
        // A failure that may pass is no answer; the next look may have one.
        if (!look.failure.retryable) return yield* Effect.fail(look.failure)
        failure = look.failure
        continue
      }
      failure = undefined
      watermark = { ...watermark, page: look.success.page }
      const settlement = settle({ intent, newer: look.success.nodes, claimed, lostAlike: lostAlike() })
      if (settlement._tag !== "Absent") return settlement
    }
    return failure === undefined ? { _tag: "Absent" as const } : yield* Effect.fail(failure)
  })

  const entry = (name: string) => {
    const known = alike.get(name) ?? { gate: Semaphore.makeUnsafe(mostAlike), users: 0, lost: 0 }
    alike.set(name, known)
    return known
  }

  const unknown = (
    spec: NodeSpec,
    candidates: ReadonlyArray<Node>,
    because: ErrorReason,
    attempts: BerthError["attempts"]
  ) =>
    fail(
      new OutcomeUnknown({
        nodeName: spec.name,
        candidates: candidates.map(({ id }) => id),
        because: because._tag,
        detail: because.message
      }),
      attempts
    )

  /** Sends the create of an intent that is written down, and settles what its reply leaves open. */
  const sendOnce = Effect.fnUntraced(function* (spec: NodeSpec, intent: Intent, keep: boolean, options: CallOptions) {
    const peers = entry(spec.name)
    const attempt = peers.gate.withPermits(1)(Effect.tap(send(spec, options), (node) => Effect.sync(() => claim(node))))
    const result = yield* Effect.result(attempt)
    if (result._tag === "Success") {
      yield* settled(intent, result.success, keep)
      return { outcome: "created", node: result.success } satisfies Creation
    }
    const error = result.failure
    if (!mayHaveMade(error.reason)) {
      yield* Effect.catch(store.remove(intent.key), notWritten)
      return yield* Effect.fail(error)
    }
    peers.lost++
    const settlement = yield* peers.gate
      .withPermits(mostAlike)(find(intent, () => peers.lost))
      .pipe(
        Effect.tap((found) => Effect.sync(() => found._tag === "Found" && claim(found.node))),
        Effect.ensuring(Effect.sync(() => peers.lost--)),
        // When the looking fails too, the question stays open, and the first failure is why.
        Effect.catch(() => unknown(spec, [], error.reason, error.attempts))
      )
    if (settlement._tag === "Found") {
      yield* settled(intent, settlement.node, keep)
      return { outcome: "adopted", node: settlement.node } satisfies Creation
    }
    const candidates = settlement._tag === "Ambiguous" ? settlement.candidates : []
    return yield* unknown(spec, candidates, error.reason, error.attempts)
  })

  /** Finishes a create that an earlier call or process left open. */
  const resume = Effect.fnUntraced(function* (spec: NodeSpec, intent: Intent) {
    if (intent.nodeId !== null) return { outcome: "adopted", node: yield* get(intent.nodeId) } satisfies Creation
    const open = yield* leftOpen
    const age = (yield* Clock.currentTimeMillis) - intent.sentAtMillis
    yield* Effect.sleep(Math.max(0, resumeAfterMillis - age))
    const lostAlike = () =>
      Math.max(
        1,
        Array.from(open.values()).filter(({ name, plan }) => name === intent.name && plan === intent.plan).length
      )
    const settlement = yield* entry(spec.name).gate.withPermits(mostAlike)(
      Effect.tap(find(intent, lostAlike), (found) =>
        Effect.sync(() => {
          open.delete(intent.key)
          if (found._tag === "Found") claim(found.node)
        })
      )
    )
    if (settlement._tag === "Found") {
      yield* settled(intent, settlement.node, true)
      return { outcome: "adopted", node: settlement.node } satisfies Creation
    }
    if (settlement._tag === "Ambiguous") {
      const because = new InvalidRequest({
        status: null,
        detail: "an earlier process ended before it knew",
        fields: {}
      })
      return yield* unknown(spec, settlement.candidates, because, [])
    }
    return undefined
  })

  const begin = Effect.fnUntraced(function* (spec: NodeSpec, key: string) {
    yield* refreshWatermark
    const now = yield* Clock.currentTimeMillis
    const intent: Intent = {
      key,
      name: spec.name,
      plan: spec.plan,
      image: String(spec.image),
      newerThan: watermark.id,
      sentAtMillis: now,
      serviceTimeMillis: serviceTimeAt(now),
      nodeId: null
    }
    yield* Effect.catch(store.save(intent), notWritten)
    return intent
  })

  /**
   * Creates a node. With a key the same create may be asked for again, by this process or a later one with the same
   * store, and makes one node all the same.
   */
  const create = Effect.fnUntraced(function* (spec: NodeSpec, key: string | undefined, options: CallOptions) {
    if (key !== undefined && !plainKey.test(key)) {
      const detail = "a key has 1 to 128 letters, digits, dots, dashes or underscores and begins with a letter or digit"
      return yield* fail(new InvalidRequest({ status: null, detail, fields: { key: [detail] } }))
    }
    const peers = entry(spec.name)
    peers.users++
    const drawn = key ?? `unnamed-${(yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)}`
    return yield* Effect.gen(function* () {
      if (key !== undefined) {
        yield* leftOpen
        const earlier = yield* Effect.catch(store.find(key), notWritten)
        const resumed = Option.isSome(earlier) ? yield* resume(spec, earlier.value) : undefined
        if (resumed !== undefined) return resumed
      }
      return yield* sendOnce(spec, yield* begin(spec, drawn), key !== undefined, options)
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          peers.users--
          if (peers.users === 0) alike.delete(spec.name)
        })
      )
    )
  })
  return Effect.fn("Nodes.create")((spec: NodeSpec, { key, ...options }: CreateOptions = {}) => {
    const within = Duration.fromInputUnsafe(options.deadline ?? deadline)
    const late = new TimedOut({ limit: "deadline", afterMillis: Duration.toMillis(within), sent: "maybe" })
    return Effect.timeoutOrElse(create(spec, key, options), {
      duration: within,
      orElse: () => unknown(spec, [], late, [])
    })
  })
})
