/**
 * What a reply means: success with its data, or one of the reasons a call fails for. Pure, and the only place that
 * interprets statuses, codes and the many spellings of a failure (A3, A4, A12, A16, A21). Nothing the service can send
 * makes it throw.
 */
import { Predicate, Result } from "effect"
import { bodyFault, defaultMaxBodyTokens } from "./BodyBounds.ts"
import {
  Conflict,
  type ErrorReason,
  Forbidden,
  InvalidRequest,
  NodeNotFound,
  PathNotFound,
  PreconditionFailed,
  RateLimited,
  ServiceFault,
  ServiceUnavailable,
  Unauthorized,
  UnexpectedResponse
} from "../domain/ErrorReason.ts"
import type { NodeId } from "../domain/Node.ts"
import { integer, unreadable } from "./fields/Field.ts"
import { RecordFault } from "./fields/RecordReader.ts"
import { parseJson } from "./parseJson.ts"
import { retryAfterMillis } from "./RetryAfter.ts"

/** A reply from the wire, its body as text. Header names are in lower case. */
export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** What a successful reply contains. */
export interface Contents {
  readonly data: unknown
  /** The whole body, which may have more than the data. */
  readonly body: unknown
}

/** Which replies the operation accepts. */
export interface Expectation {
  /** The node a 404 is about. */
  readonly nodeId?: NodeId | undefined
  /** Whether success may come without data: a delete or a commitment update (A12, A16). */
  readonly emptyAllowed?: boolean
  /** Whether the data is a list. One of nothing is `[]`: no other reply is believed to be an account without nodes. */
  readonly list?: boolean
  /** Whether a 404 is a success: that of a delete that an earlier attempt may have done. */
  readonly goneIsDone?: boolean
}

/** Makes a text from outside fit to be shown: masks it and cuts it to a length. */
export type Show = (text: string, maxLength: number) => string

/** How a reply is read. */
export interface Reading {
  readonly show: Show
  readonly maxBodyTokens: number
  /** What was expected of a body that was too large to read to its end; undefined when it was read whole. */
  readonly bodyFault?: string | undefined
}

const unmasked: Reading = { show: (text, maxLength) => text.slice(0, maxLength), maxBodyTokens: defaultMaxBodyTokens }

const excerptLength = 200

/** Characters of a text that are masked before its white space is collapsed. */
const windowLength = 4 * excerptLength

/** At most so many values within a value are written, more than are shown of it. */
const maxValues = 1000

/** The beginning of a value as JSON. */
const json = (value: unknown): string => {
  let left = maxValues
  return JSON.stringify(value, (_, inner: unknown) => (left-- > 0 ? inner : undefined))
}

/** The beginning of a text, or of a value as JSON, on one line. */
const excerpt = (value: unknown, show: Show): string => {
  if (value === undefined) return ""
  const text = show(Predicate.isString(value) ? value : json(value), windowLength)
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > excerptLength ? `${line.slice(0, excerptLength - 1)}…` : line
}

/** The codes in the body, under either of its names, beside or instead of each other (A3). */
const codesOf = (body: Record<string, unknown>): ReadonlyArray<number> =>
  ["code", "status_code"].map((key) => integer(body[key])).filter((code) => code !== unreadable)

const asWord = (value: unknown): unknown => (Predicate.isString(value) ? value.trim().toLowerCase() : value)

/** Whether `errors` has any. */
const namesErrors = (errors: unknown): boolean =>
  Predicate.isString(errors)
    ? errors.trim() !== ""
    : errors === true || (Predicate.isObjectOrArray(errors) && Object.keys(errors).length > 0)

/** Whether a body without a code states a failure in words of its own: a bare `detail` or `error`, or that it did not succeed. */
const statesFailure = (body: Record<string, unknown>): boolean =>
  Predicate.isString(body["detail"]) ||
  namesErrors(body["error"]) ||
  ["success", "ok"].some((key) => body[key] === false) ||
  // The status of a record, such as a node's, is not that of the call.
  (body["id"] === undefined && ["error", "fail", "failed", "failure"].some((word) => asWord(body["status"]) === word))

