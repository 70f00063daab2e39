/**
 * Creates a node exactly once: performs the actions that `CreateMachine.ts` decides on and feeds their results back. This file ensures
 * the order: an intent is written before its request is sent, no two writes of a call run at once, and only one create at a time is
 * compared with the list.
 */
import { Duration, Effect, Option, Random, Result } from "effect"
import type { RecordFault } from "../../api/fields/RecordReader.ts"
import type { SeveralNodes, UnreadNode } from "../../api/NodeCodec.ts"
import type { BerthError } from "../../domain/BerthError.ts"
import { type ErrorReason, OutcomeUnknown, UnexpectedResponse } from "../../domain/ErrorReason.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import type { NodeSpec } from "../../domain/NodeSpec.ts"
import { imageFinder } from "../../domain/Price.ts"
import { type Ledger, LedgerBegun } from "../call/Attempt.ts"
import type { CallOptions, SendingHooks } from "../call/Operation.ts"
import { endIn } from "../call/Deadline.ts"
import { monotonicMillis } from "../time/Monotonic.ts"
import {
  type CreateAction,
  type CreateEvent,
  type CreateRequest,
  type CreateState,
  type CreateStep,
  type Creation,
  firstStep,
  next
} from "./CreateMachine.ts"
import {
  type Beside,
  besideOf,
  createFailure,
  createReplyFault,
  isBeside,
  keyFault,
  severalFault,
  SameNameCreates,
  specDigest,
  untried,
  unusable,
  unusableReason
} from "./Reconciliation.ts"
import {
  drawnKeyPrefix,
  idsOf,
  type Instant,
  type Intent,
  type IntentStore,
  type IntentStoreFailed,
  isSent,
  makeMemory,
  type SentIntent,
  sharedByKey
} from "./IntentStore.ts"
import { isSpelling, type KnownPlans, mayShowPlan, spellingGroup, systemOf } from "./Ownership.ts"
import * as Watermark from "./Watermark.ts"

export type { Creation }

/** Options of a create. */
export interface CreateOptions extends CallOptions {
  /**
   * The idempotency key of this create: a second call with the same key makes no second node, even in another process with the same intent
   * store. A key has 1 to 128 letters, digits, dots, dashes and underscores, and begins with a letter or digit. Default: none.
   */
  readonly key?: string | undefined
  /**
   * Sends no create: returns the node that an earlier create with this key made, even if the rest of its order differs. Fails with
   * `InvalidRequest` for `key` if no create made a node, and with `OutcomeUnknown` while one still may. Default: false.
   */
  readonly adoptOnly?: boolean | undefined
  /**
   * The part of the image list that the program has read. It tells under which names a plan may appear on nodes. Berth reads the list itself if
   * this is not enough. Default: the list that this client read last.
   *
   * @internal
   */
  readonly plans?: KnownPlans | undefined
}

/** The dependencies of a creator. */
export interface Dependencies {
  /** Sends the request. It does not accept a reply in which `faultOf` finds a fault. */
  readonly send: (
    spec: NodeSpec,
    options: CallOptions,
    hooks: SendingHooks,
    faultOf: (node: Node | UnreadNode | SeveralNodes) => RecordFault | undefined
  ) => Effect.Effect<Node, BerthError>
  /** The location of the client's nodes; undefined if it names none. */
  readonly location: string | undefined
  /** Maximum number of attempts of one call. */
  readonly maxAttempts: number
  /** Longest time of a create, including its polls, unless its options set another. */
  readonly deadline: Duration.Duration
  readonly get: (id: NodeId, options: CallOptions) => Effect.Effect<Node, BerthError>
  /** Reads pages of the list for a create. */
  readonly pages: (options: CallOptions) => Watermark.ReadPage
  /** Reads the plans of the image list. */
  readonly plans: (options: CallOptions) => Effect.Effect<KnownPlans, BerthError>
  /** A lower bound for the service's clock at a monotonic instant; 0 if unknown. */
  readonly serviceTimeAt: (monotonicMillis: number) => number
  /** The store for intents; undefined if there is none, so no key can be kept. */
  readonly store: IntentStore | undefined
}

