/**
 * What the engine has to know of a call: its name, what its reply may be, and how to read it. One per method of the
 * services; the request itself is built by `wire` in `Transport.ts`.
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
 * What may be sent again. `idempotent`: sending twice does no more than sending once. `once`: only if the first request
 * was certainly not processed, because a second node or a second committed period costs money. `never`: the caller asked
 * for that.
 */
export type Repeatable = "idempotent" | "once" | "never"

/** What can be asked of one call. */
export interface CallOptions {
  /** Maximum time of this call, with its waits and retries. Default: the client's. */
  readonly deadline?: Duration.Input | undefined
  /** Priority of the call when the allowance is short. Default: the client's, or else the operation's. */
  readonly lane?: Lane | undefined
  /** Whether a failed attempt may be followed by another. Default true; false for a caller that tries again by itself. */
  readonly retry?: boolean | undefined
  /** Maximum number of attempts, 1 to 8. Default: the client's. */
  readonly maxAttempts?: number | undefined
  /** Maximum time of each attempt. Default: the client's. */
  readonly attemptTimeout?: Duration.Input | undefined
  /** Further headers of this call's requests, over those of the client; the same rules as there. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Called after each attempt of this call, and after the client's `onAttempt`. The call does not wait for it. */
  readonly onAttempt?: ((attempt: AttemptReport) => Effect.Effect<void>) | undefined
  /**
   * Called once with the reply that the call ended with; a list has one for every page. That of a success is as it came off
   * the wire. That of a failure is masked and bounded, as in `BerthError.reply`, its body the excerpt; a call that ends
   * without any reply has none, and that of a create is the reply to its own request, also where its node is then found.
   */
  readonly onReply?: ((reply: RawReply) => Effect.Effect<void>) | undefined
}

/** What has to be done about a request that must not be sent twice. */
export interface SendingHooks {
  /** Runs for each attempt just before it is sent, when its turn has come. If it fails, nothing is sent. */
  readonly before: Effect.Effect<void, ErrorReason>
  /** Done once it is certain that the attempt was not carried out. */
  readonly notProcessed: Effect.Effect<void>
}

/** A call, as the engine sees it. */
export interface Operation<A> {
  /** Bounded name for errors, spans and metrics, such as `nodes.get`. */
  readonly name: string
  readonly expectation: Expectation
  /** What its reply may be once an earlier attempt may have been carried out. Default: the same. */
  readonly afterwards?: Expectation
  /** Whether and when it may be sent again. */
  readonly repeatable: Repeatable
  /** The lane it goes in unless the caller names another. */
  readonly lane: Lane
  /** Reads the data of a successful reply; it also gets the whole body. */
  readonly decode: (data: unknown, body: unknown) => Result.Result<A, RecordFault>
  /** Bounds of its replies if the options of the client set none. Default: those of every operation. */
  readonly bounds?: Pick<Settings, "maxBodyBytes" | "maxBodyTokens">
  /** Called with the reply of each attempt, of a success or a failure, and with undefined when an attempt begins. Default: none. */
  readonly onAttemptReply?: (reply: RawReply | undefined) => void
  /** Done when an attempt is sent. Default: nothing. */
  readonly sending?: SendingHooks | undefined
  /** What is in it that Berth does not know. Default: nothing. */
  readonly drift?: (drift: typeof Drifts) => (value: A) => ReadonlyArray<Drifts.Drift>
}

const place = (base: string, path: string) => (path === "" ? base : `${base}.${path}`)

const misread = (at: string, { expected, got, path }: RecordFault) =>
  Result.fail(new RecordFault(place(at, path), expected, got))

/** Reads `data` as one record. */
export const one =
  <A>(readRecord: ReadRecord<A>) =>
  (data: unknown): Result.Result<A, RecordFault> => {
    const record = readRecord(data)
    return record instanceof RecordFault ? misread("data", record) : Result.succeed(record)
  }

/** Reads `data` as a list of records. */
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

/** A record of a list that cannot be read, and what is wrong with it. */
export interface SetAside {
  readonly wire: unknown
  readonly fault: RecordFault
}

/** The records of a list that can be read, and the rest. */
export interface Readable<A> {
  readonly records: ReadonlyArray<A>
  readonly setAside: ReadonlyArray<SetAside>
}

/** Reads `data` as a list of records, and sets aside those that cannot be read; it fails where that is all of them. */
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

/** Reads nothing: the reply's success is the answer (A16), unless what it states is about something else. */
export const nothing =
  (faultOf: (data: unknown, body: unknown) => RecordFault | undefined) =>
  (data: unknown, body: unknown): Result.Result<void, RecordFault> => {
    const fault = faultOf(data, body)
    return fault === undefined ? Result.void : misread("data", fault)
  }
