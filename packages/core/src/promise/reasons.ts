/**
 * One class for each reason of the domain, by its name: `error instanceof NodeNotFound`. All of them are exported. Their fields
 * are declared here once more, so that an editor shows a class as it is read; `Failure.ts` does not compile where one differs from
 * the domain's (`domain/ErrorReason.ts`).
 */
import { BerthError } from "./BerthError.ts"
import type { NodeStatus } from "./Records.ts"

/** 401: the API key or the access token is missing or wrong. */
export class Unauthorized extends BerthError {
  declare readonly _tag: "Unauthorized"
  /** What the service said about it. */
  declare readonly detail: string
}

/** 403: the credentials are known, but not allowed to do this. */
export class Forbidden extends BerthError {
  declare readonly _tag: "Forbidden"
  /** What the service said about it. */
  declare readonly detail: string
}

/** 404 where a node was named. */
export class NodeNotFound extends BerthError {
  declare readonly _tag: "NodeNotFound"
  /** The id that was asked for. */
  declare readonly nodeId: number
  /** What the service said about it; null when it gave no reason. */
  declare readonly detail: string | null
}

/** 404 where no node was named. */
export class PathNotFound extends BerthError {
  declare readonly _tag: "PathNotFound"
  /** What the service said about it. */
  declare readonly detail: string
}

/** The request was refused, by the service or, with a `status` of null, before it was sent. */
export class InvalidRequest extends BerthError {
  declare readonly _tag: "InvalidRequest"
  /** HTTP status, 400 to 499; null when the client refused the request, and nothing was sent. */
  declare readonly status: number | null
  /** What is wrong, by the service or by the client. */
  declare readonly detail: string
  /** Field of the request → what is wrong with it; what concerns the whole request is under `detail`. */
  declare readonly fields: Readonly<Record<string, ReadonlyArray<string>>>
}

/** 409 or 423: the state of the resource forbids it. */
export class Conflict extends BerthError {
  declare readonly _tag: "Conflict"
  /** What the service said about it. */
  declare readonly detail: string
}

/** 412: something else has to be so first. */
export class PreconditionFailed extends BerthError {
  declare readonly _tag: "PreconditionFailed"
  /** What the service said about it. */
  declare readonly detail: string
}

/** 429: the allowance is spent. */
export class RateLimited extends BerthError {
  declare readonly _tag: "RateLimited"
  /** What the service said about it; null when it gave no reason. */
  declare readonly detail: string | null
  /** How long the service asks to wait, in milliseconds from 0; null when it does not ask. */
  declare readonly retryAfterMillis: number | null
}

/** The allowance refills only after the deadline: it was not sent. */
export class WouldExceedDeadline extends BerthError {
  declare readonly _tag: "WouldExceedDeadline"
  /** How long the call would have to wait for its turn, at least, in milliseconds. More than `leftMillis`. */
  declare readonly predictedMillis: number
  /** Time left until the call's deadline, in milliseconds. */
  declare readonly leftMillis: number
  /** What keeps it back where a read could go now; null where that could not, either. */
  declare readonly heldBack: {
    /** Requests left, 0 or more. */
    readonly remaining: number
    /** How many of the last ones are kept for interactive reads. */
    readonly kept: number
  } | null
}

/** 408, 502, 503 or 504: the service cannot answer at the moment. */
export class ServiceUnavailable extends BerthError {
  declare readonly _tag: "ServiceUnavailable"
  /** HTTP status: 408, 502, 503 or 504. */
  declare readonly status: number
  /** What the service said about it. */
  declare readonly detail: string
  /** How long the service asks to wait, in milliseconds from 0; null when it does not ask. */
  declare readonly retryAfterMillis: number | null
}

/** Any other 5xx: the service failed. */
export class ServiceFault extends BerthError {
  declare readonly _tag: "ServiceFault"
  /** 500 to 599, but none that is a `ServiceUnavailable`; the status of a success if the reply to a change names errors and no status of them. */
  declare readonly status: number
  /** What the service said about it. */
  declare readonly detail: string
  /** How long the service asks to wait, in milliseconds from 0; null when it does not ask. */
  declare readonly retryAfterMillis: number | null
}

