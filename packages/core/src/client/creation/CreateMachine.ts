/**
 * Decides what a create does next. Pure: an event leads from one state to another, to what is written of it and to the next action;
 * `Creator.ts` writes, acts, and feeds back the outcome. The interface has no idempotency key and a node costs money, so a create
 * that may have been processed is not sent again: the list is polled for its node, and `Reconciliation.ts` judges.
 */
import { Result } from "effect"
import type { BerthError } from "../../domain/BerthError.ts"
import { type ErrorReason, OutcomeUnknown, TimedOut } from "../../domain/ErrorReason.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import { createFailure, failureOf, keyFault, type Tried, untried } from "./createFailure.ts"
import {
  type Instant,
  type Intent,
  intentVersion,
  isAlike,
  isSent,
  millisSince,
  type SentIntent,
  unanswered,
  type UnansweredIntent
} from "./Intent.ts"
import { type Evidence, resolve } from "./Reconciliation.ts"

/** What came of a create: a new node, or one found to be its own, because its reply was lost or its key had made it. */
export interface Creation {
  readonly outcome: "created" | "adopted"
  readonly node: Node
}

/** What is asked for. */
export interface CreateRequest extends Pick<Intent, "key" | "name" | "plan" | "image"> {
  /** Whether the key is the caller's. One that is drawn is not asked for again. */
  readonly keyed: boolean
  /** The deadline of the call. */
  readonly deadlineMillis: number
}

/** The create was sent and no reply can come any more: the list is polled for its node. */
interface Reconciling {
  readonly _tag: "Reconciling"
  readonly intent: UnansweredIntent
  /** The failure of this call's own request; null where an earlier call sent it. */
  readonly because: BerthError | null
  /** Pauses before the polls that are left. */
  readonly pausesMillis: ReadonlyArray<number>
  readonly isListRead: boolean
}

export type CreateState =
  /** What an earlier call left is read, or the highest node id. This call has sent nothing. */
  | { readonly _tag: "Reading" }
  /** The request waits for its turn. */
  | { readonly _tag: "Queued"; readonly intent: Intent }
  /** The request may be processed. */
  | { readonly _tag: "Sent"; readonly intent: SentIntent }
  | Reconciling
  /** Nothing that follows changes the outcome: a node that is known is not lost by a later step. */
  | { readonly _tag: "Ended"; readonly outcome: Result.Result<Creation, BerthError> }

export type CreateAction =
  | { readonly _tag: "FindIntent" }
  | { readonly _tag: "GetNode"; readonly id: NodeId }
  | { readonly _tag: "ReadHighestId" }
  | { readonly _tag: "Send" }
  | { readonly _tag: "Poll"; readonly intent: SentIntent; readonly afterMillis: number; readonly isOwn: boolean }

export type CreateEvent =
  | { readonly _tag: "IntentRead"; readonly intent: Intent | undefined; readonly now: Instant }
  | { readonly _tag: "NodeRead"; readonly result: Result.Result<Node, BerthError> }
  | { readonly _tag: "HighestIdRead"; readonly result: Result.Result<number, BerthError> }
  /** The request is about to be sent: it is `Sent` once that is written. */
  | { readonly _tag: "TurnCame"; readonly now: Instant }
  /** The request has left the process: `leavingMillis` after it was sent. */
  | { readonly _tag: "Left" }
  /** The attempt was certainly not processed; another may follow. */
  | { readonly _tag: "NotProcessed" }
  | { readonly _tag: "SendEnded"; readonly result: Result.Result<Node, BerthError> }
  | { readonly _tag: "Interrupted" }
  | ({ readonly _tag: "ListRead"; readonly now: Instant } & Omit<Evidence, "intent">)
  | { readonly _tag: "PollFailed"; readonly error: BerthError; readonly isListRead: boolean }
  /** The time of the create is up; with what its latest request has tried. */
  | { readonly _tag: "DeadlineReached"; readonly tried: Tried }

/** What is written of a create. */
interface IntentWrite {
  /** Null where the intent is removed. */
  readonly intent: Intent | null
  /** Whether the create fails where it cannot be written. */
  readonly isRequired: boolean
}

/** What follows an event: first the write, then the action. Without an action the create waits for the next event, or has ended. */
export interface CreateStep {
  readonly state: CreateState
  readonly write?: IntentWrite | undefined
  readonly action?: CreateAction | undefined
}

/** A request has left its process this long after it was sent, at the latest: one that is slower is taken to have left, too. */
export const leavingMillis = 200

/** A node shows in the list within this time of its create, if the service lets it. */
const minMillisUntilListed = 12_000

