/**
 * The reasons why a call can fail: one class per reason, each with its fields, its one-sentence `message`, its `hint`
 * (what to do next) and whether a `retry` can help. `BerthError.ts` carries them; `api/Reply.ts` decides which reply
 * means which reason. The fields listed in `ours` hold Berth's own words and are not masked: everybody can look up
 * these words, so a mask over a part of them would reveal a secret that happens to equal that part.
 */
import { type Cause, Data } from "effect"
import { fileReasonOf, fileRemedyOf, mayPass } from "./fileReason.ts"
import type { NodeId } from "./Node.ts"
import { isKnown, isUnstated, label, type NodeStatus } from "./NodeStatus.ts"

/** The classification of a reason, next to its own fields. Reasons are classified nowhere else. */
export interface Classification {
  /** One sentence: what to do next. It holds no string from outside, because hints are not masked. */
  readonly hint: string
  /** Whether the same call may succeed later, unchanged. */
  readonly retryable: boolean
  /**
   * Whether another attempt of the same call may follow. `never`: no. `transient`: after a pause, because the service or the way to it
   * failed; the circuit breaker counts these failures. `throttled`: after a longer pause, because of the rate limit.
   */
  readonly retry: "never" | "transient" | "throttled"
  /** Whether the service may have carried out the request although the call failed, so that a create may have made a node. */
  readonly mayBeProcessed: boolean
  /** Name of the exit code of a command that fails for this reason. */
  readonly exit: "denied" | "notFound" | "rejected" | "rateLimited" | "unavailable" | "outcomeUnknown" | "localFile"
}

/** The common field of the reasons about waiting. */
interface RetryAfter {
  /**
   * How long the service asks to wait, in milliseconds, at least 0; null if it does not ask. For `CircuitOpen`, the time until a call may
   * be made again.
   */
  readonly retryAfterMillis: number | null
}

/** A time, as precise as a waiting person needs it: `300 ms`, `1.5 s`, `90 s`, `34 min`, `2 h 5 min`, `more than a day`. */
const time = (millis: number): string => {
  const whole = Math.max(0, Math.round(millis))
  if (whole < 1000) return `${whole} ms`
  const tenths = Math.round(whole / 100)
  if (tenths < 1200) return `${tenths < 100 ? tenths / 10 : Math.round(whole / 1000)} s`
  if (whole > 86_400_000) return "more than a day"
  const minutes = Math.ceil(whole / 60_000)
  const hours = Math.floor(minutes / 60)
  return [hours > 0 && `${hours} h`, minutes % 60 > 0 && `${minutes % 60} min`].filter(Boolean).join(" ")
}

/** Turns a sentence into the end of another one: without its full stop, and with a small first letter. */
const clause = (sentence: string): string =>
  sentence.replace(/\.$/, "").replace(/^[A-Z](?=[a-z ])/, (first) => first.toLowerCase())

/** 401: the API key or the access token is missing or wrong. */
export class Unauthorized extends Data.TaggedError("Unauthorized")<{
  /** What the service said about it. */
  readonly detail: string
}> {
  readonly retryable = false
  readonly retry = "never"
  readonly mayBeProcessed = false
  readonly exit = "denied"
  readonly hint = "Check the API key and the access token; you make new ones in the account portal."
  override get message() {
    return `The service refused the credentials: ${this.detail}.`
  }
}

/** 403: the credentials are known, but not allowed to do this. */
export class Forbidden extends Data.TaggedError("Forbidden")<{
  /** What the service said about it. */
  readonly detail: string
}> {
  readonly retryable = false
  readonly retry = "never"
  readonly mayBeProcessed = false
  readonly exit = "denied"
  get hint() {
    return /api not public/i.test(this.detail)
      ? "The gateway may refuse this User-Agent: set userAgent or BERTH_USER_AGENT."
      : "Check that the API key and the access token belong to the same account, and what that account may do."
  }
  override get message() {
    return `The account may not do this: ${this.detail}.`
  }
}