const plainKey = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** Whether a string can be the key of a create. Keys are file names, so only plain characters are allowed. */
export const isKey = (text: string): boolean => plainKey.test(text)

/**
 * The key of the lock that is held while a create is compared with the list: two creates that are compared at once could claim the same
 * node.
 */
export const reconciliationKey = `${drawnKeyPrefix}reconciliation`

/** If writing an intent took longer than this, it is written again before its request is sent. */
const maxWritingMillis = 5000

/** How long before the end of the call its requests end. */
const marginMillis = (leftMillis: number) => Math.min(20, leftMillis / 20)

/** A call and its progress. */
interface Call {
  readonly request: CreateRequest
  readonly spec: NodeSpec
  readonly options: CallOptions
  /** The end of the call on the monotonic clock. */
  readonly untilMillis: number
  readonly sameName: SameNameCreates
  /** Fails if this call no longer holds its key. */
  confirm: Effect.Effect<void, IntentStoreFailed>
  state: CreateState
  /** Creates of the same name that this call has seen running in other processes. */
  underWay: Beside["underWay"]
  /** Whether this call has read the image list. */
  hasPlans: boolean
  /** Whether the request of this call, or of an earlier call with the same key, was recorded as sent. */
  isRecorded: boolean
}

type Action<Tag extends CreateAction["_tag"]> = Extract<CreateAction, { readonly _tag: Tag }>

/** Maximum number of nodes of one name that a poll reads by id. */
const maxReads = 20

/** A node with the fields of both the list and its own record. */
const joined = (listed: Node, read: Node | undefined): Node =>
  read === undefined ? listed : { ...read, plan: read.plan ?? listed.plan, image: read.image ?? listed.image }

