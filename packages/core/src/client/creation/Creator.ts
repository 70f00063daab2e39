/**
 * Creates exactly once. The interface has no idempotency key and a node costs money, so a create whose reply is lost is
 * never sent again: what came of it is looked up, by comparing what there is now with what there was before.
 */
import { Duration, Effect, Fiber, Option, Random } from "effect"
import { millisBetween } from "../files/Boot.ts"
import { monotonicMillis } from "../time/Monotonic.ts"
import { BerthError } from "../../domain/BerthError.ts"
import { type ErrorReason, InvalidRequest, OutcomeUnknown, TimedOut, Unreachable } from "../../domain/ErrorReason.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import type { NodeSpec } from "../../domain/NodeSpec.ts"
import type { CallOptions, SendingHooks } from "../call/Operation.ts"
import { ended, type Intent, intentVersion, mayBeAnswered, type SentAt } from "./Intent.ts"
import { drawnKeyPrefix, type HeldKey, type IntentStore, type IntentStoreFailed, makeMemory } from "./IntentStore.ts"
import { SameNameCreates } from "./SameNameCreates.ts"
import type { ReadPage } from "./NewestNodes.ts"
import { resolve, type Resolution } from "./Reconciliation.ts"
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
  readonly send: (spec: NodeSpec, options: CallOptions, hooks: SendingHooks) => Effect.Effect<Node, BerthError>
  /** Longest time a create may take altogether, the looking included, unless it says otherwise. */
  readonly deadline: Duration.Duration
  readonly get: (id: NodeId, options: CallOptions) => Effect.Effect<Node, BerthError>
  /** How a create reads pages of the list. */
  readonly pages: (options: CallOptions) => ReadPage
  /** What the service's clock has certainly reached at an instant of our monotonic clock; 0 when it is unknown. */
  readonly serviceTimeAt: (monotonicMillis: number) => number
  /** Where intents are kept; undefined where there is nowhere, and so no key can be kept. */
  readonly store: IntentStore | undefined
}

const operation = "nodes.create"

const plainKey = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** Whether a text can be the key of a create: keys name files, so they are kept plain. */
export const isKey = (text: string): boolean => plainKey.test(text)

/** Looks at the list after a lost reply: the service may need a moment to list what it made. */
const looksMillis = [0, 1000, 3000, 8000]

/** A node shows in the list within this time of its create, if the service lets it. */
const minMillisUntilListed = 12_000

/**
 * A create that shows no node this long after it was sent was not processed, and may be sent again. Where the reply was lost
 * the request had left, and the service may be at it long after its client has given up. Where the process was killed in the
 * moment it sent, the request may never have left, and the next run has a minute to finish the question.
 */
const neverProcessedMillis = { lost: 600_000, killed: 50_000 }

/** A request has left its process this long after it was sent, at the latest: one that is slower is taken to have left, too. */
const leavingMillis = 200

/** No reply comes later than this after its request was sent. */
const maxUnderWayMillis = 120_000

/** The service's clock is known to a second or two. */
const serviceClockMillis = 2000

/** Pauses before the polls for what came of an earlier process's create, which was sent so long ago. */
const pausesAfter = (millisSinceSent: number): ReadonlyArray<number> => {
  const pauses = [0]
  let left = Math.max(minMillisUntilListed, neverProcessedMillis.killed - millisSinceSent)
  for (let pause = 1000; left > 0; left -= pause, pause *= 2) pauses.push(Math.min(pause, left))
  return pauses
}

/** What is held while it is judged which node came of which create: two that are judged at once would take the same node. */
const reconciliationKey = `${drawnKeyPrefix}reconciliation`

/** Why nobody knows of a create that was asked for before. */
const leftOpen = { _tag: "OutcomeUnknown", message: "it was asked for before and left open" } as const

/** How much earlier a request ends than its call. */
const marginMillis = (leftMillis: number) => Math.min(20, leftMillis / 20)

/** What was tried, and the reply it failed with. */
type Tried = Pick<BerthError, "attempts" | "reply">
const untried: Tried = { attempts: [], reply: null }

const fail = (reason: ErrorReason, { attempts, reply }: Tried = untried) =>
  Effect.fail(new BerthError({ operation, reason, attempts, reply }))

/** The key is not for this create. */
const keyFault = (detail: string) => fail(new InvalidRequest({ status: null, detail, fields: { key: [detail] } }))

const unusableReason = ({ detail }: IntentStoreFailed) =>
  new InvalidRequest({ status: null, detail: `the intents cannot be used (${detail})`, fields: {} })

const unusable = (error: IntentStoreFailed) => fail(unusableReason(error))

const notKept = keyFault("there is nowhere to keep it: provide the client with an IntentStore")

