/**
 * Decides what a create does next. Pure: a state and an event give the next state, what to record about the create, and the next action.
 * `Creator.ts` records, acts, and feeds back the outcome. The interface has no idempotency key and a node costs money, so a create that may
 * have been processed is not sent again. Instead, the list is polled for its node, and `Reconciliation.ts` judges what the list shows. The
 * create is sent again in two cases only: the list still shows no node ten and a half minutes after the request, or the rate limit refused
 * the request and the list shows no node at least twelve seconds later.
 */
import { Result } from "effect"
import type { BerthError } from "../../domain/BerthError.ts"
import {
  type ErrorReason,
  mayBeUnlisted,
  OutcomeUnknown,
  unprovedList,
  TimedOut,
  unusableList
} from "../../domain/ErrorReason.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import { decide, fullBudget } from "../call/Retry.ts"
import {
  createFailure,
  type Evidence,
  failureOf,
  isAlike,
  isSame,
  keyFault,
  resolve,
  type Tried,
  untried
} from "./Reconciliation.ts"
import {
  idsOf,
  type Instant,
  type Intent,
  intentVersion,
  isSent,
  type SentIntent,
  type Told,
  unanswered,
  type UnansweredIntent
} from "./IntentStore.ts"
import { isQuiet, millisSince, newMillis } from "./Ownership.ts"

/**
 * The result of a create: a new node (`created`), or one that was made before and found (`adopted`), because the reply was lost or an
 * earlier call had the same key.
 */
export interface Creation {
  readonly outcome: "created" | "adopted"
  /** The node's name has the service's spelling, which may differ from the spec's. */
  readonly node: Node
}

/** The request of a create. */
export interface CreateRequest extends Pick<Intent, "key" | "name" | "plan" | "image" | "spec"> {
  /** Whether the key is the caller's. A random key is never used again. */
  readonly keyed: boolean
  /** Whether the call only looks for the node of an earlier create with this key. */
  readonly adoptOnly: boolean
  /** The deadline of the call. */
  readonly deadlineMillis: number
  /** How often the create may be sent. Only a rejection by the rate limit leads to another attempt. */
  readonly maxAttempts: number
}

/** How often the rate limit has rejected this call. */
interface Refusals {
  readonly refusals: number
}

/** The create was sent and can no longer get a reply, so this call polls the list for its node. */
interface Reconciling extends Refusals {
  readonly _tag: "Reconciling"
  readonly intent: UnansweredIntent
  /** The failure of this call's own request; null if an earlier call sent it. */
  readonly because: BerthError | null
  /** Pauses before the remaining polls. */
  readonly pausesMillis: ReadonlyArray<number>
  /** Whether this call sends the create again as soon as the list shows that the create made nothing. */
  readonly isRepeatable: boolean
  /** Whether the next poll comes too early to prove that the create made nothing. */
  readonly isEarly: boolean
  readonly isListRead: boolean
  /** What was wrong with the list at the latest poll; null if nothing was wrong, or before the first poll. */
  readonly listFault: string | null
  /** The nodes in the latest poll that the create may have made. */
  readonly candidates: ReadonlyArray<Node>
}

export type CreateState =
  /**
   * Reads the intent or the node of an earlier call, or the highest node id. This call has sent nothing yet. The pauses
   * come before further reads of a node that is too new to be found.
   */
  | { readonly _tag: "Reading"; readonly pausesMillis: ReadonlyArray<number> }
  /** The request waits for the rate limit. */
  | ({ readonly _tag: "Queued"; readonly intent: Intent } & Refusals)
  /** The request was sent and may be processed. */
  | ({ readonly _tag: "Sent"; readonly intent: SentIntent } & Refusals)
  | Reconciling
  /** The outcome is final: a late event can no longer replace a known node. */
  | { readonly _tag: "Ended"; readonly outcome: Result.Result<Creation, BerthError> }

export type CreateAction =
  | { readonly _tag: "FindIntent" }
  | { readonly _tag: "GetNode"; readonly id: NodeId; readonly afterMillis: number }
  | { readonly _tag: "ReadHighestId" }
  | { readonly _tag: "Send" }
  | { readonly _tag: "Poll"; readonly intent: SentIntent; readonly afterMillis: number; readonly isOwn: boolean }

