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
import { drawnKeyPrefix, type IntentStore, type IntentStoreFailed } from "./IntentStore.ts"
import { highestId, nodesAbove, type ReadPage } from "./NewestNodes.ts"
import { settle, type Settlement } from "./Settlement.ts"

/** What came of a create: a new node, or one found to be ours after its reply was lost. */
export interface Creation {
  readonly outcome: "created" | "adopted"
  readonly node: Node
}

/** How to create. */
export interface CreateOptions extends CallOptions {
  /**
   * A name for this very create: asking again with the same key, also in another process with the same intent store, makes
   * no second node. 1 to 128 letters, digits, dots, dashes, underscores, the first a letter or digit. Default: none.
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

const plainKey = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** Whether a text can be the key of a create: keys name files, so they are kept plain. */
export const isKey = (text: string): boolean => plainKey.test(text)

/** How long what was known of the highest id is good for. */
const watermarkMillis = 10_000

/** Looks at the list after a lost reply: the service may need a moment to list what it made. */
const looksMillis = [0, 1000, 3000, 8000]

/** A create of an earlier process that left no node this long after it was written down was never processed. */
const resumeAfterMillis = 32_000

/**
 * When to look for what came of an earlier process's create: at once, then less and less often, for as long as it may still
 * come. It may have been sent long after it was written down, so a few looks are taken however old it is.
 */
const looksFor = (millis: number): ReadonlyArray<number> => {
  const pauses = [0]
  for (let left = Math.max(12_000, millis), pause = 1000; left > 0; left -= pause, pause *= 2) {
    pauses.push(Math.min(pause, left))
  }
  return pauses
}

/** What is held while it is judged which node came of an earlier process's create. */
const settlingKey = `${drawnKeyPrefix}settling`

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

/** The key is not for this create. */
const keyFault = (detail: string) => fail(new InvalidRequest({ status: null, detail, fields: { key: [detail] } }))

const notWritten = (error: IntentStoreFailed) =>
  fail(new InvalidRequest({ status: null, detail: `the intent cannot be written down (${error.detail})`, fields: {} }))

/** A creator for one client. */
export const make = Effect.fnUntraced(function* ({ deadline, get, readPage, send, serviceTimeAt, store }: Parts) {
  const claimed = new Set<NodeId>()
  /** Creates by name: while one is settled no other of the same name is under way. */
  const alike = new Map<string, { readonly gate: Semaphore.Semaphore; users: number; lost: number }>()
  let watermark = { id: 0, page: 1, asOf: Number.NEGATIVE_INFINITY }

  /** Learns which nodes belong to other creates, also those of other processes; gives the intents of which nobody knows yet. */
  const openIntents = Effect.map(store.all, (intents) => {
    for (const { nodeId } of intents) if (nodeId !== null) claimed.add(nodeId)
    return intents.filter(({ nodeId }) => nodeId === null)
  })

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

  /** Writes down what came of it. That this cannot be done harms nobody: what is written already leads to the same node. */
  const settled = (intent: Intent, { id }: Node) => Effect.ignore(store.save({ ...intent, nodeId: id }))

  /** What the list says now about an intent. */
  const look = Effect.fnUntraced(function* (intent: Intent, lostAlike: number) {
    const { nodes, page } = yield* nodesAbove(readPage, intent.newerThan, watermark.page)
    watermark = { ...watermark, page }
    const settlement = settle({ intent, newer: nodes, claimed, lostAlike })
    if (settlement._tag === "Found") claim(settlement.node)
    return settlement
  })

  /** Looks again after each pause until the node is found or has had time to show. */
  const persistently = Effect.fnUntraced(function* (
    lookOnce: Effect.Effect<Settlement, BerthError>,
    pausesMillis: ReadonlyArray<number>
  ) {
    let failure: BerthError | undefined
    for (const pause of pausesMillis) {
      yield* Effect.sleep(pause)
      const result = yield* Effect.result(lookOnce)
      if (result._tag === "Failure") {
        // A failure that may pass is no answer; the next look may have one.
        if (!result.failure.retryable) return yield* Effect.fail(result.failure)
        failure = result.failure
        continue
      }
      failure = undefined
      if (result.success._tag !== "Absent") return result.success
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
  const sendOnce = Effect.fnUntraced(function* (spec: NodeSpec, intent: Intent, options: CallOptions) {
    const peers = entry(spec.name)
    const attempt = peers.gate.withPermits(1)(Effect.tap(send(spec, options), (node) => Effect.sync(() => claim(node))))
    const result = yield* Effect.result(attempt)
    if (result._tag === "Success") return { outcome: "created", node: result.success } satisfies Creation
    const error = result.failure
    if (!mayHaveMade(error.reason)) {
      yield* Effect.ignore(store.remove(intent.key))
      return yield* Effect.fail(error)
    }
    peers.lost++
    const lookOnce = Effect.andThen(
      Effect.ignore(openIntents),
      Effect.suspend(() => look(intent, peers.lost))
    )
    const settlement = yield* peers.gate
      .withPermits(mostAlike)(persistently(lookOnce, looksMillis))
      .pipe(
        Effect.ensuring(Effect.sync(() => peers.lost--)),
        // When the looking fails too, the question stays open, and the first failure is why.
        Effect.catch(() => unknown(spec, [], error.reason, error.attempts))
      )
    if (settlement._tag === "Found") return { outcome: "adopted", node: settlement.node } satisfies Creation
    const candidates = settlement._tag === "Ambiguous" ? settlement.candidates : []
    return yield* unknown(spec, candidates, error.reason, error.attempts)
  })

  /** The node that a create of before has made. */
  const made = (id: NodeId) =>
    Effect.catchReason(get(id), "BerthError", "NodeNotFound", () => keyFault(`it made node ${id}, which is gone`))

  /** Finishes a create that an earlier call or process left open. Undefined when it was never processed. */
  const resume = Effect.fnUntraced(function* (spec: NodeSpec, intent: Intent, untilMillis: number) {
    const { image, name, plan } = intent
    if (name !== spec.name || plan !== spec.plan || image !== String(spec.image)) {
      return yield* keyFault(`it is that of another create, of ${name} on ${plan} from ${image}`)
    }
    if (intent.nodeId !== null) return { outcome: "adopted", node: yield* made(intent.nodeId) } satisfies Creation
    /** One at a time, of all processes: two that are settled at once would take the same node. */
    const lookOnce = entry(name)
      .gate.withPermits(mostAlike)(
        store.holding(
          settlingKey,
          untilMillis
        )(
          Effect.gen(function* () {
            const open = yield* Effect.catch(openIntents, notWritten)
            const alikeOpen = open.filter((other) => other.name === name && other.plan === plan)
            const settlement = yield* look(intent, Math.max(1, alikeOpen.length))
            if (settlement._tag === "Found") yield* settled(intent, settlement.node)
            return settlement
          })
        )
      )
      .pipe(Effect.catchTag("IntentStoreFailed", notWritten))
    const age = (yield* Clock.currentTimeMillis) - intent.sentAtMillis
    const settlement = yield* persistently(lookOnce, looksFor(resumeAfterMillis - age))
    if (settlement._tag === "Found") return { outcome: "adopted", node: settlement.node } satisfies Creation
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

  const intentOf = Effect.fnUntraced(function* (spec: NodeSpec, key: string) {
    yield* refreshWatermark
    const now = yield* Clock.currentTimeMillis
    return {
      key,
      name: spec.name,
      plan: spec.plan,
      image: String(spec.image),
      newerThan: watermark.id,
      sentAtMillis: now,
      serviceTimeMillis: serviceTimeAt(now),
      nodeId: null
    } satisfies Intent
  })

  /** Under a key whoever asks again finds what was written down, so that nothing is sent that is not. */
  const createKeyed = Effect.fnUntraced(function* (
    spec: NodeSpec,
    key: string,
    options: CallOptions,
    untilMillis: number
  ) {
    const earlier = yield* Effect.catch(store.find(key), notWritten)
    const resumed = Option.isSome(earlier) ? yield* resume(spec, earlier.value, untilMillis) : undefined
    if (resumed !== undefined) return resumed
    const intent = yield* intentOf(spec, key)
    yield* Effect.catch(store.save(intent), notWritten)
    return yield* Effect.tap(sendOnce(spec, intent, options), ({ node }) => settled(intent, node))
  })

  /** Without a key nobody asks again: what is written down is for whoever wonders what a killed process was at, and no more. */
  const createOnce = Effect.fnUntraced(function* (spec: NodeSpec, key: string, options: CallOptions) {
    const intent = yield* intentOf(spec, key)
    yield* Effect.ignore(store.save(intent))
    return yield* Effect.ensuring(sendOnce(spec, intent, options), Effect.ignore(store.remove(key)))
  })

  /**
   * Creates a node. With a key the same create may be asked for again, by this process or another with the same store, and
   * makes one node all the same.
   */
  const create = Effect.fnUntraced(function* (
    spec: NodeSpec,
    key: string | undefined,
    options: CallOptions,
    millis: number
  ) {
    if (key !== undefined && !isKey(key)) {
      return yield* keyFault(
        "a key has 1 to 128 letters, digits, dots, dashes or underscores and begins with a letter or digit"
      )
    }
    const untilMillis = (yield* Clock.currentTimeMillis) + millis
    const peers = entry(spec.name)
    peers.users++
    const leave = Effect.sync(() => --peers.users === 0 && alike.delete(spec.name))
    if (key !== undefined) {
      const keyed = store.holding(key, untilMillis)(createKeyed(spec, key, options, untilMillis))
      return yield* Effect.ensuring(Effect.catchTag(keyed, "IntentStoreFailed", notWritten), leave)
    }
    const drawn = drawnKeyPrefix + (yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)
    const once = createOnce(spec, drawn, options)
    return yield* Effect.ensuring(
      Effect.catchTag(store.holding(drawn, untilMillis)(once), "IntentStoreFailed", () => once),
      leave
    )
  })
  return Effect.fn("Nodes.create")((spec: NodeSpec, { key, ...options }: CreateOptions = {}) => {
    const within = Duration.fromInputUnsafe(options.deadline ?? deadline)
    const millis = Duration.toMillis(within)
    const late = new TimedOut({ limit: "deadline", afterMillis: millis, sent: "maybe" })
    return Effect.timeoutOrElse(create(spec, key, options, millis), {
      duration: within,
      orElse: () => unknown(spec, [], late, [])
    })
  })
})
