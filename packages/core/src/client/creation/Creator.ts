/**
 * Creates exactly once. The interface has no idempotency key and a node costs money, so a create whose reply is lost is
 * never sent again: what came of it is looked up, by comparing what there is now with what there was before.
 */
import { Clock, Duration, Effect, Option, Random } from "effect"
import { BerthError } from "../../domain/BerthError.ts"
import { type ErrorReason, InvalidRequest, OutcomeUnknown, TimedOut, Unreachable } from "../../domain/ErrorReason.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import type { NodeSpec } from "../../domain/NodeSpec.ts"
import { monotonicMillis } from "../Monotonic.ts"
import type { CallOptions } from "../Operation.ts"
import type { Intent } from "./Intent.ts"
import { drawnKeyPrefix, type IntentStore, type IntentStoreFailed } from "./IntentStore.ts"
import { Namesakes } from "./Namesakes.ts"
import type { ReadPage } from "./NewestNodes.ts"
import { settle, type Settlement } from "./Settlement.ts"
import * as Watermark from "./Watermark.ts"

/** What came of a create: a new node, or one found to be ours, for its reply was lost or its key had made it. */
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
  readonly get: (id: NodeId, options: CallOptions) => Effect.Effect<Node, BerthError>
  /** How a create reads pages of the list. */
  readonly pages: (options: CallOptions) => ReadPage
  /** What the service's clock has certainly reached at an instant of ours; 0 when it is unknown. */
  readonly serviceTimeAt: (instant: number) => number
  readonly store: IntentStore
}

const operation = "nodes.create"

const plainKey = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** Whether a text can be the key of a create: keys name files, so they are kept plain. */
export const isKey = (text: string): boolean => plainKey.test(text)

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

/** Why nobody knows of a create that was asked for before. */
const leftOpen = { _tag: "OutcomeUnknown", message: "it was asked for before and left open" } as const

/** How much earlier a request ends than its call. */
const marginMillis = (leftMillis: number) => Math.min(20, leftMillis / 20)

const fail = (reason: ErrorReason, attempts: BerthError["attempts"] = []) =>
  Effect.fail(new BerthError({ operation, reason, attempts }))

/** The key is not for this create. */
const keyFault = (detail: string) => fail(new InvalidRequest({ status: null, detail, fields: { key: [detail] } }))

const unusable = ({ detail }: IntentStoreFailed) =>
  fail(new InvalidRequest({ status: null, detail: `the intents cannot be used (${detail})`, fields: {} }))

/** The deadline of a request is what is left of that of its call, which is the one that the caller knows. */
const inCall = <R extends ErrorReason>(reason: R, millis: number): R | TimedOut =>
  reason._tag === "TimedOut" && reason.limit === "deadline" ? new TimedOut({ ...reason, afterMillis: millis }) : reason

/** Why the looking before a create failed: of the create itself nothing was sent. */
const beforeSending = ({ attempts, reason }: BerthError, millis: number) => {
  const unsent =
    reason._tag === "TimedOut"
      ? new TimedOut({ ...inCall(reason, millis), sent: "no" })
      : reason._tag === "Unreachable"
        ? new Unreachable({ ...reason, sent: "no" })
        : reason
  return fail(unsent, attempts)
}

/** One call: what it asks for, and how far it has come. */
interface Call {
  readonly spec: NodeSpec
  readonly keyed: boolean
  readonly namesakes: Namesakes
  readonly options: CallOptions
  /** When it has to be over, by our clock. */
  readonly untilMillis: number
  /** Its deadline. */
  readonly millis: number
  /** Whether the list has been looked at since the create was sent. */
  looked: boolean
  progress: "before" | "sent" | BerthError | Creation
}