export type CreateEvent =
  | { readonly _tag: "IntentRead"; readonly intent: Intent | undefined; readonly now: Instant }
  | { readonly _tag: "NodeRead"; readonly result: Result.Result<Node, BerthError> }
  | { readonly _tag: "HighestIdRead"; readonly result: Result.Result<number, BerthError>; readonly newest: number }
  /** The request is about to be sent; the state becomes `Sent` once that is recorded. */
  | { readonly _tag: "TurnCame"; readonly now: Instant }
  /** The attempt was certainly not processed; another may follow. */
  | { readonly _tag: "NotProcessed" }
  /** The reply names a new node that differs from the order. */
  | { readonly _tag: "NodeTold"; readonly told: Told }
  | {
      readonly _tag: "SendEnded"
      readonly result: Result.Result<Node, BerthError>
      /** A draw from [0, 1). */
      readonly draw: number
      /** The time until the call's deadline. */
      readonly leftMillis: number
    }
  | { readonly _tag: "Interrupted" }
  | ({ readonly _tag: "ListRead" } & Omit<Evidence, "intent">)
  | {
      readonly _tag: "PollFailed"
      readonly error: BerthError
      readonly isListRead: boolean
      /**
       * Possible nodes, if the list was read and only the store failed. Without the store, nothing proves which of them
       * the create made.
       */
      readonly candidates?: ReadonlyArray<Node>
    }
  /** The call's time is up; includes the attempts of its latest request. */
  | { readonly _tag: "DeadlineReached"; readonly tried: Tried }

/** A write of the create's record. */
interface IntentWrite {
  /** Null if the intent is removed. */
  readonly intent: Intent | null
  /** Whether the create fails if the write fails. */
  readonly isRequired: boolean
}

/** The consequence of an event: first the write, then the action. Without an action the create waits for the next event, or has ended. */
export interface CreateStep {
  readonly state: CreateState
  readonly write?: IntentWrite | undefined
  readonly action?: CreateAction | undefined
}

/** Berth assumes that the list shows a node within this time after its create (decision 0008). */
const minMillisUntilListed = 12_000

/**
 * A later call with the same key polls until at least this long after the create was sent. That is enough for a slow service, and fits into
 * a deadline of one minute.
 */
const minMillisSinceSent = 50_000

/** Pauses before the polls after a lost reply; their sum is `minMillisUntilListed`. */
const pausesBeforePollMillis = [0, 1000, 3000, 8000]

/** Pauses before further polls, after a poll that failed or showed candidates. */
const laterPausesMillis = pausesBeforePollMillis.slice(1)

/** Pause before each further poll if the list still cannot be used. The deadline of the create ends these polls. */
const pauseAfterUnusableMillis = 16_000

/** Pauses before the polls for a create that an earlier call sent this long ago. */
const pausesAfter = (millisSinceSent: number): ReadonlyArray<number> => {
  const pauses = [0]
  let left = Math.max(minMillisUntilListed, minMillisSinceSent - millisSinceSent)
  for (let pause = 1000; left > 0; left -= pause, pause *= 2) pauses.push(Math.min(pause, left))
  return pauses
}

/** The reason why the reply to an earlier call's create is missing. */
const unresolvedBefore = { _tag: "OutcomeUnknown", message: "an earlier create with this key is unresolved" } as const

const start: CreateStep = { state: { _tag: "Reading", pausesMillis: [] }, action: { _tag: "ReadHighestId" } }

/** The first step. With a caller's key, an earlier call may have left an intent. */
export const firstStep = ({ keyed }: CreateRequest): CreateStep =>
  keyed ? { ...start, action: { _tag: "FindIntent" } } : start

/** Whether a step begins a new request. */
const beginsAnew = ({ action }: CreateStep): boolean => action?._tag === "ReadHighestId" || action?._tag === "Send"

/** The step after an event. An event that the state does not expect changes nothing. */
export const next = (request: CreateRequest, state: CreateState, event: CreateEvent): CreateStep => {
  const step = stepAfter(request, state, event)
  return request.adoptOnly && beginsAnew(step) ? failed(keyFault("no create with it made a node")) : step
}