/** 404 for a request that named a node. */
export class NodeNotFound extends Data.TaggedError("NodeNotFound")<{
  /** The id that was asked for. */
  readonly nodeId: NodeId
  /** What the service said about it; null when it gave no reason. */
  readonly detail: string | null
}> {
  constructor(fields: { readonly nodeId: NodeId; readonly detail?: string | null }) {
    super({ detail: null, ...fields })
  }
  readonly retryable = false
  readonly retry = "never"
  readonly mayBeProcessed = false
  readonly exit = "notFound"
  readonly hint = "List the nodes to see which exist; a deleted node disappears when its termination ends."
  override get message() {
    const more =
      this.detail === null || /not found|no (?:such )?node|not exist/i.test(this.detail) ? "" : `: ${this.detail}`
    return `Node ${this.nodeId} does not exist in this account${more}.`
  }
}

/** 404 for a request that named no node: the service does not know the address itself. */
export class PathNotFound extends Data.TaggedError("PathNotFound")<{
  /** What the service said about it. */
  readonly detail: string
}> {
  readonly retryable = false
  readonly retry = "never"
  readonly mayBeProcessed = false
  readonly exit = "notFound"
  readonly hint = "Check the path and the base URL, which is the service's scheme and host."
  override get message() {
    return `The service has nothing at this address: ${this.detail}.`
  }
}

/**
 * The service understood the request and refused it: 400, 422, any 4xx without a reason of its own, or a 429 because of the account's
 * quota.
 */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{
  /** HTTP status; null if the client refused the request before sending it. */
  readonly status: number | null
  /** What is wrong, according to the service or the client. */
  readonly detail: string
  /** Field of the request → what is wrong with it; faults of the whole request are under `detail`. */
  readonly fields: Readonly<Record<string, ReadonlyArray<string>>>
}> {
  readonly retryable = false
  readonly retry = "never"
  /**
   * True for a 429 about a quota, as for a 429 about the rate limit. The client then looks once whether the refused create made a node
   * after all.
   */
  get mayBeProcessed() {
    return this.status === 429
  }
  readonly exit = "rejected"
  get hint() {
    if (this.status === 405) return "Use a method that the path supports."
    if (this.status === 429) return "Delete what you do not need, or have the service raise the quota."
    if (Object.keys(this.fields).some((field) => field !== "detail")) {
      return "Correct the named fields and send the request again."
    }
    return this.status === null
      ? "Nothing was sent; correct this and try again."
      : "Correct the request and send it again."
  }
  override get message() {
    // The detail has everything that the service said.
    if (this.status !== null) return `The service refused the request: ${this.detail}.`
    const faults = Object.entries(this.fields).map(([field, messages]) => {
      const text = messages.map((message) => message.replace(/\.$/, "")).join(", ")
      return field === "detail" ? text : `${field}: ${text}`
    })
    return `The request cannot be sent: ${faults.length === 0 ? this.detail : faults.join("; ")}.`
  }
}

/** 409 or 423: the state of the resource forbids it (a locked node, a taken name). */
export class Conflict extends Data.TaggedError("Conflict")<{
  /** What the service said about it. */
  readonly detail: string
}> {
  readonly retryable = false
  readonly retry = "never"
  readonly mayBeProcessed = false
  readonly exit = "rejected"
  readonly hint = "Check whether the name is taken, and unlock a locked node in the portal first."
  override get message() {
    return `The current state does not allow this: ${this.detail}.`
  }
}

/**
 * 412: something else is required first (credits, a verified account), or the request breaks a rule of the service, for example with a plan
 * name that it does not accept.
 */