/** The deadline of a request is what is left of that of its call, which is the one that the caller knows. */
const inCall = <R extends ErrorReason>(reason: R, millis: number): R | TimedOut =>
  reason._tag === "TimedOut" && reason.limit === "deadline" ? new TimedOut({ ...reason, afterMillis: millis }) : reason

/** Why the looking before a create failed: of the create itself nothing was sent. */
const beforeSending = (error: BerthError, millis: number) => {
  const { reason } = error
  const unsent =
    reason._tag === "TimedOut"
      ? new TimedOut({ ...inCall(reason, millis), sent: "no" })
      : reason._tag === "Unreachable"
        ? new Unreachable({ ...reason, sent: "no" })
        : reason
  return fail(unsent, error)
}

/** One call: what it asks for, and how far it has come. */
interface Call {
  readonly spec: NodeSpec
  readonly keyed: boolean
  readonly sameName: SameNameCreates
  readonly options: CallOptions
  /** When it has to be over, by our monotonic clock. */
  readonly untilMillis: number
  /** Its deadline. */
  readonly millis: number
  /** Whether the list has been looked at since the create was sent. */
  looked: boolean
  /** Creates alike, of other processes, that were seen under way and of which it is not known what they made. */
  readonly underWay: Set<string>
  progress: "before" | "sent" | BerthError | Creation
}