const stepAfter = (request: CreateRequest, state: CreateState, event: CreateEvent): CreateStep => {
  if (state._tag === "Ended") return { state }
  switch (event._tag) {
    case "IntentRead":
      return event.intent === undefined ? start : resumed(request, event.intent, event.now)
    case "NodeRead": {
      if (Result.isSuccess(event.result)) return succeeded("adopted", event.result.success)
      const { reason } = event.result.failure
      if (reason._tag !== "NodeNotFound") return failed(event.result.failure)
      return state._tag === "Reading" && state.pausesMillis.length > 0
        ? reading(reason.nodeId, state.pausesMillis)
        : failed(keyFault(`it made node ${reason.nodeId}, which is gone`))
    }
    case "HighestIdRead":
      return Result.isSuccess(event.result)
        ? prepared(request, event.result.success, event.newest)
        : failed(failureOf(event.result.failure, request.deadlineMillis, true))
    case "TurnCame":
    case "NotProcessed":
    case "NodeTold":
    case "SendEnded":
    case "Interrupted":
      return state._tag === "Queued" || state._tag === "Sent" ? sending(request, state, event) : { state }
    case "ListRead":
    case "PollFailed":
      return state._tag === "Reconciling" ? polled(request, state, event) : { state }
    case "DeadlineReached":
      return late(request, state, event.tried)
  }
}

const succeeded = (outcome: Creation["outcome"], node: Node, intent?: Intent): CreateStep => ({
  state: { _tag: "Ended", outcome: Result.succeed({ outcome, node }) },
  // A failure of this write does no harm, because the existing record already leads to the same node.
  write: intent && { intent: { ...intent, nodeId: node.id }, isRequired: false }
})

const failed = (error: BerthError, write?: IntentWrite): CreateStep => ({
  state: { _tag: "Ended", outcome: Result.fail(error) },
  write
})

/** Finishes the create of an earlier call or process, or begins again if that create was never processed. */
const resumed = (request: CreateRequest, intent: Intent, now: Instant): CreateStep => {
  const { image, name, nodeId, plan } = intent
  if (!isSame(intent, request)) {
    const what = `it belongs to another create, of ${name} on ${plan} from ${image}`
    return failed(keyFault(isAlike(intent, request) ? `${what} with other tags, SSH keys or settings` : what))
  }
  if (nodeId !== null) {
    const isNew = isSent(intent) && millisSince(intent.sentAt, now) < newMillis
    return reading(nodeId, isNew ? pausesBeforePollMillis : [0])
  }
  if (!isSent(intent)) return start
  const sinceMillis = millisSince(intent.sentAt, now)
  // The process of the earlier call may still run, but that call has ended, at its deadline or because its caller gave it up.
  const left = unanswered(intent)
  const isRepeatable = left.fate === "refused"
  // The time of the refusal is not recorded, but it was before this call.
  const isEarly = isRepeatable && !isQuiet(intent.sentAt, now)
  const pausesMillis = isRepeatable
    ? [0, ...(isEarly ? [minMillisUntilListed] : []), ...laterPausesMillis]
    : // The earlier call looked for the node that the reply named. Look once more, because the node may have another name now.
      left.told !== undefined
      ? [0]
      : pausesAfter(sinceMillis)
  return reconciling({ intent: left, because: null, pausesMillis, isRepeatable, isEarly, refusals: 0 }, true)
}

/** Reads the node of an earlier call. */
const reading = (id: NodeId, [afterMillis = 0, ...pausesMillis]: ReadonlyArray<number>): CreateStep => ({
  state: { _tag: "Reading", pausesMillis },
  action: { _tag: "GetNode", id, afterMillis }
})

/** The intent of a new create. Without a caller's key nothing is written before the request is sent. */
const prepared = (
  { image, key, keyed, name, plan, spec }: CreateRequest,
  newerThan: number,
  newest: number
): CreateStep => {
  const intent: Intent = {
    version: intentVersion,
    key,
    name,
    plan,
    image,
    spec,
    newerThan,
    ...(newest > newerThan && { newest }),
    sentAt: null,
    fate: "open",
    nodeId: null
  }
  return queued(keyed, intent, 0)
}

const queued = (keyed: boolean, intent: Intent, refusals: number): CreateStep => ({
  state: { _tag: "Queued", intent, refusals },
  write: keyed ? { intent, isRequired: true } : undefined,
  action: { _tag: "Send" }
})

const unsent = (intent: Intent): Intent => ({ ...intent, sentAt: null, fate: "open" })

type Sending = Extract<CreateState, { readonly _tag: "Queued" | "Sent" }>
type SendEvent = Extract<
  CreateEvent,
  { readonly _tag: "TurnCame" | "NotProcessed" | "NodeTold" | "SendEnded" | "Interrupted" }
>

const removed: IntentWrite = { intent: null, isRequired: false }