export class PreconditionFailed extends Data.TaggedError("PreconditionFailed")<{
  /** What the service said about it. */
  readonly detail: string
}> {
  readonly retryable = false
  readonly retry = "never"
  readonly mayBeProcessed = false
  readonly exit = "rejected"
  get hint() {
    return /(^|: )plan .*(exist|found|valid)|(valid|such) plan/i.test(this.detail)
      ? "Plans are named by their slugs."
      : "Do what the reason asks for, in the account portal if need be, then try again."
  }
  override get message() {
    return `A precondition is not met: ${this.detail}.`
  }
}

/** 429: the allowance is spent. */
export class RateLimited extends Data.TaggedError("RateLimited")<
  {
    /** What the service said about it; null when it gave no reason. */
    readonly detail: string | null
  } & RetryAfter
> {
  constructor(fields: { readonly detail?: string | null } & RetryAfter) {
    super({ detail: null, ...fields })
  }
  readonly retryable = true
  readonly retry = "throttled"
  /** The interface does not say that a request with this reply was not carried out. */
  readonly mayBeProcessed = true
  readonly exit = "rateLimited"
  get hint() {
    const when = this.retryAfterMillis === null ? "in a minute" : `in ${time(this.retryAfterMillis)}`
    return `Try again ${when}; other clients on the same API key spend the same allowance.`
  }
  override get message() {
    const asks = this.retryAfterMillis === null ? "" : `, and asks to wait ${time(this.retryAfterMillis)}`
    return `The service refused the call over its rate limit${asks}${this.detail === null ? "" : `: ${this.detail}`}.`
  }
}

/** The allowance refills only after the deadline: the call was not sent. */
export class WouldExceedDeadline extends Data.TaggedError("WouldExceedDeadline")<{
  /** The minimum time that the call would have to wait for its turn, in milliseconds. More than `leftMillis`. */
  readonly predictedMillis: number
  /** Time left until the call's deadline, in milliseconds. */
  readonly leftMillis: number
  /** Why this call has to wait although an interactive read could be sent now. Null if an interactive read would have to wait as well. */
  readonly heldBack: {
    /** Requests left, 0 or more. */
    readonly remaining: number
    /** If no more than this many requests are left, only interactive reads may use them. */
    readonly kept: number
  } | null
}> {
  readonly retryable = true
  readonly retry = "never"
  readonly mayBeProcessed = false
  readonly exit = "rateLimited"
  get hint() {
    return `Try again in ${time(this.predictedMillis)}.`
  }
  override get message() {
    return `${this.why}: this call may go in ${time(this.predictedMillis)}, and its deadline is in ${time(this.leftMillis)}.`
  }
  private get why() {
    if (this.heldBack === null) return "Too little is left of the rate limit"
    const { kept, remaining } = this.heldBack
    const left = remaining === 1 ? "1 request is left" : `${remaining} requests are left`
    const last = kept === 1 ? "the last of the rate limit is kept" : `the last ${kept} of the rate limit are kept`
    return `${left}, and ${last} for interactive reads`
  }
}

/** 408, 502, 503 or 504: the service cannot answer at the moment. */
export class ServiceUnavailable extends Data.TaggedError("ServiceUnavailable")<
  {
    /** HTTP status: 408, 502, 503 or 504. */
    readonly status: number
    /** What the service said about it. */
    readonly detail: string
  } & RetryAfter
> {
  readonly retryable = true
  readonly retry = "transient"
  readonly mayBeProcessed = true
  readonly exit = "unavailable"
  readonly hint = "Try again later."
  override get message() {
    return `The service is not available (${this.status}): ${this.detail}.`
  }
}

/** Any other 5xx: the service failed. */
export class ServiceFault extends Data.TaggedError("ServiceFault")<
  {
    /**
     * 500 to 599, except the statuses of `ServiceUnavailable`. It is a 2xx status if the reply to a change names errors but states no
     * failure status.
     */
    readonly status: number
    /** What the service said about it. */
    readonly detail: string
  } & RetryAfter