/**
 * A create that shows no node this long after it was sent was not processed, and may be sent again. Where the reply was lost
 * the request had left, and gateways and workers may process it long after its client has given up. Where the process was killed
 * in the moment it sent, the request may never have left, and the next run has a minute to resolve the create.
 */
const neverProcessedMillis = { lost: 600_000, killed: 50_000 }

/** Pauses before the polls after a lost reply: together `minMillisUntilListed`. */
const pausesBeforePollMillis = [0, 1000, 3000, 8000]

/** Pauses before the polls for a create of an earlier call, which was sent so long ago. */
const pausesAfter = (millisSinceSent: number): ReadonlyArray<number> => {
  const pauses = [0]
  let left = Math.max(minMillisUntilListed, neverProcessedMillis.killed - millisSinceSent)
  for (let pause = 1000; left > 0; left -= pause, pause *= 2) pauses.push(Math.min(pause, left))
  return pauses
}

/** Why the reply of an earlier call's create is missing. */
const unresolvedBefore = { _tag: "OutcomeUnknown", message: "an earlier create with this key is unresolved" } as const

const start: CreateStep = { state: { _tag: "Reading" }, action: { _tag: "ReadHighestId" } }

/** The first step: under a caller's key an earlier call may have left an intent. */
export const firstStep = ({ keyed }: CreateRequest): CreateStep =>
  keyed ? { ...start, action: { _tag: "FindIntent" } } : start

/** What an event leads to. One that the state does not wait for changes nothing. */
export const next = (request: CreateRequest, state: CreateState, event: CreateEvent): CreateStep => {
  if (state._tag === "Ended") return { state }
  switch (event._tag) {
    case "IntentRead":
      return event.intent === undefined ? start : resumed(request, event.intent, event.now)
    case "NodeRead": {
      if (Result.isSuccess(event.result)) return succeeded("adopted", event.result.success)
      const { reason } = event.result.failure
      const isGone = reason._tag === "NodeNotFound"
      return failed(isGone ? keyFault(`it made node ${reason.nodeId}, which is gone`) : event.result.failure)
    }
    case "HighestIdRead":
      return Result.isSuccess(event.result)
        ? prepared(request, event.result.success)
        : failed(failureOf(event.result.failure, request.deadlineMillis, true))
    case "TurnCame":
    case "Left":
    case "NotProcessed":
    case "SendEnded":
    case "Interrupted":
      return state._tag === "Queued" || state._tag === "Sent" ? sending(request, state, event) : { state }
    case "ListRead":
    case "PollFailed":
      return state._tag === "Reconciling" ? polled(request, state, event) : { state }
    case "DeadlineReached":
      return failed(late(request, state, event.tried))
  }
}

const succeeded = (outcome: Creation["outcome"], node: Node, intent?: Intent): CreateStep => ({
  state: { _tag: "Ended", outcome: Result.succeed({ outcome, node }) },
  // That this cannot be written harms no one: what is written already leads to the same node.
  write: intent && { intent: { ...intent, nodeId: node.id }, isRequired: false }
})

const failed = (error: BerthError, write?: IntentWrite): CreateStep => ({
  state: { _tag: "Ended", outcome: Result.fail(error) },
  write
})

/** Finishes a create that an earlier call or process left, or begins anew where it was never processed. */
const resumed = (request: CreateRequest, intent: Intent, now: Instant): CreateStep => {
  const { image, name, nodeId, plan } = intent
  if (!isAlike(intent, request)) {
    return failed(keyFault(`it is that of another create, of ${name} on ${plan} from ${image}`))
  }
  if (nodeId !== null) return { ...start, action: { _tag: "GetNode", id: nodeId } }
  if (!isSent(intent)) return start
  const pausesMillis = pausesAfter(millisSince(intent.sentAt, now))
  // If its process still runs, its call has ended there (deadline or interruption) and the request had left: hence `lost`.
  return reconciling({ intent: unanswered(intent, "lost"), because: null, pausesMillis }, true)
}

/** The intent of a create that is new. Without a caller's key nothing is written before the request is sent. */
const prepared = ({ image, key, keyed, name, plan }: CreateRequest, newerThan: number): CreateStep => {
  const intent: Intent = {
    version: intentVersion,
    key,
    name,
    plan,
    image,
    newerThan,
    sentAt: null,
    fate: "open",
    nodeId: null
  }
  return {
    state: { _tag: "Queued", intent },
    write: keyed ? { intent, isRequired: true } : undefined,
    action: { _tag: "Send" }
  }
}

