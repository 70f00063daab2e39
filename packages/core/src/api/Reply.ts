/**
 * What a reply means: success with its data, or one of the reasons a call fails for. Pure, and the only place where
 * statuses, codes and the many ways of writing a failure are interpreted (decisions 3, 4, 12, 16, 21). Nothing the
 * service can send makes it throw.
 */
import { Predicate, Result } from "effect"
import {
  Conflict,
  type ErrorReason,
  Forbidden,
  InvalidRequest,
  NodeNotFound,
  PathNotFound,
  PreconditionFailed,
  QuotaExhausted,
  ServiceFault,
  ServiceUnavailable,
  Unauthorized,
  UnexpectedResponse
} from "../domain/ErrorReason.ts"
import type { NodeId } from "../domain/Node.ts"
import { integer, unreadable } from "./fields/Field.ts"
import { retryAfterMillis } from "./RetryAfter.ts"

/** A reply as it came off the wire, its body as text. Header names are in lower case. */
export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** What a successful reply contains. */
export interface Contents {
  readonly data: unknown
  /** The whole body, for what may stand beside the data. */
  readonly body: unknown
}

/** What the operation lets a reply be. */
export interface Expectation {
  /** The node a 404 is about. */
  readonly nodeId?: NodeId | undefined
  /** Whether success may come without data: a delete or a commitment update (decisions 12, 16). */
  readonly emptyAllowed?: boolean
  /** Whether the data is a list: what one without matches returns is not shown, and some write nothing (interface.md §4 note 6). */
  readonly list?: boolean
  /** Whether a 404 is the success asked for: of a delete that an earlier attempt may have done. */
  readonly goneIsDone?: boolean
}

const excerptLength = 200

/** A value as JSON; one nested too deeply to be written is named instead. */
const json = (value: unknown): string => {
  try {
    return JSON.stringify(value)
  } catch {
    return "a value nested too deeply to show"
  }
}

/** The beginning of a text, or of a value as JSON, on one line. */
export const excerpt = (value: unknown): string => {
  if (value === undefined) return ""
  const text = (Predicate.isString(value) ? value.slice(0, 4 * excerptLength) : json(value)).replace(/\s+/g, " ").trim()
  return text.length > excerptLength ? `${text.slice(0, excerptLength - 1)}…` : text
}

/** The body as JSON; undefined when it is none. */
const parse = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** The codes in the body, under either of its names, beside or instead of each other (decision 3). */
const codesOf = (body: Record<string, unknown>): ReadonlyArray<number> =>
  ["code", "status_code"].map((key) => integer(body[key])).filter((code) => code !== unreadable)

/** Whether `errors` names any. */
const namesErrors = (errors: unknown): boolean =>
  errors === true || (Predicate.isString(errors) && errors.trim() !== "") || Object.keys(fieldErrors(errors)).length > 0

/**
 * The status a body of a 2xx carries when it is a failure all the same; undefined when it is none. Where no data is
 * expected that could prove the success, errors without a code are a failure too.
 */
const failureInside = (body: Record<string, unknown>, { emptyAllowed }: Expectation): number | undefined => {
  const codes = codesOf(body)
  const worst = Math.max(0, ...codes)
  if (worst >= 400) return worst
  if (body["errors"] === true) return 500
  if (emptyAllowed !== true) return undefined
  return namesErrors(body["errors"]) || (codes.length === 0 && Predicate.isString(body["detail"])) ? 400 : undefined
}

const asText = (value: unknown): string => (Predicate.isString(value) ? value : excerpt(value))

/** Messages of one field: an array, a single value, or a thing to show as it is. */
const messages = (value: unknown): ReadonlyArray<string> => (Array.isArray(value) ? value.map(asText) : [asText(value)])