/**
 * The status of the failure that the body of a 2xx carries; undefined when it carries none. Where no data is expected that
 * could prove the success, errors without a code are a failure too.
 */
const failureInside = (body: Record<string, unknown>, { emptyAllowed }: Expectation): number | undefined => {
  const codes = codesOf(body)
  const worst = Math.max(0, ...codes)
  if (worst >= 400) return worst
  if (body["errors"] === true) return 500
  if (emptyAllowed !== true) return undefined
  return namesErrors(body["errors"]) || (codes.length === 0 && statesFailure(body)) ? 400 : undefined
}

/** At most so many errors of a reply are shown, and so many messages of each. */
const maxErrors = 64
const maxMessages = 8
const messageLength = 1000

const asText = (value: unknown, show: Show): string =>
  Predicate.isString(value) ? show(value, messageLength) : excerpt(value, show)

/** Messages of one field, from an array or a single value. */
const messages = (value: unknown, show: Show): ReadonlyArray<string> =>
  (Array.isArray(value) ? value.slice(0, maxMessages) : [value]).map((message) => asText(message, show))

/** `errors` in all its forms as field → messages (A2 and A3). */
const fieldErrors = (errors: unknown, show: Show): Record<string, ReadonlyArray<string>> => {
  if (Predicate.isString(errors)) return errors.trim() === "" ? {} : { detail: [asText(errors, show)] }
  if (Predicate.isObject(errors)) {
    return Object.fromEntries(
      Object.keys(errors)
        .slice(0, maxErrors)
        .map((field) => [show(field, excerptLength), messages(errors[field], show)])
    )
  }
  if (!Array.isArray(errors)) return {}
  const fields: Array<readonly [string, string]> = errors.slice(0, maxErrors).map((error) => {
    if (!Predicate.isObject(error)) return ["detail", asText(error, show)]
    const message = error["message"] ?? error["msg"] ?? error["detail"]
    return [
      Predicate.isString(error["field"]) ? show(error["field"], excerptLength) : "detail",
      asText(message ?? error, show)
    ]
  })
  return Object.fromEntries(
    Array.from(
      Map.groupBy(fields, ([field]) => field),
      ([field, group]) => [field, group.map(([, message]) => message)]
    )
  )
}

/** Where a body keeps its errors: in the envelope, bare under `detail` or `error`, or as the whole body. */
const statedErrors = (body: unknown): unknown => {
  if (!Predicate.isObject(body)) return body
  const stated = body["errors"] ?? body["detail"] ?? body["error"]
  return stated !== undefined || ["message", "code", "status_code", "data", "success", "ok"].some((key) => key in body)
    ? stated
    : body
}

/** A text with content; a failure may carry the message of a success. */
const isSentence = (text: unknown): text is string =>
  Predicate.isString(text) && text.trim() !== "" && text !== "Success"

/** The best sentence a failure offers, without its full stop. */
const detailOf = (body: unknown, fields: Record<string, ReadonlyArray<string>>, raw: RawReply, show: Show): string => {
  const stated = Predicate.isObject(body)
    ? [body["message"], body["detail"], body["error"]].find(isSentence)
    : undefined
  const sentence = stated ?? Object.values(fields).flat()[0] ?? (body === undefined ? raw.body : "")
  return excerpt(sentence, show).replace(/\.$/, "") || "it gave no reason"
}