/** Handles the request from the queue to its reply. */
const sending = (request: CreateRequest, state: Sending, event: SendEvent): CreateStep => {
  const { intent, refusals } = state
  switch (event._tag) {
    case "TurnCame":
      // With a caller's key every request is recorded before it is sent, because a later call relies on the record.
      return sent({ ...intent, sentAt: event.now, fate: "open" }, refusals, request.keyed)
    case "NotProcessed": {
      const again = unsent(intent)
      return { state: { ...state, _tag: "Queued", intent: again }, write: { intent: again, isRequired: false } }
    }
    case "NodeTold":
      // The step after the reply records the node.
      return { state: state._tag === "Sent" ? { ...state, intent: { ...state.intent, told: event.told } } : state }
    case "Interrupted":
      return state._tag === "Sent" ? sent({ ...state.intent, fate: "lost" }, refusals, false) : { state }
    case "SendEnded": {
      if (Result.isSuccess(event.result)) return succeeded("created", event.result.success, intent)
      const error = failureOf(event.result.failure, request.deadlineMillis, false)
      if (state._tag !== "Sent" || !error.reason.mayBeProcessed) return failed(error, removed)
      // The list would show the nodes that the reply named, but not which of them this create made.
      if (intent.told?.others !== undefined) {
        const step = unknown(request, { ...state, because: error, isListRead: false, listFault: null })
        return { ...step, write: step.write ?? { intent: { ...state.intent, fate: "lost" }, isRequired: false } }
      }
      return reconciling(
        // A 429 is about the rate limit or about a quota. Never repeat a create that a quota rejected.
        error.reason.retry === "throttled" || error.reason._tag === "InvalidRequest"
          ? refused(request, state, error, event)
          : {
              intent: { ...state.intent, fate: "lost" },
              because: error,
              pausesMillis: pausesBeforePollMillis,
              isRepeatable: false,
              isEarly: false,
              refusals
            },
        false
      )
    }
  }
}

/**
 * Decides what follows a 429. The create waits as any other call does, but at least as long as a node may take to be
 * listed. A random quarter is added, because many callers would otherwise return at once. After the pause, the list
 * shows whether the service made the node although it refused the create. If the deadline has no room for the pause,
 * the list is read at once, and the create is not sent again.
 */
const refused = (
  request: CreateRequest,
  state: Extract<CreateState, { readonly _tag: "Sent" }>,
  because: BerthError,
  { draw, leftMillis }: Pick<Extract<CreateEvent, { readonly _tag: "SendEnded" }>, "draw" | "leftMillis">
): Begun => {
  const refusals = state.refusals + 1
  const decision = decide({
    reason: because.reason,
    repeatable: "idempotent",
    attempts: refusals,
    maxAttempts: request.maxAttempts,
    budget: fullBudget,
    leftMillis,
    draw
  })
  const listedMillis = minMillisUntilListed * (1 + draw / 4)
  const pauseMillis = decision._tag === "Again" ? Math.max(decision.delayMillis, listedMillis) : Infinity
  const isRepeatable = pauseMillis < leftMillis
  return {
    intent: { ...state.intent, fate: "refused" },
    because,
    pausesMillis: isRepeatable ? [pauseMillis, ...laterPausesMillis] : [0],
    isRepeatable,
    isEarly: false,
    refusals
  }
}

const sent = (intent: SentIntent, refusals: number, isRequired: boolean): CreateStep => ({
  state: { _tag: "Sent", intent, refusals },
  write: { intent, isRequired }
})

/** What is known before the first poll. */
type Begun = Omit<Reconciling, "_tag" | "isListRead" | "listFault" | "candidates">

const reconciling = (state: Begun, isRequired: boolean): CreateStep => ({
  ...pollAgain({ _tag: "Reconciling", isListRead: false, listFault: null, candidates: [], ...state }),
  write: { intent: state.intent, isRequired }
})

/** The next poll; the same state without an action if no poll is left. */
const pollAgain = (state: Reconciling): CreateStep => {
  const [afterMillis, ...pausesMillis] = state.pausesMillis
  if (afterMillis === undefined) return { state }
  const { because, intent } = state
  return {
    state: { ...state, pausesMillis },
    action: { _tag: "Poll", intent, afterMillis, isOwn: because !== null }
  }
}

type PollEvent = Extract<CreateEvent, { readonly _tag: "ListRead" | "PollFailed" }>

/** What is wrong with the list of a poll; null if the list is usable, or if only the store failed. */
const listFaultOf = (event: PollEvent): string | null =>
  event._tag === "ListRead"
    ? event.isWhole
      ? null
      : unprovedList
    : event.isListRead
      ? null
      : unusableList(event.error.reason)