/** A creator for one client. */
export const make = ({
  deadline,
  get,
  location,
  maxAttempts,
  pages,
  plans: readPlans,
  send,
  serviceTimeAt,
  store: kept
}: Dependencies) => {
  const store = kept ?? makeMemory()
  const watermark = Watermark.make()
  /** Maps each node to the key of the create that is known to have made it. */
  const claimed = new Map<NodeId, string>()
  /** The plans that were last read from the image list. */
  let plans: KnownPlans = []
  const withSameName = sharedByKey(() => new SameNameCreates())

  /** Takes a step without a point of interruption, so that what it learned is not lost. */
  const take = (call: Call, step: CreateStep): CreateStep => {
    const { state } = step
    call.state = state
    call.isRecorded ||= "intent" in state && isSent(state.intent)
    if (state._tag === "Ended" && Result.isSuccess(state.outcome)) {
      claimed.set(state.outcome.success.node.id, call.request.key)
    }
    return step
  }

  const feed = (call: Call, event: CreateEvent) => take(call, next(call.request, call.state, event))

  /**
   * Options of a request of this call. The request may use nearly all of the call's remaining time, but ends before the call does, so that
   * the request's own failure is reported.
   */
  const within = ({ options, untilMillis }: Call) =>
    Effect.map(monotonicMillis, (now): CallOptions => ({
      lane: options.lane,
      maxAttempts: options.maxAttempts,
      attemptTimeout: options.attemptTimeout,
      headers: options.headers,
      onAttempt: options.onAttempt,
      deadline: Math.max(1, untilMillis - now - marginMillis(untilMillis - now))
    }))

  const instant = Effect.zipWith(store.now, monotonicMillis, (now, monotonic): Instant => ({
    ...now,
    serviceMillis: serviceTimeAt(monotonic)
  }))

  /**
   * Performs the write of a step. A process that was suspended for long may have lost the lock of its key to another
   * process. It then overwrites that process's intent only to record a known node, which the other process needs to
   * know, too.
   */
  const write = ({ confirm, request }: Call, { write }: CreateStep): Effect.Effect<void, ErrorReason> => {
    if (write === undefined) return Effect.void
    const { intent, isRequired } = write
    const saved = intent === null ? store.remove(request.key) : store.save(intent)
    const node = intent?.nodeId ?? intent?.told?.id
    if (node !== undefined && request.keyed) {
      return Effect.catch(saved, ({ detail }) =>
        Effect.logWarning(`The intent of node ${node} cannot be written (${detail}).`)
      )
    }
    const confirmed = Effect.andThen(confirm, saved)
    return isRequired ? Effect.mapError(confirmed, unusableReason) : Effect.ignore(confirmed)
  }

  /** What is wrong with a reply to this call's request. */
  const replyFault = (call: Call, stated: Node | UnreadNode | SeveralNodes) => {
    const isOthers = (id: NodeId) => {
      const owner = claimed.get(id)
      return owner !== undefined && owner !== call.request.key
    }
    const { spec, state } = call
    if (!("intent" in state)) return undefined
    const found =
      "ids" in stated
        ? severalFault(state.intent, isOthers, stated)
        : createReplyFault(state.intent, { region: spec.region ?? "ncr", location }, isOthers(stated.id), stated, plans)
    if (found?.told !== undefined) feed(call, { _tag: "NodeTold", told: found.told })
    return found?.fault
  }

  /**
   * Whether a node's image can be judged without reading the image list: the node shows its image or no operating system, or the image is
   * known already.
   */
  const isImageTold = ({ request }: Call, node: Node) =>
    systemOf(node) === undefined || imageFinder(plans)(request.image).length > 0

  /**
   * Reads the image list if a node shows its plan under a name that this client does not know for the requested plan, or shows an operating
   * system in place of its image. If the list cannot be read, the plans count as different.
   */
  const knowPlans = (call: Call, shown: ReadonlyArray<Node>) =>
    call.hasPlans || shown.every((node) => mayShowPlan(node.plan, call.request.plan, plans) && isImageTold(call, node))
      ? Effect.void
      : Effect.flatMap(within(call), readPlans).pipe(
          Effect.map((read) => {
            plans = read
            call.hasPlans = true
          }),
          Effect.ignore
        )

  /**
   * Accepts or refuses the node of a reply. If only its plan has another name, the image list decides whether it is the plan that was asked
   * for. The intent is saved first: if this process ends before it has finished, the next one knows the id that the reply named.
   */
  const judged = (call: Call, node: Node) =>
    mayShowPlan(node.plan, call.request.plan, plans) || !("intent" in call.state)
      ? Effect.succeed(node)
      : Effect.ignore(write(call, { state: call.state, write: { intent: call.state.intent, isRequired: false } })).pipe(
          Effect.andThen(knowPlans(call, [node])),
          Effect.andThen(
            Effect.suspend(() => {
              const fault = replyFault(call, node)
              return fault === undefined
                ? Effect.succeed(node)
                : Effect.fail(
                    createFailure(
                      new UnexpectedResponse({
                        status: 200,
                        path: `data.${fault.path}`,
                        expected: fault.expected,
                        excerpt: "another"
                      })
                    )
                  )
            })
          )
        )

  /** Sends the request. Each attempt is recorded before it is sent. */
  const sendOnce = Effect.fnUntraced(function* (call: Call) {
    const feedAndWrite = (event: CreateEvent) => Effect.suspend(() => Effect.ignore(write(call, feed(call, event))))
    const hooks: SendingHooks = {
      before: Effect.gen(function* () {
        let writtenInMillis: number
        do {
          const startedAt = yield* monotonicMillis
          const step = next(call.request, call.state, { _tag: "TurnCame", now: yield* instant })
          yield* write(call, step)
          take(call, step)
          writtenInMillis = (yield* monotonicMillis) - startedAt
          // If the process was suspended while it wrote, the recorded time is outdated, so write it again.
        } while (writtenInMillis > maxWritingMillis)
      }),
      notProcessed: feedAndWrite({ _tag: "NotProcessed" })
    }
    const limits = yield* within(call)
    return yield* call.sameName.sending(
      Effect.uninterruptibleMask((restore) =>
        restore(
          Effect.flatMap(
            send(call.spec, { ...call.options, ...limits }, hooks, (stated) => {
              const fault = replyFault(call, stated)
              // Reading the image list may resolve this difference.
              return fault?.path === "plan" && !call.hasPlans ? undefined : fault
            }),
            (node) => judged(call, node)
          )
        ).pipe(
          Effect.onInterrupt(() => feedAndWrite({ _tag: "Interrupted" })),
          Effect.result,
          Effect.flatMap((result) =>
            Effect.zipWith(Random.next, monotonicMillis, (draw, now) =>
              feed(call, { _tag: "SendEnded", result, draw, leftMillis: call.untilMillis - now })
            )
          )
        )
      )
    )
  })

  /** The settled intent, if there is one. It may also be among the open ones, if a process was killed while it settled the intent. */
  const settledToo = (intent: Intent) =>
    Effect.map(
      Effect.orElseSucceed(store.find(intent.key), () => Option.none<Intent>()),
      Option.getOrElse(() => intent)
    )

  /** The unsettled intents, and the intents that this call has seen under way and that were settled since. */
  const otherIntents = ({ underWay }: Call, own: SentIntent) =>
    Effect.gen(function* () {
      const intents = yield* Effect.forEach(yield* store.unsettled, (other) =>
        isBeside(own, other) && !other.key.startsWith(drawnKeyPrefix) ? settledToo(other) : Effect.succeed(other)
      )
      const keys = new Set(intents.map(({ key }) => key))
      for (const key of underWay.keys()) if (!keys.has(key)) intents.push(...Option.toArray(yield* store.find(key)))
      return intents
    })

  /** Whether a listed node may be the node of this call, judged by its name and id. */
  const isCandidate = ({ request, state }: Call, { id, name }: Node) =>
    "intent" in state &&
    id > state.intent.newerThan &&
    isSpelling(name, request.name) &&
    (claimed.get(id) ?? request.key) === request.key

  /**
   * Reads each candidate without a date by its id, and returns the ids of those that could not be read. A candidate
   * whose own record has another name counts as not read, because list and record contradict each other. If there are
   * too many candidates, reads none of them, because such a list is not believable.
   */
  const dated = Effect.fnUntraced(function* (call: Call, listed: ReadonlyArray<Node>) {
    const undated = listed.filter((node) => node.createdAt === null && isCandidate(call, node))
    const read = new Map<NodeId, Node>()
    for (const { id, name } of undated.length > maxReads ? [] : undated) {
      const result = yield* Effect.result(get(id, yield* within(call)))
      if (Result.isSuccess(result) && isSpelling(result.success.name, name)) read.set(id, result.success)
    }
    return {
      newer: listed.map((node) => joined(node, read.get(node.id))),
      unread: new Set(undated.flatMap(({ id }) => (read.has(id) ? [] : [id])))
    }
  })

  /**
   * Reads the list first and the intents of other creates afterwards. Every create is recorded before its node is made,
   * so this order finds the intent of every listed node.
   */
  const poll = (call: Call, { intent }: Action<"Poll">) =>
    Effect.suspend(() => {
      let isListRead = false
      const judge = Effect.fnUntraced(function* <E>(
        readIntents: Effect.Effect<ReadonlyArray<Intent> | undefined, E>,
        readOwners: (ids: ReadonlyArray<NodeId>) => Effect.Effect<ReadonlyMap<NodeId, string>, E>
      ) {
        const { isWhole, nodes: listed } = yield* watermark.above(pages(yield* within(call)), intent.newerThan)
        isListRead = true
        const { newer, unread } = yield* dated(call, listed)
        yield* knowPlans(
          call,
          newer.filter((node) => isCandidate(call, node))
        )
        const intents = yield* readIntents
        // Read these after the intents, to find an intent that was settled in between.
        const owners = yield* readOwners(newer.map(({ id }) => id))
        const now = yield* instant
        for (const [id, key] of owners) claimed.set(id, key)
        const toldToOthers = new Set<NodeId>()
        for (const { key, nodeId, told } of intents ?? []) {
          if (nodeId !== null) claimed.set(nodeId, key)
          else if (key !== intent.key) for (const id of idsOf(told)) toldToOthers.add(id)
        }
        const beside: Beside =
          intents === undefined
            ? {
                lost: Array.from(call.sameName.lost).filter((other) => isBeside(intent, other)),
                underWay: call.underWay
              }
            : besideOf(intent, intents, call.underWay, now)
        call.underWay = beside.underWay
        const step = feed(call, { _tag: "ListRead", newer, isWhole, claimed, toldToOthers, beside, now, plans, unread })
        // Written under the lock, so that the next create does not claim the same node.
        yield* Effect.ignore(write(call, step))
        return { ...step, write: undefined }
      })
      /** Nothing shows which of these nodes belong to other creates, so the failure only names them. */
      const named = Effect.fnUntraced(function* (failure: IntentStoreFailed) {
        const { nodes } = yield* watermark.above(pages(yield* within(call)), intent.newerThan)
        const candidates = nodes.filter((node) => isCandidate(call, node))
        return feed(call, { _tag: "PollFailed", error: unusable(failure), isListRead: true, candidates })
      })
      return store
        .withKeyLock(reconciliationKey)(() => judge(otherIntents(call, intent), store.ownersOf))
        .pipe(
          // If the store fails, a create without a caller's key relies on what this client knows about its own creates.
          Effect.catchTag("IntentStoreFailed", (error) =>
            call.request.keyed ? named(error) : judge(Effect.undefined, () => Effect.succeed(new Map()))
          ),
          Effect.catch((error) => Effect.sync(() => feed(call, { _tag: "PollFailed", error, isListRead })))
        )
    })

  /** Polls until the create is resolved, while no other create of its name runs in this client. */
  const polls = (call: Call, first: Action<"Poll">) => {
    const series = Effect.gen(function* () {
      let action = first
      while (true) {
        const step = yield* poll(call, action)
        if (step.action?._tag !== "Poll") return step
        action = step.action
        yield* Effect.sleep(action.afterMillis)
      }
    }).pipe(call.sameName.exclusively)
    // The pause after a rejection may be long, so it must not block other creates.
    const paused = Effect.delay(series, first.afterMillis)
    return first.isOwn ? call.sameName.whileLost(first.intent)(paused) : paused
  }

  /** Writes and acts step by step until the end. */
  const run = Effect.fnUntraced(function* (call: Call, first: CreateStep) {
    let step = first
    while (true) {
      yield* Effect.mapError(write(call, step), (reason) => createFailure(reason))
      const { action, state } = step
      if (state._tag === "Ended") return yield* Effect.fromResult(state.outcome)
      switch (action?._tag) {
        case "FindIntent": {
          const intent = Option.getOrUndefined(yield* Effect.mapError(store.find(call.request.key), unusable))
          step = feed(call, { _tag: "IntentRead", intent, now: yield* instant })
          break
        }
        case "GetNode":
          yield* Effect.sleep(action.afterMillis)
          step = feed(call, { _tag: "NodeRead", result: yield* Effect.result(get(action.id, yield* within(call))) })
          break
        case "ReadHighestId": {
          // A create without a caller's key works even if the store cannot be read.
          const newest = yield* call.request.keyed
            ? Effect.mapError(store.newestNode, unusable)
            : Effect.orElseSucceed(store.newestNode, () => 0)
          const readPage = pages(yield* within(call))
          const highest = watermark.highest(readPage)
          const result = yield* Effect.result(
            (call.request.keyed && store.highestId?.(call.request, highest, (id) => watermark.above(readPage, id))) ||
              highest
          )
          step = feed(call, { _tag: "HighestIdRead", result, newest })
          break
        }
        case "Send":
          step = yield* sendOnce(call)
          break
        case "Poll":
          step = yield* polls(call, action)
          break
        case undefined:
          return yield* Effect.die("a create with nothing to do")
      }
    }
  })

  /** Records that a create without a key was given up and may have made a node. If it was never sent, its intent is removed. */
  const givenUp = ({ request, state }: Call) =>
    Effect.suspend(() => {
      if (!("intent" in state)) return Effect.void
      return state._tag === "Queued" ? store.remove(request.key) : store.save({ ...state.intent, fate: "reported" })
    }).pipe(Effect.ignore)

  /**
   * Fails with the create's own error. If the record of the create vanished with the state folder, another call with
   * the key would send the create again, so the error must not promise that the key prevents a second node.
   */
  const unlessForgotten = Effect.fnUntraced(function* ({ isRecorded, request }: Call, error: BerthError) {
    const { reason } = error
    if (reason._tag !== "OutcomeUnknown" || !request.keyed || !isRecorded) return yield* error
    const found = yield* Effect.orElseSucceed(store.find(request.key), () => Option.none<Intent>())
    if (Option.isSome(found)) return yield* error
    const detail = `${reason.detail.replace(/\.$/, "")}; no readable record of its key is left`
    return yield* createFailure(new OutcomeUnknown({ ...reason, detail, keyed: false }), error)
  })

  /** Runs a create with a caller's key under the key's lock, so that no other call can use the key at the same time. */
  const create = (call: Call, first: CreateStep) => {
    const { key, keyed } = call.request
    if (!keyed) return Effect.onInterrupt(run(call, first), () => givenUp(call))
    return store
      .withKeyLock(key)(({ confirm }) => {
        call.confirm = confirm
        return run(call, first)
      })
      .pipe(Effect.catchTag("IntentStoreFailed", (error) => Effect.fail(unusable(error))))
  }

  /** Creates a node. A create with a key can be repeated, by this process or another with the same store, and still makes only one node. */
  return Effect.fnUntraced(function* (
    spec: NodeSpec,
    { adoptOnly = false, key, plans: given = plans, ...options }: CreateOptions = {}
  ): Effect.fn.Return<Creation, BerthError> {
    plans = given
    const startedAtMillis = yield* monotonicMillis
    if (key !== undefined && !isKey(key)) {
      return yield* keyFault(
        "a key has 1 to 128 letters, digits, dots, dashes or underscores and begins with a letter or digit"
      )
    }
    if (adoptOnly && key === undefined) return yield* keyFault("there is none, so there is no earlier create to adopt")
    if (key !== undefined && kept === undefined) {
      return yield* keyFault("there is nowhere to keep it: provide the client with an IntentStore")
    }
    const end = yield* endIn(options.deadline ?? deadline)
    const limit = Duration.millis(end.atMillis - startedAtMillis)
    const drawn = yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)
    const { image, name, plan } = spec
    const request: CreateRequest = {
      key: key ?? drawnKeyPrefix + drawn.toString(36),
      keyed: key !== undefined,
      adoptOnly,
      name,
      plan,
      image: String(image),
      // A call that only looks for a node does not know the whole order, only what the list shows.
      spec: adoptOnly ? null : specDigest(spec),
      deadlineMillis: end.limitMillis,
      maxAttempts: options.retry === false ? 1 : maxAttempts
    }
    const first = firstStep(request)
    return yield* withSameName(spellingGroup(name), (sameName) => {
      const call: Call = {
        request,
        spec,
        options,
        untilMillis: end.atMillis,
        sameName,
        confirm: Effect.void,
        state: first.state,
        underWay: new Map(),
        hasPlans: false,
        isRecorded: false
      }
      let latest: Ledger | undefined
      const observed = Effect.flatMap(LedgerBegun, (report) =>
        Effect.provideService(create(call, first), LedgerBegun, (ledger) => {
          latest = ledger
          report?.(ledger)
        })
      )
      return Effect.timeoutOrElse(observed, {
        duration: limit,
        orElse: () => run(call, feed(call, { _tag: "DeadlineReached", tried: latest ?? untried }))
      }).pipe(Effect.catch((error) => unlessForgotten(call, error)))
    })
  })
}