> {
  readonly retryable = true
  readonly retry = "transient"
  readonly mayBeProcessed = true
  readonly exit = "unavailable"
  readonly hint = "Try again; if it keeps failing, report it to the service's support."
  override get message() {
    return this.status < 300
      ? `The service reported errors: ${this.detail}.`
      : `The service failed (${this.status}): ${this.detail}.`
  }
}

/** Why no reply came. Only after a `network` fault can a retry help. */
export type UnreachableFault = "network" | "certificate" | "proxy" | "fetch"

/** No reply came: the connection could not be made, or broke. */
export class Unreachable extends Data.TaggedError("Unreachable")<{
  /** Whether the request reached the service: `no` (certainly not), `maybe`, or `yes` (a reply had begun). */
  readonly sent: "no" | "maybe" | "yes"
  /** What the network reported: at most 1000 characters, followed by an error code if there is one. */
  readonly detail: string
  /**
   * What failed: the network; the certificate, which this computer does not trust; the proxy, which refused; or the program's own `fetch`,
   * which has a bug.
   */
  readonly fault: UnreachableFault
  /** The error that was thrown, as a copy without credentials. */
  readonly cause?: unknown
}> {
  constructor(fields: {
    readonly sent: "no" | "maybe" | "yes"
    readonly detail: string
    readonly fault?: UnreachableFault
    readonly cause?: unknown
  }) {
    super({ fault: "network", ...fields })
  }
  static readonly ours: ReadonlyArray<string> = ["sent", "fault"]
  get retryable() {
    return this.fault === "network"
  }
  get retry() {
    return this.fault === "network" ? "transient" : "never"
  }
  get mayBeProcessed() {
    return this.sent !== "no"
  }
  readonly exit = "unavailable"
  get hint() {
    switch (this.fault) {
      case "certificate":
        return "Name the file of your CA in NODE_EXTRA_CA_CERTS, or check the base URL and the clock."
      case "proxy":
        return "Check the credentials in HTTP_PROXY or HTTPS_PROXY, and what the proxy allows."
      case "fetch":
        return "Correct that fetch; its error is the cause."
      case "network":
        return this.sent === "no"
          ? "Check the base URL and the network."
          : "The service may have carried out the request: check before you send a change again."
    }
  }
  override get message() {
    return this.fault === "fetch"
      ? `The fetch that the client was given failed: ${this.detail}.`
      : `The service could not be reached: ${this.detail}.`
  }
}

/** The time ran out: of one attempt, or of the whole call. */
export class TimedOut extends Data.TaggedError("TimedOut")<{
  /** Which limit was reached: `attemptTimeout`, or `deadline`. */
  readonly limit: "attempt" | "deadline"
  /** The time limit in milliseconds. */
  readonly afterMillis: number
  /** Whether a request of the call reached the service: `no` (certainly not), `maybe`, or `yes` (a reply had begun). */
  readonly sent: "no" | "maybe" | "yes"
}> {
  static readonly ours: ReadonlyArray<string> = ["limit", "sent"]
  readonly retryable = true
  /** No attempt may follow once the whole call is out of time. */
  get retry() {
    return this.limit === "attempt" ? "transient" : "never"
  }
  get mayBeProcessed() {
    return this.sent !== "no"
  }
  readonly exit = "unavailable"
  get hint() {
    return this.sent === "no"
      ? "Try again later."
      : "The service may have carried out the request: check before you send a change again."
  }
  override get message() {
    return this.limit === "attempt"
      ? `The service did not answer within ${time(this.afterMillis)}.`
      : `The call exceeded its deadline of ${time(this.afterMillis)}.`
  }
}

/**
 * A wait ended before the node reached the status: the time ran out, the node can no longer reach the status, or the rate limit allows no
 * read before the end of the wait. In the last case the wait ends at once.
 */