/** Handles a poll. Polling continues until the node is found or has had time to appear. */
const polled = (request: CreateRequest, before: Reconciling, event: PollEvent): CreateStep => {
  const isListRead = before.isListRead || event._tag === "ListRead" || event.isListRead
  const listFault = listFaultOf(event)
  const state = { ...before, isListRead, listFault, isEarly: false }
  const { because, intent } = state
  const again = pollAgain(state)
  if (event._tag === "PollFailed") {
    // A list that contradicts itself may be right a moment later, because its total may be ahead of its rows.
    const isUnusable = event.error.reason._tag === "UnexpectedResponse"
    // A temporary failure is no answer; the next poll may succeed.
    if ((event.error.retryable || isUnusable) && again.action) return again
    if (isUnusable && because !== null) return pollAgain({ ...state, pausesMillis: [pauseAfterUnusableMillis] })
    return because === null ? failed(event.error) : unknown(request, state, event.candidates ?? state.candidates)
  }
  const resolution = resolve({ ...event, intent })
  switch (resolution._tag) {
    case "Found":
      return succeeded("adopted", resolution.node, intent)
    case "Ambiguous":
      return unknown(request, state, resolution.candidates)
    case "Undecided":
      // The rate limit has most likely kept the service from making a node, but reading this list again cannot prove
      // it.
      if (intent.fate === "refused" && because !== null && mayBeUnlisted({ listFault, ...resolution })) {
        return unknown(request, state)
      }
      return again.action
        ? pollAgain({ ...state, candidates: resolution.candidates })
        : unknown(request, state, resolution.candidates)
    case "Absent": {
      const isOver = isQuiet(intent.sentAt, event.now)
      // If the request was rejected long ago, read the highest id anew, because nodes that are listed by now do not
      // belong to the next request.
      if (state.isRepeatable && !before.isEarly)
        return isOver ? start : queued(request.keyed, unsent(intent), state.refusals)
      // The rate limit has rejected the last attempt. A later call with the key reads the list once more.
      if (intent.fate === "refused" && because !== null) return failed(because, request.keyed ? undefined : removed)
      if (again.action) return again
      return because === null && isOver ? start : unknown(request, state)
    }
  }
}

/** Ends a create whose outcome is unknown. */
const unknown = (
  { keyed, name }: CreateRequest,
  {
    because,
    intent,
    isListRead,
    listFault
  }: Pick<Reconciling, "because" | "isListRead" | "listFault"> & { readonly intent: SentIntent },
  candidates: ReadonlyArray<Node> = [],
  otherwise: Pick<ErrorReason, "_tag" | "message"> = unresolvedBefore,
  tried: Tried = untried
): CreateStep => {
  const { _tag, message } = because?.reason ?? otherwise
  const { told } = intent
  const ids = candidates.map(({ id }) => id)
  const reason = new OutcomeUnknown({
    nodeName: name,
    candidates: Array.from(new Set([...idsOf(told), ...ids])),
    toldId: told?.id ?? null,
    difference: told === undefined || told.others !== undefined ? null : told.difference,
    listRead: isListRead,
    listFault,
    because: _tag,
    detail: message,
    keyed
  })
  return failed(
    createFailure(reason, because ?? tried),
    // Without a caller's key, no call asks for this create again, but later creates must still know about it.
    keyed
      ? ids.length > 0
        ? { intent: { ...intent, seen: Array.from(new Set([...(intent.seen ?? []), ...ids])) }, isRequired: false }
        : undefined
      : { intent: { ...intent, fate: "reported" }, isRequired: false }
  )
}

/** The failure of a call whose time is up. */
const late = (
  request: CreateRequest,
  state: Exclude<CreateState, { readonly _tag: "Ended" }>,
  tried: Tried
): CreateStep => {
  const timedOut = (sent: "no" | "maybe") =>
    new TimedOut({ limit: "deadline", afterMillis: request.deadlineMillis, sent })
  switch (state._tag) {
    case "Reading":
      return failed(createFailure(timedOut("no"), tried))
    case "Queued":
      return failed(createFailure(timedOut("no"), tried), request.keyed ? undefined : removed)
    case "Sent":
      return unknown(
        request,
        { ...state, because: null, isListRead: false, listFault: null },
        [],
        timedOut("maybe"),
        tried
      )
    case "Reconciling":
      return unknown(request, state, state.candidates, timedOut("maybe"), tried)
  }
}