/** A creator for one client. */
export const make = ({ deadline, get, pages, send, serviceTimeAt, store }: Parts) => {
  const watermark = Watermark.make()
  /** Nodes that are known to belong to creates, and the keys of these. */
  const claimed = new Map<NodeId, string>()
  const namesakesOf = new Map<string, Namesakes>()

  /** Options of a request of this call: it may take what is left of the call, and ends before it, so that what it says is heard. */
  const within = ({ options, untilMillis }: Call) =>
    Effect.map(Clock.currentTimeMillis, (now): CallOptions => ({
      lane: options.lane,
      deadline: Math.max(1, untilMillis - now - marginMillis(untilMillis - now))
    }))

  /** Learns which nodes belong to other creates, also those of other processes; gives the intents of which nobody knows yet. */
  const openIntents = Effect.map(store.all, (intents) => {
    for (const { key, nodeId } of intents) if (nodeId !== null) claimed.set(nodeId, key)
    return intents.filter(({ nodeId }) => nodeId === null)
  })

  /** Writes down what came of it. That this cannot be done harms nobody: what is written already leads to the same node. */
  const settled = (intent: Intent, { node }: Creation) =>
    Effect.catch(store.save({ ...intent, nodeId: node.id }), ({ detail }) =>
      Effect.logWarning(`The intent of node ${node.id} cannot be written down (${detail}).`)
    )

  /** What the list says now about an intent. */
  const look = Effect.fnUntraced(function* (call: Call, intent: Intent, lostAlike: number) {
    const newer = yield* watermark.above(pages(yield* within(call)), intent.newerThan)
    call.looked = true
    const settlement = settle({ intent, newer, claimed, lostAlike })
    if (settlement._tag === "Found") claimed.set(settlement.node.id, intent.key)
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

  const unknown = (
    { keyed, looked, spec }: Call,
    candidates: ReadonlyArray<Node>,
    because: Pick<ErrorReason, "_tag" | "message">,
    attempts: BerthError["attempts"]
  ) =>
    fail(
      new OutcomeUnknown({
        nodeName: spec.name,
        candidates: candidates.map(({ id }) => id),
        looked,
        because: because._tag,
        detail: because.message,
        keyed
      }),
      attempts
    )

  /** Notes a node as what came of the create, so that nothing that follows can lose it. */
  const came = (call: Call, key: string, outcome: Creation["outcome"], node: Node): Creation => {
    claimed.set(node.id, key)
    const creation = { outcome, node }
    call.progress = creation
    return creation
  }

  /** Sends the create of an intent that is written down, and settles what its reply leaves open. */
  const sendOnce = Effect.fnUntraced(function* (call: Call, intent: Intent) {
    const { namesakes, options, spec } = call
    const limits = yield* within(call)
    const sent = Effect.suspend(() => {
      call.progress = "sent"
      return send(spec, { ...options, ...limits })
    })
    const result = yield* namesakes.sending(
      Effect.uninterruptibleMask((restore) =>
        Effect.result(Effect.map(restore(sent), (node) => came(call, intent.key, "created", node)))
      )
    )
    if (result._tag === "Success") return result.success
    const error = new BerthError({
      operation,
      reason: inCall(result.failure.reason, call.millis),
      attempts: result.failure.attempts
    })
    if (!mayHaveMade(error.reason)) {
      yield* Effect.ignore(store.remove(intent.key))
      return yield* Effect.fail(error)
    }
    call.progress = error
    const lookOnce = Effect.andThen(
      Effect.ignore(openIntents),
      Effect.suspend(() => look(call, intent, namesakes.lost(intent)))
    )
    const settlement = yield* namesakes.settling(persistently(lookOnce, looksMillis)).pipe(
      namesakes.losing(intent),
      // When the looking fails too, the question stays open, and the first failure is why.
      Effect.catch(() => unknown(call, [], error.reason, error.attempts))
    )
    if (settlement._tag === "Found") return came(call, intent.key, "adopted", settlement.node)
    const candidates = settlement._tag === "Ambiguous" ? settlement.candidates : []
    return yield* unknown(call, candidates, error.reason, error.attempts)
  })

  /** The node that a create of before has made. */
  const made = Effect.fnUntraced(function* (call: Call, { key, nodeId }: Intent & { readonly nodeId: NodeId }) {
    const node = yield* Effect.catchReason(get(nodeId, yield* within(call)), "BerthError", "NodeNotFound", () =>
      keyFault(`it made node ${nodeId}, which is gone`)
    )
    return came(call, key, "adopted", node)
  })

  /** Finishes a create that an earlier call or process left open. Undefined when it was never processed. */
  const resume = Effect.fnUntraced(function* (call: Call, intent: Intent) {
    const { image, name, nodeId, plan } = intent
    const { namesakes, spec, untilMillis } = call
    if (name !== spec.name || plan !== spec.plan || image !== String(spec.image)) {
      return yield* keyFault(`it is that of another create, of ${name} on ${plan} from ${image}`)
    }
    if (nodeId !== null) return yield* made(call, { ...intent, nodeId })
    // From here on there may be a node.
    call.progress = "sent"
    const lookOnce = Effect.gen(function* () {
      const open = yield* Effect.catch(openIntents, unusable)
      const alike = open.filter((other) => other.name === name && other.plan === plan && other.image === image)
      const settlement = yield* look(call, intent, Math.max(1, alike.length))
      if (settlement._tag !== "Found") return settlement
      yield* settled(intent, came(call, intent.key, "adopted", settlement.node))
      return settlement
    })
    // One at a time, of all processes: two that are settled at once would take the same node.
    const alone = namesakes
      .settling(store.holding(settlingKey, untilMillis)(lookOnce))
      .pipe(Effect.catchTag("IntentStoreFailed", unusable))
    const age = (yield* Clock.currentTimeMillis) - intent.sentAtMillis
    const settlement = yield* persistently(alone, looksFor(Math.min(resumeAfterMillis, resumeAfterMillis - age)))
    if (settlement._tag === "Found") return came(call, intent.key, "adopted", settlement.node)
    if (settlement._tag === "Absent") return undefined
    return yield* unknown(call, settlement.candidates, leftOpen, [])
  })

  const intentOf = Effect.fnUntraced(function* (call: Call, key: string) {
    call.progress = "before"
    const { image, name, plan } = call.spec
    const newerThan = yield* Effect.catch(watermark.highest(pages(yield* within(call))), (error) =>
      beforeSending(error, call.millis)
    )
    const now = yield* Clock.currentTimeMillis
    return {
      key,
      name,
      plan,
      image: String(image),
      newerThan,
      sentAtMillis: now,
      serviceTimeMillis: serviceTimeAt(yield* monotonicMillis),
      nodeId: null
    } satisfies Intent
  })

  /** Under a key whoever asks again finds what was written down, so that nothing is sent that is not. */
  const createKeyed = Effect.fnUntraced(function* (call: Call, key: string) {
    const earlier = yield* Effect.catch(store.find(key), unusable)
    const resumed = Option.isSome(earlier) ? yield* resume(call, earlier.value) : undefined
    if (resumed !== undefined) return resumed
    const intent = yield* intentOf(call, key)
    yield* Effect.catch(store.save(intent), unusable)
    return yield* Effect.tap(sendOnce(call, intent), (creation) => settled(intent, creation))
  })

  /** Without a key nobody asks again: what is written down is for whoever wonders what a killed process was at, and no more. */
  const createOnce = Effect.fnUntraced(function* (call: Call, key: string) {
    const intent = yield* intentOf(call, key)
    yield* Effect.ignore(store.save(intent))
    return yield* Effect.ensuring(sendOnce(call, intent), Effect.ignore(store.remove(key)))
  })

  /** Creates under the key, while no other call does. */
  const create = Effect.fnUntraced(function* (call: Call, key: string | undefined) {
    if (key !== undefined) {
      if (!isKey(key)) {
        return yield* keyFault(
          "a key has 1 to 128 letters, digits, dots, dashes or underscores and begins with a letter or digit"
        )
      }
      const keyed = store.holding(key, call.untilMillis)(createKeyed(call, key))
      return yield* Effect.catchTag(keyed, "IntentStoreFailed", unusable)
    }
    const drawn = drawnKeyPrefix + (yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)
    const once = createOnce(call, drawn)
    return yield* Effect.catchTag(store.holding(drawn, call.untilMillis)(once), "IntentStoreFailed", () => once)
  })

  /** What a call comes to whose time is up. */
  const late = (call: Call) => {
    const { millis: afterMillis, progress } = call
    if (progress === "before") return fail(new TimedOut({ limit: "deadline", afterMillis, sent: "no" }))
    if (progress === "sent")
      return unknown(call, [], new TimedOut({ limit: "deadline", afterMillis, sent: "maybe" }), [])
    return progress instanceof BerthError
      ? unknown(call, [], progress.reason, progress.attempts)
      : Effect.succeed(progress)
  }

  /** The creates of this name in this client, for as long as there are any. */
  const withNamesakes = <A, E>(name: string, use: (namesakes: Namesakes) => Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const namesakes = namesakesOf.get(name) ?? new Namesakes()
        namesakesOf.set(name, namesakes)
        namesakes.users++
        return namesakes
      }),
      use,
      (namesakes) => Effect.sync(() => --namesakes.users === 0 && namesakesOf.delete(name))
    )

  /**
   * Creates a node. With a key the same create may be asked for again, by this process or another with the same store, and
   * makes one node all the same.
   */
  return (spec: NodeSpec, { key, ...options }: CreateOptions = {}): Effect.Effect<Creation, BerthError> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const limit = Duration.fromInputUnsafe(options.deadline ?? deadline)
      const millis = Duration.toMillis(limit)
      return withNamesakes(spec.name, (namesakes) => {
        const call: Call = {
          spec,
          keyed: key !== undefined,
          namesakes,
          options,
          untilMillis: now + millis,
          millis,
          looked: false,
          progress: "before"
        }
        return Effect.timeoutOrElse(create(call, key), { duration: limit, orElse: () => late(call) })
      })
    })
}
