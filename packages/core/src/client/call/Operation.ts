/**
 * Describes a call for the engine: its name, the allowed replies, and how to read them. Each method of the services has one operation;
 * `wire` in `Transport.ts` builds the request.
 */
import { Result } from "effect"
import type { Duration, Effect } from "effect"
import type { Expectation, RawReply } from "../../api/Reply.ts"
import { type ReadRecord, RecordFault } from "../../api/fields/RecordReader.ts"
import type { ErrorReason } from "../../domain/ErrorReason.ts"
import type { Lane } from "../../domain/Lane.ts"
import type { AttemptReport } from "../options/AttemptReport.ts"
import type { Settings } from "../options/Settings.ts"
import type * as Drifts from "../telemetry/Drift.ts"

/**
 * Which requests may be repeated. `idempotent`: sending twice has the effect of sending once. `once`: sent again only
 * if the first request was certainly not processed, because a second node or committed period costs money. `never`: the
 * caller forbids it.
 */
export type Repeatable = "idempotent" | "once" | "never"

/** Options of one call. */
export interface CallOptions {
  /** Maximum time of this call, with its waits and retries. Default: the client's. */
  readonly deadline?: Duration.Input | undefined
  /** Priority of the call when the allowance is short. Default: the client's, otherwise the operation's. */
  readonly lane?: Lane | undefined
  /** Whether a failed attempt may be repeated. Default true; false for a caller that retries by itself. */
  readonly retry?: boolean | undefined
  /** Maximum number of attempts, 1 to 8. Default: the client's. */
  readonly maxAttempts?: number | undefined
  /** Maximum time of each attempt. Default: the client's. */
  readonly attemptTimeout?: Duration.Input | undefined
  /** Additional headers of this call's requests, which override the client's; the same rules apply. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Called after each attempt, after the client's `onAttempt`. The call does not wait for it. */
  readonly onAttempt?: ((attempt: AttemptReport) => Effect.Effect<void>) | undefined
  /**
   * Called once with the final reply; for a list, once per page. A successful reply is passed unchanged. A failed one is masked and bounded
   * as in `BerthError.reply`, with an excerpt as its body. The hook is not called if the call ends without a reply. For a create, it gets
   * the reply to the create request, even if the node is found later.
   */
  readonly onReply?: ((reply: RawReply) => Effect.Effect<void>) | undefined
}

/** Hooks around a request that must not be sent twice. */
export interface SendingHooks {
  /** Runs right before each attempt is sent, after it was admitted. If this fails, nothing is sent. */
  readonly before: Effect.Effect<void, ErrorReason>
  /** Runs once it is certain that the attempt was not carried out. */
  readonly notProcessed: Effect.Effect<void>
}

/** A call in the engine's terms. */
export interface Operation<A> {
  /** Name of low cardinality for errors, spans and metrics, such as `nodes.get`. */
  readonly name: string
  readonly expectation: Expectation
  /** The allowed replies once an earlier attempt may have been carried out. Default: `expectation`. */
  readonly afterwards?: Expectation
  /** Whether and when the request may be sent again. */
  readonly repeatable: Repeatable
  /** The default lane. */
  readonly lane: Lane
  /** Decodes the data of a successful reply; also gets the whole body. */
  readonly decode: (data: unknown, body: unknown) => Result.Result<A, RecordFault>
  /** Limits of the reply, if the client's options set none. Default: the usual limits. */
  readonly bounds?: Pick<Settings, "maxBodyBytes" | "maxBodyTokens">
  /** Called with the reply of each attempt, and with undefined when an attempt begins. Default: none. */
  readonly onAttemptReply?: (reply: RawReply | undefined) => void
  /** Hooks of an attempt. Default: none. */
  readonly sending?: SendingHooks | undefined
  /** Records unknown values in the decoded reply. Default: none. */
  readonly drift?: (drift: typeof Drifts) => (value: A) => ReadonlyArray<Drifts.Drift>
}

const place = (base: string, path: string) => (path === "" ? base : `${base}.${path}`)

const misread = (at: string, { expected, got, path }: RecordFault) =>
  Result.fail(new RecordFault(place(at, path), expected, got))

/** Decodes `data` as one record. */
export const one =
  <A>(readRecord: ReadRecord<A>) =>
  (data: unknown): Result.Result<A, RecordFault> => {
    const record = readRecord(data)
    return record instanceof RecordFault ? misread("data", record) : Result.succeed(record)
  }

/** Decodes `data` as a list of records. */
export const many =
  <A>(readRecord: ReadRecord<A>) =>
  (data: unknown): Result.Result<ReadonlyArray<A>, RecordFault> => {
    if (!Array.isArray(data)) return Result.fail(new RecordFault("data", "a list", data))
    const records: Array<A> = []
    for (let i = 0; i < data.length; i++) {
      const record = readRecord(data[i])
      if (record instanceof RecordFault) return misread(`data[${i}]`, record)
      records.push(record)
    }
    return Result.succeed(records)
  }

/** An unreadable record of a list, and its fault. */
export interface SetAside {
  readonly wire: unknown
  readonly fault: RecordFault
}

/** The readable records of a list, and the unreadable ones. */
export interface Readable<A> {
  readonly records: ReadonlyArray<A>
  readonly setAside: ReadonlyArray<SetAside>
}

/** Decodes `data` as a list of records, setting aside unreadable ones; fails if all of them are. */
export const readable =
  <A>(readRecord: ReadRecord<A>) =>
  (data: unknown): Result.Result<Readable<A>, RecordFault> => {
    if (!Array.isArray(data)) return Result.fail(new RecordFault("data", "a list", data))
    const records: Array<A> = []
    const setAside: Array<SetAside> = []
    for (const wire of data) {
      const record = readRecord(wire)
      if (record instanceof RecordFault) setAside.push({ wire, fault: record })
      else records.push(record)
    }
    const [first] = setAside
    return first !== undefined && records.length === 0
      ? misread("data[0]", first.fault)
      : Result.succeed({ records, setAside })
  }

/** The decoded value of a reply. */
export const valueOf = <A>({ value }: { readonly value: A }): A => value

/** Decodes no data, because a success status is the whole answer (A16). Fails if the reply is about something else. */
export const nothing =
  (faultOf: (data: unknown, body: unknown) => RecordFault | undefined) =>
  (data: unknown, body: unknown): Result.Result<void, RecordFault> => {
    const fault = faultOf(data, body)
    return fault === undefined ? Result.void : misread("data", fault)
  }