/** `errors` in all its forms as field → messages (decisions 2 and 3). */
const fieldErrors = (errors: unknown): Record<string, ReadonlyArray<string>> => {
  if (Predicate.isString(errors)) return errors.trim() === "" ? {} : { detail: [errors] }
  if (Predicate.isObject(errors)) {
    return Object.fromEntries(Object.entries(errors).map(([field, value]) => [field, messages(value)]))
  }
  if (!Array.isArray(errors)) return {}
  const fields: Array<readonly [string, string]> = errors.map((error) => {
    if (!Predicate.isObject(error)) return ["detail", asText(error)]
    const message = error["message"] ?? error["msg"] ?? error["detail"]
    return [Predicate.isString(error["field"]) ? error["field"] : "detail", asText(message ?? error)]
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
  return stated !== undefined || ["message", "code", "status_code", "data"].some((key) => key in body) ? stated : body
}

/** A text that says something; a failure may carry the message of a success. */
const isSentence = (text: unknown): text is string =>
  Predicate.isString(text) && text.trim() !== "" && text !== "Success"

/** The best sentence a failure offers, without its full stop. */
const detailOf = (body: unknown, fields: Record<string, ReadonlyArray<string>>, raw: RawReply): string => {
  const said = Predicate.isObject(body) ? [body["message"], body["detail"], body["error"]].find(isSentence) : undefined
  const sentence = said ?? Object.values(fields).flat()[0] ?? (body === undefined ? excerpt(raw.body) : "")
  return excerpt(sentence).replace(/\.$/, "") || "it gave no reason"
}

/** The reason a reply with this status (its own, or the one inside a 2xx) stands for. */
const reasonFor = (
  status: number,
  body: unknown,
  raw: RawReply,
  expectation: Expectation,
  nowMillis: number
): ErrorReason => {
  const fields = fieldErrors(statedErrors(body))
  const detail = detailOf(body, fields, raw)
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
      return new QuotaExhausted({ retryAfterMillis: wait() })
  }
  if (status >= 400 && status < 500) return new InvalidRequest({ status, detail, fields })
  if (status >= 500 && status < 600) return new ServiceFault({ status, detail, retryAfterMillis: wait() })
  return unexpected(raw, "", "a status of the interface", raw.body)
}

/** A reply that is not understood, and where. */
export const unexpected = (raw: RawReply, path: string, expected: string, got: unknown): UnexpectedResponse =>
  new UnexpectedResponse({ status: raw.status, path, expected, excerpt: excerpt(got) })

const noData = {}

/** The data, which the saved images have under `images`: beside `data`, in it, or instead (interface.md §4 note 5). */
const dataOf = (body: Record<string, unknown>): unknown => {
  const { data, images } = body
  if (Array.isArray(images)) return images
  return Predicate.isObject(data) && Array.isArray(data["images"]) ? data["images"] : (data ?? images)
}

const isNothing = (data: unknown): boolean =>
  data === null || (Predicate.isObject(data) && Object.keys(data).length === 0)

/**
 * The contents of a reply, or the reason it is a failure.
 *
 * A body without an envelope is taken for the data itself when it looks like it (an array, or an object with an `id`):
 * get-by-id is documented without mentioning the envelope (interface.md §4).
 */
export const interpret = (
  raw: RawReply,
  expectation: Expectation,
  nowMillis: number
): Result.Result<Contents, ErrorReason> => {
  const body = raw.body === "" ? undefined : parse(raw.body)
  const failure = (status: number): Result.Result<Contents, ErrorReason> =>
    status === 404 && expectation.goneIsDone === true
      ? Result.succeed({ data: noData, body })
      : Result.fail(reasonFor(status, body, raw, expectation, nowMillis))
  if (raw.status >= 400) return failure(raw.status)
  if (raw.status < 200 || raw.status >= 300) {
    return Result.fail(
      unexpected(raw, "", "a reply without a redirect", raw.headers["location"] ? "a redirect" : raw.body)
    )
  }
  if (raw.body.trim() === "") {
    return expectation.emptyAllowed === true
      ? Result.succeed({ data: noData, body })
      : Result.fail(unexpected(raw, "", "a body", undefined))
  }
  if (body === undefined) return Result.fail(unexpected(raw, "", "JSON", raw.body))
  if (Array.isArray(body)) return Result.succeed({ data: body, body })
  if (!Predicate.isObject(body)) return Result.fail(unexpected(raw, "", "the envelope", body))
  const failed = failureInside(body, expectation)
  if (failed !== undefined) return failure(failed)
  if (expectation.list === true && isNothing(body["data"]) && !Array.isArray(body["images"])) {
    const said = failureInside(body, { emptyAllowed: true })
    return said === undefined ? Result.succeed({ data: [], body }) : failure(said)
  }
  const data = dataOf(body)
  if (data !== undefined && data !== null) return Result.succeed({ data, body })
  if (expectation.emptyAllowed === true) return Result.succeed({ data: noData, body })
  if (body["data"] === undefined && body["id"] !== undefined) return Result.succeed({ data: body, body })
  return Result.fail(unexpected(raw, "data", "the envelope with data", body))
}