/** No reply came: the connection could not be made, or broke. */
export class Unreachable extends BerthError {
  declare readonly _tag: "Unreachable"
  /** Whether the request reached the service: `no` certainly not, `yes` a reply had begun. */
  declare readonly sent: "no" | "maybe" | "yes"
  /** What the network reported, at most 1000 characters and a code. */
  declare readonly detail: string
  /** What is at fault. Only the network may be better the next time. The `cause` is the error that was thrown, without credentials. */
  declare readonly fault: "network" | "certificate" | "proxy" | "fetch"
}

/** The time ran out: of one attempt, or of the whole call. */
export class TimedOut extends BerthError {
  declare readonly _tag: "TimedOut"
  /** Which limit was reached: `attemptTimeout`, or `deadline`. */
  declare readonly limit: "attempt" | "deadline"
  /** That limit, in milliseconds. */
  declare readonly afterMillis: number
  /** Whether a request of the call reached the service: `no` certainly not, `yes` a reply had begun. */
  declare readonly sent: "no" | "maybe" | "yes"
}

/** A wait ended without the node reaching the status. */
export class StatusNotReached extends BerthError {
  declare readonly _tag: "StatusNotReached"
  /** The node that was waited for. */
  declare readonly nodeId: number
  /** The status waited for, or `deleted`. */
  declare readonly wanted: string
  /** The status seen last. */
  declare readonly last: NodeStatus
  /** The statuses seen, one after the other, the newest last; at most 16. */
  declare readonly seen: ReadonlyArray<NodeStatus>
  /** Whether the wanted status cannot follow the last one: waiting longer does not help. */
  declare readonly impossible: boolean
  /** How long it waited, in milliseconds. */
  declare readonly waitedMillis: number
  /** Why the last read of the node failed, in one sentence; null when it did not. */
  declare readonly failure: string | null
  /** Time until the rate limit lets a read go, in milliseconds, where that is after the end of the wait; else null. */
  declare readonly refillsInMillis: number | null
}

/** Most calls failed because of the service, which is left alone for a while. */
export class CircuitOpen extends BerthError {
  declare readonly _tag: "CircuitOpen"
  /** Time until a call may go, in milliseconds, 0 to 60 000; null while another call finds out whether the service has recovered. */
  declare readonly retryAfterMillis: number | null
}

/** A create whose reply was lost and whose outcome could not be found out. */
export class OutcomeUnknown extends BerthError {
  declare readonly _tag: "OutcomeUnknown"
  /** The name that the node was to have. */
  declare readonly nodeName: string
  /** Ids of the nodes that it may have made; empty when none is listed or the list was not read. */
  declare readonly candidates: ReadonlyArray<number>
  /** The candidate that the reply to the create named, although it does not show what was asked for; null if the reply named none. */
  declare readonly toldId: number | null
  /**
   * How that node differs from what was asked for, such as `the name db instead of web`; null if the reply named none, or did not state
   * exactly one node.
   */
  declare readonly difference: string | null
  /** Whether there was time to read the list. */
  declare readonly listRead: boolean
  /** Tag of the reason the reply is missing, such as `TimedOut`. */
  declare readonly because: string
  /** The sentence of that reason. */
  declare readonly detail: string
  /** Whether the create has a key: another call with it then finds out more. */
  declare readonly keyed: boolean
}

/** What a create with a key has to keep on this machine cannot be read or written. This call has sent nothing. */
export class StateUnavailable extends BerthError {
  declare readonly _tag: "StateUnavailable"
  /** The file or folder; null where there is none, such as without a home folder. */
  declare readonly path: string | null
  /** The code of the file system, such as `ENOSPC`; null where it is not the one that failed. */
  declare readonly code: string | null
  /** Why, such as the message of the file system. */
  declare readonly detail: string
}

/** A reply that cannot be understood. */
export class UnexpectedResponse extends BerthError {
  declare readonly _tag: "UnexpectedResponse"
  /** HTTP status. */
  declare readonly status: number
  /** Where in the body decoding failed, such as `data[3].id`; may be empty. */
  declare readonly path: string
  /** What should have been there. */
  declare readonly expected: string
  /** The beginning of what came instead, at most 200 characters. */
  declare readonly excerpt: string
}
