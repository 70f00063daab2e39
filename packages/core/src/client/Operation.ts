/**
 * What the engine has to know of a call: its name, what its reply may be, and how to read it. One per method of the
 * services; the request itself is built by the client derived from `BerthApi`.
 */
import { Result } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import type { Effect, Schema } from "effect"
import type { Failure } from "../api/Envelope.ts"
import { type Expectation, type RawReply, unexpected } from "../api/Reply.ts"
import type { RecordFault } from "../api/RecordReader.ts"
import type { ErrorReason } from "../domain/ErrorReason.ts"

/** A call, as the engine sees it. */
export interface Operation<A> {
  /** Bounded name for errors, spans and metrics, such as `nodes.get`. */
  readonly name: string
  readonly expectation: Expectation
  /** Reads the data of a successful reply. */
  readonly decode: (data: unknown, raw: RawReply) => Result.Result<A, ErrorReason>
}

/**
 * Sends the request once. The derived client also names the failures of the interface, which it never raises as long
 * as it is asked for the response only.
 */
export type Send = Effect.Effect<
  HttpClientResponse.HttpClientResponse,
  HttpClientError.HttpClientError | Schema.SchemaError | Failure
>

type ReadRecord<A> = (wire: unknown) => Result.Result<A, RecordFault>

const place = (base: string, path: string) => (path === "" ? base : `${base}.${path}`)

/** Reads `data` as one record. */
export const one =
  <A>(readRecord: ReadRecord<A>) =>
  (data: unknown, raw: RawReply): Result.Result<A, ErrorReason> =>
    Result.mapError(readRecord(data), (fault) => unexpected(raw, place("data", fault.path), fault.expected, fault.got))

/** Reads `data` as a list of records. */
export const many =
  <A>(readRecord: ReadRecord<A>) =>
  (data: unknown, raw: RawReply): Result.Result<ReadonlyArray<A>, ErrorReason> => {
    if (!Array.isArray(data)) return Result.fail(unexpected(raw, "data", "a list", data))
    const records: Array<A> = []
    for (const [index, wire] of data.entries()) {
      const record = readRecord(wire)
      if (Result.isFailure(record)) {
        const { expected, got, path } = record.failure
        return Result.fail(unexpected(raw, place(`data[${index}]`, path), expected, got))
      }
      records.push(record.success)
    }
    return Result.succeed(records)
  }

/** Reads nothing: the reply's success is the answer (decision 16). */
export const nothing = (): Result.Result<void, ErrorReason> => Result.succeed(undefined)
