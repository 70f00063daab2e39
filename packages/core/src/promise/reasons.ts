/**
 * One exported class for each reason of the domain, with its name: `error instanceof NodeNotFound`. The fields are declared here again, so
 * that an editor shows them with the class; `Failure.ts` fails to compile if one differs from the domain's (`domain/ErrorReason.ts`).
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

/** 404 for a request that named a node. */
export class NodeNotFound extends BerthError {
  declare readonly _tag: "NodeNotFound"
  /** The id that was asked for. */
  declare readonly nodeId: number
  /** What the service said about it; null when it gave no reason. */
  declare readonly detail: string | null
}

/** 404 for a request that named no node: the service does not know the address itself. */
export class PathNotFound extends BerthError {
  declare readonly _tag: "PathNotFound"
  /** What the service said about it. */
  declare readonly detail: string
}

/** The request was refused, by the service or, with a `status` of null, before it was sent. */
export class InvalidRequest extends BerthError {
  declare readonly _tag: "InvalidRequest"
  /** HTTP status, 400 to 499; null if the client refused the request and sent nothing. */
  declare readonly status: number | null
  /** What is wrong, according to the service or the client. */
  declare readonly detail: string
  /** Field of the request → what is wrong with it; faults of the whole request are under `detail`. */
  declare readonly fields: Readonly<Record<string, ReadonlyArray<string>>>
}

/** 409 or 423: the state of the resource forbids it. */
export class Conflict extends BerthError {
  declare readonly _tag: "Conflict"
  /** What the service said about it. */
  declare readonly detail: string
}

/** 412: something else is required first, or the request breaks a rule of the service, such as one about the names of plans. */
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
  /** How long the service asks to wait, in milliseconds, at least 0; null if it does not ask. */
  declare readonly retryAfterMillis: number | null
}

/** The allowance refills only after the deadline: the call was not sent. */
export class WouldExceedDeadline extends BerthError {
  declare readonly _tag: "WouldExceedDeadline"
  /** The minimum time that the call would have to wait for its turn, in milliseconds. More than `leftMillis`. */
  declare readonly predictedMillis: number
  /** Time left until the call's deadline, in milliseconds. */
  declare readonly leftMillis: number
  /** Why this call has to wait although an interactive read could be sent now. Null if an interactive read would have to wait as well. */
  declare readonly heldBack: {
    /** Requests left, 0 or more. */
    readonly remaining: number
    /** If no more than this many requests are left, only interactive reads may use them. */
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
  /** How long the service asks to wait, in milliseconds, at least 0; null if it does not ask. */
  declare readonly retryAfterMillis: number | null
}

/** Any other 5xx: the service failed. */
export class ServiceFault extends BerthError {
  declare readonly _tag: "ServiceFault"
  /**
   * 500 to 599, except the statuses of `ServiceUnavailable`. It is a 2xx status if the reply to a change names errors but states no failure
   * status.
   */
  declare readonly status: number
  /** What the service said about it. */
  declare readonly detail: string
  /** How long the service asks to wait, in milliseconds, at least 0; null if it does not ask. */
  declare readonly retryAfterMillis: number | null
}

/** No reply came: the connection could not be made, or broke. */
export class Unreachable extends BerthError {
  declare readonly _tag: "Unreachable"
  /** Whether the request reached the service: `no` (certainly not), `maybe`, or `yes` (a reply had begun). */
  declare readonly sent: "no" | "maybe" | "yes"
  /** What the network reported: at most 1000 characters, followed by an error code if there is one. */
  declare readonly detail: string
  /** What failed. Only after a `network` fault can a retry help. The `cause` is a copy of the thrown error without credentials. */
  declare readonly fault: "network" | "certificate" | "proxy" | "fetch"
}

/** The time ran out: of one attempt, or of the whole call. */
export class TimedOut extends BerthError {
  declare readonly _tag: "TimedOut"
  /** Which limit was reached: `attemptTimeout`, or `deadline`. */
  declare readonly limit: "attempt" | "deadline"
  /** The time limit in milliseconds. */
  declare readonly afterMillis: number
  /** Whether a request of the call reached the service: `no` (certainly not), `maybe`, or `yes` (a reply had begun). */
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
  /** How long the wait took, in milliseconds. */
  declare readonly waitedMillis: number
  /** Why the last read of the node failed, in one sentence; null if it succeeded. */
  declare readonly failure: string | null
  /** The milliseconds until the next read, if the rate limit allows that read only after the end of the wait. Otherwise null. */
  declare readonly refillsInMillis: number | null
}

/** The circuit is open: the service failed most calls, so the client sends nothing for a while. */
export class CircuitOpen extends BerthError {
  declare readonly _tag: "CircuitOpen"
  /** Time until a call may go, in milliseconds, 0 to 60 000; null while another call finds out whether the service has recovered. */
  declare readonly retryAfterMillis: number | null
}

/** A create lost its reply, and the client could not find out whether it made a node. */
export class OutcomeUnknown extends BerthError {
  declare readonly _tag: "OutcomeUnknown"
  /** The requested name of the node. */
  declare readonly nodeName: string
  /** Ids of the nodes that the create may have made; empty if none is listed or the list was not read. */
  declare readonly candidates: ReadonlyArray<number>
  /** The candidate that the reply to the create named, if that node differs from what was ordered. Null if the reply named none. */
  declare readonly toldId: number | null
  /**
   * How that node differs from the order, such as `the name db instead of web`; null if the reply named none, or did not state exactly one
   * node.
   */
  declare readonly difference: string | null
  /** Whether the list was read. */
  declare readonly listRead: boolean
  /** What was wrong with the list at its last read; null if nothing was, or if there was no time to read it. */
  declare readonly listFault: string | null
  /** Tag of the reason why the reply is missing, such as `TimedOut`. */
  declare readonly because: string
  /** The sentence of that reason. */
  declare readonly detail: string
  /** Whether another call with the same key can find out more: the create has a key, and its record still exists. */
  declare readonly keyed: boolean
}

/** The state that a create with a key needs on this machine cannot be read or written. This call has sent nothing. */
export class StateUnavailable extends BerthError {
  declare readonly _tag: "StateUnavailable"
  /** The file or folder; null if there is none, for example without a home folder. */
  declare readonly path: string | null
  /** The code of the file system, such as `ENOSPC`; null if something else failed. */
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
  /** The expected value. */
  declare readonly expected: string
  /** The beginning of the actual value, at most 200 characters. */
  declare readonly excerpt: string
}