/** A creator for one client. */
export const make = ({ deadline, get, pages, send, serviceTimeAt, store: kept }: Parts) => {
  const store = kept ?? makeMemory()
  const watermark = Watermark.make()
  /** Nodes that are known to belong to creates, and the keys of these. */
  const claimed = new Map<NodeId, string>()
  const createsByName = new Map<string, SameNameCreates>()

  /** Options of a request of this call: it may take what is left of the call, and ends before it, so that what it says is heard. */
  const within = ({ options, untilMillis }: Call) =>
    Effect.map(monotonicMillis, (now): CallOptions => ({
      lane: options.lane,
      deadline: Math.max(1, untilMillis - now - marginMillis(untilMillis - now))
    }))

  /** This instant, as an intent has it. */
  const sentNow = Effect.zipWith(store.now, monotonicMillis, (now, monotonic): SentAt => ({
    ...now,
    serviceMillis: serviceTimeAt(monotonic)
  }))

  /** How long ago a create was sent, at least: by the clock of a boot or by the service's, never by a wall clock, which steps. */
  const millisSince = (sentAt: SentAt) =>
    Effect.map(sentNow, (now) =>
      sentAt.bootClock !== null && sentAt.bootClock === now.bootClock
        ? millisBetween(sentAt, now)
        : sentAt.serviceMillis > 0 && now.serviceMillis > 0
          ? Math.max(0, now.serviceMillis - sentAt.serviceMillis - serviceClockMillis)
          : 0
    )

  /** Learns which nodes belong to which creates, also those of other processes, and which creates alike are still open. */
  const openAlike = Effect.fnUntraced(function* (call: Call, { image, key, name, plan }: Intent) {
    let lost = 1
    for (const other of yield* store.all) {
      if (other.nodeId !== null) claimed.set(other.nodeId, other.key)
      if (!mayBeAnswered(other)) call.underWay.delete(other.key)
      const { nodeId, sentAt } = other
      if (other.key === key || nodeId !== null || sentAt === null) continue
      if (other.name !== name || other.plan !== plan || other.image !== image) continue
      if (!mayBeAnswered(other)) lost++
      else if ((yield* millisSince(sentAt)) < maxUnderWayMillis) call.underWay.add(other.key)
    }
    return lost
  })

  /** Writes down what came of it. That this cannot be done harms nobody: what is written already leads to the same node. */
  const settled = (intent: Intent, { node }: Creation) =>
    Effect.catch(store.save({ ...intent, nodeId: node.id }), ({ detail }) =>
      Effect.logWarning(`The intent of node ${node.id} cannot be written down (${detail}).`)
    )

  /** Reads the list and takes the node that came of the intent, of all processes one at a time: what one takes the next leaves. */
  const reconcile = (call: Call, intent: Intent) => {
    const take = Effect.fnUntraced(function* <E>(countLost: Effect.Effect<number, E>) {
      const newer = yield* watermark.above(pages(yield* within(call)), intent.newerThan)
      call.looked = true
      // After the list: of every node in it the create was written down before.
      const lostAlike = yield* countLost
      const resolution = resolve({ intent, newer, claimed, lostAlike, underWayAlike: call.underWay.size })
      if (resolution._tag === "Found") yield* settled(intent, came(call, intent.key, "adopted", resolution.node))
      return resolution
    })
    return Effect.catchTag(
      store.holding(reconciliationKey)(() => take(openAlike(call, intent))),
      "IntentStoreFailed",
      (error) => (call.keyed ? unusable(error) : take(Effect.sync(() => call.sameName.lost(intent))))
    )
  }

  /** Looks again after each pause until the node is found or has had time to show. */
  const persistently = Effect.fnUntraced(function* (
    lookOnce: Effect.Effect<Resolution, BerthError>,
    pausesMillis: ReadonlyArray<number>
  ) {
    let failure: BerthError | undefined
    let latest: Resolution = { _tag: "Absent" }
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
      latest = result.success
      if (latest._tag !== "Absent" && latest._tag !== "Undecided") return latest
    }
    return failure === undefined ? latest : yield* Effect.fail(failure)
  })

  const unknown = (
    { keyed, looked, spec }: Call,
    candidates: ReadonlyArray<Node>,
    because: Pick<ErrorReason, "_tag" | "message">,
    tried: Tried
  ) =>
    fail(
      new OutcomeUnknown({
        nodeName: spec.name,
        candidates: candidates.map(({ id }) => id),
        listRead: looked,
        because: because._tag,
        detail: because.message,
        keyed
      }),
      tried
    )

  /** Notes a node as what came of the create, so that nothing that follows can lose it. */
  const came = (call: Call, key: string, outcome: Creation["outcome"], node: Node): Creation => {
    claimed.set(node.id, key)
    const creation = { outcome, node }
    call.progress = creation
    return creation
  }

  /** Sends the create of an intent, which is written down at the moment it goes, and settles what its reply leaves open. */
  const sendOnce = Effect.fnUntraced(function* (
    call: Call,
    prepared: Intent,
    writeDown: (intent: Intent) => Effect.Effect<void, ErrorReason>
  ) {
    const { sameName, options, spec } = call
    let intent = prepared
    let leaving: Fiber.Fiber<void> | undefined
    /** Nothing is written beside what follows: of two that are written at once either may be the last. */
    const stopLeaving = Effect.suspend(() => (leaving === undefined ? Effect.void : Fiber.interrupt(leaving)))
    const save = (next: Intent) => Effect.andThen(stopLeaving, Effect.ignore(writeDown(next)))
    const hooks: SendingHooks = {
      before: Effect.gen(function* () {
        const sentAt = yield* sentNow
        intent = { ...prepared, sentAt }
        yield* writeDown(intent)
        call.progress = "sent"
        if (!call.keyed) return
        const left = Effect.uninterruptible(Effect.ignore(writeDown({ ...intent, fate: "left" })))
        leaving = yield* Effect.forkDetach(Effect.andThen(Effect.sleep(leavingMillis), left))
      }),
      notProcessed: Effect.suspend(() => {
        call.progress = "before"
        return save(prepared)
      })
    }
    const limits = yield* within(call)
    const result = yield* sameName.sending(
      Effect.uninterruptibleMask((restore) =>
        Effect.result(
          restore(send(spec, { ...options, ...limits }, hooks)).pipe(
            // The next one to ask knows that the request had left.
            Effect.onInterrupt(() => (call.progress === "sent" ? save({ ...intent, fate: "lost" }) : Effect.void)),
            Effect.map((node) => came(call, intent.key, "created", node))
          )
        )
      )
    )
    yield* stopLeaving
    if (result._tag === "Success") {
      if (call.keyed) yield* settled(intent, result.success)
      return result.success
    }
    const error = new BerthError({
      operation,
      reason: inCall(result.failure.reason, call.millis),
      attempts: result.failure.attempts,
      reply: result.failure.reply
    })
    if (!error.reason.mayBeProcessed) {
      yield* Effect.ignore(store.remove(intent.key))
      return yield* Effect.fail(error)
    }
    call.progress = error
    const lost = { ...intent, fate: "lost" as const }
    yield* save(lost)
    const resolution = yield* persistently(reconcile(call, lost), looksMillis).pipe(
      sameName.exclusively,
      sameName.whileLost(lost),
      // When the polls fail too, the question stays open, and the first failure is why.
      Effect.catch(() => unknown(call, [], error.reason, error))
    )
    if (resolution._tag === "Found") return came(call, intent.key, "adopted", resolution.node)
    const candidates = resolution._tag === "Absent" ? [] : resolution.candidates
    return yield* unknown(call, candidates, error.reason, error)
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
    const { spec } = call
    if (name !== spec.name || plan !== spec.plan || image !== String(spec.image)) {
      return yield* keyFault(`it is that of another create, of ${name} on ${plan} from ${image}`)
    }
    if (nodeId !== null) return yield* made(call, { ...intent, nodeId })
    if (intent.sentAt === null) return undefined
    // From here on there may be a node.
    call.progress = "sent"
    // Where its process runs on the call was ended there, by its deadline or its caller, and its request had left.
    const unanswered = ended(intent, "lost")
    yield* Effect.catch(store.save(unanswered), unusable)
    const pauses = pausesAfter(yield* millisSince(intent.sentAt))
    const resolution = yield* persistently(call.sameName.exclusively(reconcile(call, unanswered)), pauses)
    if (resolution._tag === "Found") return came(call, intent.key, "adopted", resolution.node)
    if (resolution._tag !== "Absent") return yield* unknown(call, resolution.candidates, leftOpen, untried)
    const isOver = (yield* millisSince(intent.sentAt)) >= neverProcessedMillis[unanswered.fate]
    return isOver ? undefined : yield* unknown(call, [], leftOpen, untried)
  })

  const intentOf = Effect.fnUntraced(function* (call: Call, key: string) {
    call.progress = "before"
    const { image, name, plan } = call.spec
    const newerThan = yield* Effect.catch(watermark.highest(pages(yield* within(call))), (error) =>
      beforeSending(error, call.millis)
    )
    return {
      version: intentVersion,
      key,
      name,
      plan,
      image: String(image),
      newerThan,
      sentAt: null,
      fate: "open",
      nodeId: null
    } satisfies Intent
  })

  /** Under a key a caller who asks again finds what was written down, so that nothing is sent that is not. */
  const createKeyed = Effect.fnUntraced(function* (call: Call, key: string, { confirm }: HeldKey) {
    const earlier = yield* Effect.catch(store.find(key), unusable)
    const resumed = Option.isSome(earlier) ? yield* resume(call, earlier.value) : undefined
    if (resumed !== undefined) return resumed
    const intent = yield* intentOf(call, key)
    yield* Effect.catch(store.save(intent), unusable)
    // A process that stood still for long may have lost the key meanwhile: it is asked for once more as the create goes.
    return yield* sendOnce(call, intent, (written) =>
      Effect.mapError(Effect.andThen(confirm, store.save(written)), unusableReason)
    )
  })

  /** Without a key no caller asks again: what is written down is for the next run, which tells of creates that were killed. */
  const createOnce = Effect.fnUntraced(function* (call: Call, key: string) {
    const intent = yield* intentOf(call, key)
    return yield* Effect.ensuring(
      sendOnce(call, intent, (written) => Effect.ignore(store.save(written))),
      Effect.ignore(store.remove(key))
    )
  })

  /** Creates under the key, while no other call does. */
  const create = Effect.fnUntraced(function* (call: Call, key: string | undefined) {
    if (key !== undefined) {
      if (!isKey(key)) {
        return yield* keyFault(
          "a key has 1 to 128 letters, digits, dots, dashes or underscores and begins with a letter or digit"
        )
      }
      if (kept === undefined) return yield* notKept
      return yield* Effect.catchTag(
        store.holding(key)((held) => createKeyed(call, key, held)),
        "IntentStoreFailed",
        unusable
      )
    }
    const drawn = drawnKeyPrefix + (yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)
    return yield* createOnce(call, drawn)
  })

  /** What a call comes to whose time is up. */
  const late = (call: Call) => {
    const { millis: afterMillis, progress } = call
    if (progress === "before") return fail(new TimedOut({ limit: "deadline", afterMillis, sent: "no" }))
    if (progress === "sent")
      return unknown(call, [], new TimedOut({ limit: "deadline", afterMillis, sent: "maybe" }), untried)
    return progress instanceof BerthError ? unknown(call, [], progress.reason, progress) : Effect.succeed(progress)
  }

  /** The creates of this name in this client, for as long as there are any. */
  const withNamesakes = <A, E>(name: string, use: (sameName: SameNameCreates) => Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const sameName = createsByName.get(name) ?? new SameNameCreates()
        createsByName.set(name, sameName)
        sameName.users++
        return sameName
      }),
      use,
      (sameName) => Effect.sync(() => --sameName.users === 0 && createsByName.delete(name))
    )

  /**
   * Creates a node. With a key the same create may be asked for again, by this process or another with the same store, and
   * makes one node all the same.
   */
  return (spec: NodeSpec, { key, ...options }: CreateOptions = {}): Effect.Effect<Creation, BerthError> =>
    Effect.flatMap(monotonicMillis, (now) => {
      const limit = Duration.fromInputUnsafe(options.deadline ?? deadline)
      const millis = Duration.toMillis(limit)
      return withNamesakes(spec.name, (sameName) => {
        const call: Call = {
          spec,
          keyed: key !== undefined,
          sameName,
          options,
          untilMillis: now + millis,
          millis,
          looked: false,
          underWay: new Set(),
          progress: "before"
        }
        return Effect.timeoutOrElse(create(call, key), { duration: limit, orElse: () => late(call) })
      })
    })
}