export class StatusNotReached extends Data.TaggedError("StatusNotReached")<{
  /** The node that was waited for. */
  readonly nodeId: NodeId
  /** The status waited for, or `deleted`. */
  readonly wanted: string
  /** The status seen last. */
  readonly last: NodeStatus
  /** The statuses seen, one after the other, the newest last; at most 16. */
  readonly seen: ReadonlyArray<NodeStatus>
  /** Whether the wanted status cannot follow the last one. */
  readonly impossible: boolean
  /** How long the wait took, in milliseconds. */
  readonly waitedMillis: number
  /** Why the last read of the node failed; null if it succeeded. */
  readonly failure: string | null
  /** The milliseconds until the next read, if the rate limit allows that read only after the end of the wait. Otherwise null. */
  readonly refillsInMillis: number | null
}> {
  static readonly ours: ReadonlyArray<string> = ["wanted", "failure"]
  get retryable() {
    return !this.impossible
  }
  readonly retry = "never"
  readonly mayBeProcessed = false
  get exit() {
    if (this.impossible) return "rejected"
    return this.refillsInMillis === null ? "unavailable" : "rateLimited"
  }
  get hint() {
    if (this.impossible) return `Get the node to see its state; it will not become ${this.wanted} by itself.`
    return this.refillsInMillis === null
      ? "Wait again; the wait changed nothing."
      : `Wait again in ${time(this.refillsInMillis)}, or with a longer timeout than that; the wait changed nothing.`
  }
  override get message() {
    const before = this.seen.slice(0, -1).map(label)
    const unknown = isKnown(this.last) || this.seen.length === 0 ? "" : ", a status that Berth does not know"
    const is = isUnstated(this.last) ? "has no stated status" : `is ${label(this.last)}${unknown}`
    const state = `${this.nodeId} ${is}${before.length === 0 ? "" : ` (it was ${before.join(", then ")})`}`
    if (this.impossible) return `Node ${state}, which cannot become ${this.wanted}.`
    if (this.refillsInMillis !== null) {
      return `Too little is left of the rate limit: the next read may go in ${time(this.refillsInMillis)}, after the end of this wait; node ${state}, expected ${this.wanted}.`
    }
    const failure = this.failure === null ? "" : `; the last read failed: ${clause(this.failure)}`
    return `Timed out after ${time(this.waitedMillis)}: node ${state}, expected ${this.wanted}${failure}.`
  }
}

/** The circuit is open: the service failed too often, so calls pause for a while. */
export class CircuitOpen extends Data.TaggedError("CircuitOpen")<RetryAfter> {
  readonly retryable = true
  readonly retry = "never"
  readonly mayBeProcessed = false
  readonly exit = "unavailable"
  get hint() {
    return this.retryAfterMillis === null
      ? "Try again in a few seconds."
      : `Try again in ${time(this.retryAfterMillis)}; the first call then tests whether the service has recovered.`
  }
  override get message() {
    return this.retryAfterMillis === null
      ? "The service failed most recent calls; another call is testing whether it has recovered."
      : `The service failed most recent calls; nothing is sent for ${time(this.retryAfterMillis)}.`
  }
}

/** What is wrong with a list that may be incomplete although each of its pages can be read. */
export const unprovedList = "the list may be incomplete"

/** What is wrong with a list that could not be used. */
export const unusableList = ({ message }: Pick<ErrorReason, "message">): string =>
  `the list cannot be used: ${clause(message)}`

/** Whether only the service's console can show the node of a create, because the list may never show it. */
export const mayBeUnlisted = ({
  candidates,
  listFault
}: {
  readonly candidates: ReadonlyArray<unknown>
  readonly listFault: string | null
}): boolean => listFault === unprovedList && candidates.length === 0

