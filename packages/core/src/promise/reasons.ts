/**
 * One class for each reason of the domain, by its name: `error instanceof NodeNotFound`. All of them are exported.
 */
import type * as Reason from "../domain/ErrorReason.ts"
import { BerthError, type Facts } from "./BerthError.ts"
import type { Plain } from "./Plain.ts"

/** `BerthError` itself, with the tag and the fields of a reason in its type. */
const failure = <R extends Reason.ErrorReason>() =>
  BerthError as unknown as new (facts: Facts) => BerthError & { readonly _tag: R["_tag"] } & Plain<Reason.FieldsOf<R>>

/** 401: the API key or the access token is missing or wrong. */
export class Unauthorized extends failure<Reason.Unauthorized>() {}
/** 403: the credentials are known, but not allowed to do this. */
export class Forbidden extends failure<Reason.Forbidden>() {}
/** 404 where a node was named. */
export class NodeNotFound extends failure<Reason.NodeNotFound>() {}
/** 404 where no node was named. */
export class PathNotFound extends failure<Reason.PathNotFound>() {}
/** The request was refused, by the service or, with a `status` of null, before it was sent. */
export class InvalidRequest extends failure<Reason.InvalidRequest>() {}
/** 409 or 423: the state of the resource forbids it. */
export class Conflict extends failure<Reason.Conflict>() {}
/** 412: something else has to be so first. */
export class PreconditionFailed extends failure<Reason.PreconditionFailed>() {}
/** 429: the allowance is spent. */
export class RateLimited extends failure<Reason.RateLimited>() {}
/** The allowance refills only after the deadline: it was not sent. */
export class WouldExceedDeadline extends failure<Reason.WouldExceedDeadline>() {}
/** 408, 502, 503 or 504: the service cannot answer at the moment. */
export class ServiceUnavailable extends failure<Reason.ServiceUnavailable>() {}
/** Any other 5xx: the service failed. */
export class ServiceFault extends failure<Reason.ServiceFault>() {}
/** No reply came: the connection could not be made, or broke. */
export class Unreachable extends failure<Reason.Unreachable>() {}
/** The time ran out: of one attempt, or of the whole call. */
export class TimedOut extends failure<Reason.TimedOut>() {}
/** A wait ended without the node reaching the status. */
export class StatusNotReached extends failure<Reason.StatusNotReached>() {}
/** The service failed too often in a row, and is left alone for a while. */
export class CircuitOpen extends failure<Reason.CircuitOpen>() {}
/** A create whose reply was lost and whose outcome could not be found out. */
export class OutcomeUnknown extends failure<Reason.OutcomeUnknown>() {}
/** What a create with a key has to keep on this machine cannot be read or written. This call has sent nothing. */
export class StateUnavailable extends failure<Reason.StateUnavailable>() {}
/** A reply that cannot be understood. */
export class UnexpectedResponse extends failure<Reason.UnexpectedResponse>() {}