type Sending = Extract<CreateState, { readonly _tag: "Queued" | "Sent" }>
type SendEvent = Extract<
  CreateEvent,
  { readonly _tag: "TurnCame" | "Left" | "NotProcessed" | "SendEnded" | "Interrupted" }
>

/** What the request comes to, from the queue to its reply. */
const sending = ({ deadlineMillis, keyed }: CreateRequest, state: Sending, event: SendEvent): CreateStep => {
  const { intent } = state
  switch (event._tag) {
    case "TurnCame":
      // Under a caller's key nothing is sent that is not written: a later call relies on it.
      return sent({ ...intent, sentAt: event.now, fate: "open" }, keyed)
    case "NotProcessed": {
      const unsent: Intent = { ...intent, sentAt: null, fate: "open" }
      return { state: { _tag: "Queued", intent: unsent }, write: { intent: unsent, isRequired: false } }
    }
    case "Left":
      return state._tag === "Sent" ? sent({ ...state.intent, fate: "left" }, false) : { state }
    case "Interrupted":
      // The next call that asks for it knows that the request had left.
      return state._tag === "Sent" ? sent({ ...state.intent, fate: "lost" }, false) : { state }
    case "SendEnded": {
      if (Result.isSuccess(event.result)) return succeeded("created", event.result.success, keyed ? intent : undefined)
      const error = failureOf(event.result.failure, deadlineMillis, false)
      return state._tag === "Sent" && error.reason.mayBeProcessed
        ? reconciling(
            { intent: { ...state.intent, fate: "lost" }, because: error, pausesMillis: pausesBeforePollMillis },
            false
          )
        : failed(error, { intent: null, isRequired: false })
    }
  }
}

const sent = (intent: SentIntent, isRequired: boolean): CreateStep => ({
  state: { _tag: "Sent", intent },
  write: { intent, isRequired }
})

const reconciling = (state: Omit<Reconciling, "_tag" | "isListRead">, isRequired: boolean): CreateStep => ({
  ...pollAgain({ _tag: "Reconciling", isListRead: false, ...state }),
  write: { intent: state.intent, isRequired }
})

/** The next poll; the same state without an action when none is left. */
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

/** What a poll shows. Polls go on until the node is found, or has had time to show. */
const polled = (request: CreateRequest, before: Reconciling, event: PollEvent): CreateStep => {
  const state = { ...before, isListRead: before.isListRead || event._tag === "ListRead" || event.isListRead }
  const { because, intent } = state
  const again = pollAgain(state)
  if (event._tag === "PollFailed") {
    // A failure that may pass is no answer; the next poll may have one.
    if (event.error.retryable && again.action) return again
    return failed(because === null ? event.error : unresolved(request, state, []))
  }
  const resolution = resolve({ ...event, intent })
  switch (resolution._tag) {
    case "Found":
      return succeeded("adopted", resolution.node, intent)
    case "Ambiguous":
      return failed(unresolved(request, state, resolution.candidates))
    case "Undecided":
      return again.action ? again : failed(unresolved(request, state, resolution.candidates))
    case "Absent":
      if (again.action) return again
      return because === null && millisSince(intent.sentAt, event.now) >= neverProcessedMillis[intent.fate]
        ? start
        : failed(unresolved(request, state, []))
  }
}

/** It is not known whether the create made a node. */
const unresolved = (
  { keyed, name }: CreateRequest,
  { because, isListRead }: Pick<Reconciling, "because" | "isListRead">,
  candidates: ReadonlyArray<Node>,
  otherwise: Pick<ErrorReason, "_tag" | "message"> = unresolvedBefore,
  tried: Tried = untried
) => {
  const { _tag, message } = because?.reason ?? otherwise
  const ids = candidates.map(({ id }) => id)
  return createFailure(
    new OutcomeUnknown({
      nodeName: name,
      candidates: ids,
      listRead: isListRead,
      because: _tag,
      detail: message,
      keyed
    }),
    because ?? tried
  )
}

/** The failure of a call whose time is up. */
const late = (
  request: CreateRequest,
  state: Exclude<CreateState, { readonly _tag: "Ended" }>,
  tried: Tried
): BerthError => {
  const timedOut = (sent: "no" | "maybe") =>
    new TimedOut({ limit: "deadline", afterMillis: request.deadlineMillis, sent })
  switch (state._tag) {
    case "Reading":
    case "Queued":
      return createFailure(timedOut("no"), tried)
    case "Sent":
      return unresolved(request, { because: null, isListRead: false }, [], timedOut("maybe"), tried)
    case "Reconciling":
      return unresolved(request, state, [], timedOut("maybe"), tried)
  }
}