/** A create lost its reply, and the client could not find out whether it made a node. */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{
  /** The requested name of the node. */
  readonly nodeName: string
  /** Nodes that the create may have made; empty if none is listed or the list was not read. */
  readonly candidates: ReadonlyArray<NodeId>
  /** The candidate that the reply to the create named, if that node differs from what was ordered. Null if the reply named none. */
  readonly toldId: NodeId | null
  /**
   * How that node differs from the order, such as `the name db instead of web`; null if the reply named none, or did not state exactly one
   * node.
   */
  readonly difference: string | null
  /** Whether the list was read. */
  readonly listRead: boolean
  /** What was wrong with the list at its last read; null if nothing was, or if there was no time to read it. */
  readonly listFault: string | null
  /** Tag of the reason why the reply is missing, such as `TimedOut`. */
  readonly because: string
  /** The sentence of that reason. */
  readonly detail: string
  /** Whether another call with the same key can find out more: the create has a key, and its record still exists. */
  readonly keyed: boolean
}> {
  static readonly ours: ReadonlyArray<string> = ["because", "detail", "listFault"]
  get retryable() {
    return this.keyed && this.toldId === null && !mayBeUnlisted(this)
  }
  readonly retry = "never"
  readonly mayBeProcessed = true
  readonly exit = "outcomeUnknown"
  get hint() {
    if (this.toldId !== null) {
      const see =
        this.difference === null
          ? "the candidates, and delete what you do not need."
          : `node ${this.toldId} and see whether it is ${this.nodeName}.`
      return `Get ${see}${this.keyed ? " Under this key the create is not sent again." : ""}`
    }
    const isListed = this.candidates.length > 0
    if (mayBeUnlisted(this)) {
      return `Look for ${this.nodeName} in the service's console. If it is not there, create it ${this.keyed ? "with another key" : "again"}.`
    }
    if (this.keyed)
      return `Create ${this.nodeName} again with the same key: that makes no second node. ${
        isListed
          ? `If it still fails like this after eleven minutes, get the candidates: one of them may be ${this.nodeName}.`
          : "The service may carry out the first request for eleven minutes."
      }`
    return isListed
      ? `Get the candidates: one of them may be ${this.nodeName}.`
      : `List the nodes in eleven minutes: the service may create ${this.nodeName} until then, and not later.`
  }
  override get message() {
    const candidates = `the candidates are ${this.candidates.join(", ")}`
    if (this.toldId !== null) {
      const told =
        this.difference === null
          ? `does not state exactly one node, and ${candidates}`
          : `names node ${this.toldId}, which has ${this.difference}`
      return `Could not find out whether ${this.nodeName} was created: the reply to its create ${told}.`
    }
    const listed =
      this.candidates.length > 0
        ? candidates
        : this.listFault !== null
          ? clause(this.listFault)
          : this.listRead
            ? "no new node of that name is listed"
            : "there was no time to read the list"
    return `Could not find out whether ${this.nodeName} was created: ${listed}, and ${clause(this.detail)}.`
  }
}

/**
 * The state that a create with a key needs on this machine cannot be read or written: the disk is full, too many files are open, the folder
 * is read-only, or a file is damaged. This call has sent nothing.
 */
export class StateUnavailable extends Data.TaggedError("StateUnavailable")<{
  /** The file or folder; null if there is none, for example without a home folder. */
  readonly path: string | null
  /** The file system error code, such as `ENOSPC`; null if something else failed. */
  readonly code: string | null
  readonly detail: string
}> {
  get retryable() {
    return mayPass(this.code)
  }
  readonly retry = "never"
  readonly mayBeProcessed = false
  readonly exit = "localFile"
  get hint() {
    if (this.code !== null) {
      return `${fileRemedyOf(this.code) ?? "Make that folder readable and writable"}, then create it again with the same key.`
    }
    // The path of a database is its address.
    if (this.path?.includes("://"))
      return "Nothing was sent. Check the database, then create it again with the same key."
    return this.path === null
      ? "Set the client's stateDirectory to a writable folder."
      : "Repair that file, or use another key; remove it only when you know which node its create made."
  }
  override get message() {
    const why = fileReasonOf(this.code)
    const where = this.path === null || (why === undefined && this.detail.includes(this.path)) ? "" : ` in ${this.path}`
    return `The state of this account cannot be kept${where}: ${why === undefined ? this.detail : `${why} (${this.code})`}.`
  }
}