/** The reason a reply with this status (its own, or the one inside a 2xx) stands for. */
const reasonFor = (
  status: number,
  body: unknown,
  raw: RawReply,
  expectation: Expectation,
  nowMillis: number,
  show: Show
): ErrorReason => {
  const fields = fieldErrors(statedErrors(body), show)
  const detail = detailOf(body, fields, raw, show)
  const wait = () => retryAfterMillis(raw.headers, nowMillis)
  switch (status) {
    case 401:
      return new Unauthorized({ detail })
    case 403:
      return new Forbidden({ detail })
    case 404:
      return expectation.nodeId === undefined
        ? new PathNotFound({ detail })
        : new NodeNotFound({ nodeId: expectation.nodeId })
    case 408:
    case 502:
    case 503:
    case 504:
      return new ServiceUnavailable({ status, detail, retryAfterMillis: wait() })
    case 409:
    case 423:
      return new Conflict({ detail })
    case 412:
      return new PreconditionFailed({ detail })
    case 429:
      return new RateLimited({ retryAfterMillis: wait() })
  }
  if (status >= 400 && status < 500) return new InvalidRequest({ status, detail, fields })
  if (status >= 500 && status < 600) return new ServiceFault({ status, detail, retryAfterMillis: wait() })
  return unexpected(raw, new RecordFault("", "a status of the interface", raw.body), show)
}

/** A reply that cannot be understood, and where. */
export const unexpected = (
  { status }: RawReply,
  { expected, got, path }: RecordFault,
  show: Show
): UnexpectedResponse => new UnexpectedResponse({ status, path, expected, excerpt: excerpt(got, show) })

const noData = {}

/** The data. Saved images have it under `images`: beside `data`, in it, or instead of it (interface.md §4 note 5). */
const dataOf = (body: Record<string, unknown>): unknown => {
  const { data, images } = body
  if (Array.isArray(images)) return images
  return Predicate.isObject(data) && Array.isArray(data["images"]) ? data["images"] : (data ?? images)
}

/** Whether the data lists nothing, so that it proves no success where errors are named beside it. */
const listsNothing = (data: unknown): boolean =>
  data === undefined || data === null || (typeof data === "object" && Object.keys(data).length === 0)

/**
 * The contents of a reply, or the reason it is a failure.
 *
 * A body without an envelope counts as the data when it is an array or an object with an `id`:
 * get-by-id is documented without mentioning the envelope (interface.md §4).
 */
export const interpret = (
  raw: RawReply,
  expectation: Expectation,
  nowMillis: number,
  { bodyFault: cut, maxBodyTokens, show } = unmasked
): Result.Result<Contents, ErrorReason> => {
  const tooMuch = cut ?? bodyFault(raw.body, maxBodyTokens)
  const body = raw.body === "" || tooMuch !== undefined ? undefined : parseJson(raw.body)
  const failure = (status: number): Result.Result<Contents, ErrorReason> =>
    status === 404 && expectation.goneIsDone === true
      ? Result.succeed({ data: noData, body })
      : Result.fail(reasonFor(status, body, raw, expectation, nowMillis, show))
  const fault = (expected: string, got: unknown, path = "") =>
    Result.fail(unexpected(raw, new RecordFault(path, expected, got), show))
  if (raw.status >= 400) return failure(raw.status)
  if (raw.status < 200) return fault("a status of the interface", raw.body)
  if (raw.status >= 300) {
    return fault("a reply without a redirect", raw.headers["location"] ? "a redirect" : raw.body)
  }
  if (tooMuch !== undefined) return fault(tooMuch, raw.body)
  if (raw.body.trim() === "") {
    return expectation.emptyAllowed === true ? Result.succeed({ data: noData, body }) : fault("a body", undefined)
  }
  if (body === undefined) return fault("JSON", raw.body)
  if (Array.isArray(body)) return Result.succeed({ data: body, body })
  if (!Predicate.isObject(body)) return fault("the envelope", body)
  const failed = failureInside(body, expectation)
  if (failed !== undefined) return failure(failed)
  const data = dataOf(body)
  if (expectation.list === true && listsNothing(data)) {
    const status = failureInside(body, { emptyAllowed: true })
    if (status !== undefined) return failure(status)
    if (!Array.isArray(data)) return fault("a list", body["data"], "data")
  }
  if (data !== undefined && data !== null) return Result.succeed({ data, body })
  if (expectation.emptyAllowed === true) return Result.succeed({ data: noData, body })
  if (body["data"] === undefined && body["id"] !== undefined) return Result.succeed({ data: body, body })
  return fault("the envelope with data", body, "data")
}