/** The expected value in the error for a list that must show every node of a name. */
export const everyRecordReadable = "a list whose every record can be read"

/** The expected value in the error for a list that must show every node, because a name is not in it. */
export const everyNodeShown = "a list that shows that it has every node"

/** The expected value in the error for a reply to a create that says that 0 nodes were made. */
export const oneNodeMade = "one node, and not that none was made"

/** A reply that cannot be understood. */
export class UnexpectedResponse extends Data.TaggedError("UnexpectedResponse")<{
  /** HTTP status. */
  readonly status: number
  /** Where in the body decoding failed, such as `data[3].id`; may be empty. */
  readonly path: string
  /** The expected value. */
  readonly expected: string
  /** The beginning of the actual value, at most 200 characters. */
  readonly excerpt: string
}> {
  static readonly ours: ReadonlyArray<string> = ["expected"]
  readonly retryable = false
  readonly retry = "never"
  readonly mayBeProcessed = true
  readonly exit = "unavailable"
  get hint() {
    if (this.expected === everyRecordReadable) {
      return "A record of the list may be a node of that name: use the id of the one that you mean."
    }
    if (this.expected === everyNodeShown) {
      return "A node of that name may be missing from the list: look for it in the service's console, and use its id."
    }
    if (/^node \d/.test(this.expected)) {
      return "The service mixes up nodes: look at both before you change either, and report it to its support."
    }
    if (this.expected.startsWith("the location ")) {
      return "Name the location that the node is in, and look at the node there before you change it."
    }
    const [option] = /max(Nodes|Body\w+)/.exec(this.expected) ?? []
    if (option !== undefined) return `Raise ${option} if you trust the service with that much.`
    // If the error names a place within the reply, the reply has the service's form. Otherwise it may come from a proxy or a login page.
    return this.path === ""
      ? "Check that the base URL is the service's and not a proxy's or a login page's."
      : "Report it to the service's support."
  }
  override get message() {
    if (this.expected === oneNodeMade) return `The reply (${this.status}) says that the service made no node.`
    const where = this.path === "" ? "" : ` at ${this.path}`
    const got = this.excerpt === "" ? "nothing" : this.excerpt
    return `The reply (${this.status}) is not understood: expected ${this.expected}${where}, got ${got}.`
  }
}

/** Fails to compile if a reason does not have a part of its classification. */
type Classified<R extends Classification> = R

/** Every reason a call can fail for. */
export type ErrorReason = Classified<
  | Unauthorized
  | Forbidden
  | NodeNotFound
  | PathNotFound
  | InvalidRequest
  | Conflict
  | PreconditionFailed
  | RateLimited
  | WouldExceedDeadline
  | ServiceUnavailable
  | ServiceFault
  | Unreachable
  | TimedOut
  | StatusNotReached
  | CircuitOpen
  | OutcomeUnknown
  | StateUnavailable
  | UnexpectedResponse
>

/** The fields that a reason declares, by name, without its classification. */
export type FieldsOf<R extends ErrorReason> = {
  readonly [Name in Exclude<keyof R, keyof Cause.YieldableError | "_tag" | keyof Classification>]: R[Name]
}

const classification: { readonly [Name in keyof Classification]: true } = {
  hint: true,
  retryable: true,
  retry: true,
  mayBeProcessed: true,
  exit: true
}

/** The fields of a reason. */
export const fieldsOf = <R extends ErrorReason>(reason: R): FieldsOf<R> =>
  Object.fromEntries(
    Object.entries(reason).filter(
      ([name]) => name !== "_tag" && name !== "cause" && !Object.hasOwn(classification, name)
    )
  ) as FieldsOf<R>
