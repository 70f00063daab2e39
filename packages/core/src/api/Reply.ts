/**
 * Interprets a reply: success with its data, or the reason why the call failed. This module is pure, and the only place that interprets
 * statuses, codes and the many forms of a failure (A3, A4, A12, A16 and A21 in `docs/interface/assumptions.md`). No reply makes it throw.
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
  Unreachable,
  UnexpectedResponse
} from "../domain/ErrorReason.ts"
import type { NodeId } from "../domain/Node.ts"
import { integer, unreadable } from "./fields/Field.ts"
import { RecordFault } from "./fields/RecordReader.ts"
import { countsFrom } from "./AllowanceHeaders.ts"
import { parseJson } from "./parseJson.ts"
import { retryAfterMillis } from "./RetryAfter.ts"

/** A reply from the wire, its body as text. Header names are in lower case. */
export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** The contents of a successful reply. */
export interface Contents {
  readonly data: unknown
  /** The whole body, which may have more fields than the data. */
  readonly body: unknown
}

/** Which replies the operation accepts. */
export interface Expectation {
  /** The node to which a 404 refers. */
  readonly nodeId?: NodeId | undefined
  /** Whether a success may have no data, as for a delete or a commitment update (A12, A16). */
  readonly emptyAllowed?: boolean
  /** Whether the data is a list. Only `[]` is an empty list: no other reply is accepted as an account without nodes. */
  readonly list?: boolean
  /** Whether a 404 counts as success, as for a delete that an earlier attempt may have carried out. */
  readonly goneIsDone?: boolean
}

/** Masks a string from outside and cuts it, so that it can be shown. */
export type Show = (text: string, maxLength: number) => string

/** The inputs of the interpretation. */
export interface Reading {
  readonly show: Show
  readonly maxBodyTokens: number
  /** The limit that the body exceeded, worded as the expected value of an error; undefined if the body was read in full. */
  readonly bodyFault?: string | undefined
}

const unmasked: Reading = { show: (text, maxLength) => text.slice(0, maxLength), maxBodyTokens: defaultMaxBodyTokens }

const excerptLength = 200

/**
 * The search for secrets reads this many characters for each character that can be shown, because collapsing white
 * space shortens the string.
 */
const windowPerCharacter = 4

/** At most this many nested values are written as JSON, which is more than an excerpt can show. */
const maxValues = 1000

/** The beginning of a value as JSON. */
const json = (value: unknown): string => {
  let left = maxValues
  return JSON.stringify(value, (_, inner: unknown) => (left-- > 0 ? inner : undefined))
}

/** The beginning of a string, or of a value's JSON, on one line. */
const excerpt = (value: unknown, show: Show, maxLength = excerptLength): string => {
  if (value === undefined) return ""
  const text = show(Predicate.isString(value) ? value : json(value), windowPerCharacter * maxLength)
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line
}

/** The codes in the body under all names in use (A3). The `status` of a record is not a code. */
const codesOf = (body: Record<string, unknown>): ReadonlyArray<number> =>
  ["code", "status_code", ...(body["id"] === undefined ? ["status"] : [])]
    .map((key) => integer(body[key]))
    .filter((code) => code !== unreadable)

const asWord = (value: unknown): unknown => (Predicate.isString(value) ? value.trim().toLowerCase() : value)

/** Whether `errors` has any content. */
const namesErrors = (errors: unknown): boolean =>
  Predicate.isString(errors)
    ? errors.trim() !== ""
    : errors === true || (Predicate.isObjectOrArray(errors) && Object.keys(errors).length > 0)

/** Whether a body without a code states a failure: a bare `detail` or `error`, or a field for success that is false. */
const statesFailure = (body: Record<string, unknown>): boolean =>
  Predicate.isString(body["detail"]) ||
  namesErrors(body["error"]) ||
  ["success", "ok"].some((key) => body[key] === false) ||
  // The status of a record, such as a node's, is not the status of the call.
  (body["id"] === undefined &&
    [false, "error", "fail", "failed", "failure"].some((word) => asWord(body["status"]) === word))

/** Whether the operation only reads. */
const isRead = ({ emptyAllowed, list, nodeId }: Expectation) =>
  list === true || (nodeId !== undefined && emptyAllowed !== true)

/** Whether a value is missing or empty. Next to errors, such a value does not prove that the request succeeded. */
const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (Predicate.isObjectOrArray(value) && Object.keys(value).length === 0)

/** The status of a reply with several outcomes, some of which may be failures. */
const multiStatus = 207

/**
 * Whether a reply has several outcomes, which leaves unknown what was done. False for a raw request, because its caller
 * interprets the reply.
 */
const isMultiple = ({ status }: RawReply, body: unknown, expectation: Expectation): boolean =>
  (expectation.emptyAllowed !== true || expectation.nodeId !== undefined) &&
  !isRead(expectation) &&
  (status === multiStatus || (Predicate.isObject(body) && codesOf(body).includes(multiStatus)))

/** Whether the data reports insufficient credit, and neither contains nor counts a node. */
const lacksCredit = ({ data }: Record<string, unknown>) =>
  Predicate.isObject(data) &&
  data["is_credit_sufficient"] === false &&
  data["id"] === undefined &&
  isNothing(data["node_create_response"]) &&
  [undefined, null, 0, "0"].includes(data["total_number_of_node_created"] as never)

/** Stands in for the missing status of a failure, because nobody knows whether a change was made. */
const unstated = 0

/**
 * The status of the failure in the body of a 2xx reply; undefined if the body has none. If the operation expects no
 * data, errors without a code count as a failure too, because no data can prove a success.
 */
const failureInside = (body: Record<string, unknown>, expectation: Expectation): number | undefined => {
  const codes = codesOf(body)
  const worst = Math.max(0, ...codes)
  if (worst >= 400) return worst
  // `true` does not say whether anything was done.
  if (body["errors"] === true) return isRead(expectation) ? 400 : unstated
  if (lacksCredit(body)) return 412
  // Errors without data after a change that returns data: it is unknown whether anything was done.
  if (!isRead(expectation) && namesErrors(body["errors"]) && "data" in body && isNothing(body["data"])) {
    return expectation.emptyAllowed === true ? 400 : unstated
  }
  if (expectation.emptyAllowed !== true) return undefined
  return namesErrors(body["errors"]) || (codes.length === 0 && statesFailure(body)) ? 400 : undefined
}

/** Maximum number of fields at fault that are shown, and of messages of each. */
const maxErrors = 64
const messageLength = 1000

/** Fields that may contain the sentence of a failure or of one of its errors. */
const sentenceNames = ["message", "title", "detail", "error", "msg", "error_description", "reason", "errors"]

/** Fields in which an error may name the field at fault. */
const fieldNames = ["field", "loc", "param"]

const hasSentence = (record: Record<string, unknown>) => sentenceNames.some((name) => isSentence(record[name]))

/** Deeper values are shown as JSON. */
const maxDepth = 6

/** Whether a string has content. `Success` does not count, because a failure may carry the message of a success. */
const isSentence = (text: unknown): text is string =>
  Predicate.isString(text) && text.trim() !== "" && text !== "Success"

/** A field and one reason why it is at fault; the text is empty without a reason. Errors of the whole request are under `detail`. */
type Fault = readonly [field: string, text: string]

/**
 * All forms of errors as faults (A2 and A3). If an object names its field, or has a sentence under a usual name such as
 * `message`, its numbers are codes and not errors.
 */
const faultsIn = (
  value: unknown,
  show: Show,
  field = "detail",
  prefix = "",
  depth = maxDepth
): ReadonlyArray<Fault> => {
  if (!Predicate.isObjectOrArray(value) || depth === 0 || isNothing(value)) {
    const text = isNothing(value) || value === "Success" ? "" : excerpt(value, show, messageLength)
    return text === "" && field === "detail" ? [] : [[field, text && prefix + text]]
  }
  const inner = (item: unknown, at: string, before = prefix) => faultsIn(item, show, at, before, depth - 1)
  const record = value as Record<string, unknown>
  const isTold = hasSentence(record)
  const named = fieldNames.find((name) => Predicate.isString(record[name]) || Array.isArray(record[name]))
  const isNamed = field === "detail" && named !== undefined && (isTold || named === "field")
  const at = isNamed ? show([record[named]].flat().join("."), excerptLength) : field
  return Object.entries(record)
    .slice(0, maxErrors)
    .flatMap(([name, item]) => {
      if (Array.isArray(value) || sentenceNames.includes(name)) return inner(item, at)
      if ((isNamed && name === named) || (isTold && (at !== "detail" || Predicate.isNumber(item)))) return []
      const shown = show(name, excerptLength)
      return at === "detail" ? inner(item, shown) : inner(item, at, `${prefix}${shown}: `)
    })
}

/** The errors of a body: in the envelope, in place of its message, in its data, or the whole body. */
const statedErrors = (body: unknown): unknown => {
  if (!Predicate.isObject(body)) return body
  const { message } = body
  const stated = [body["errors"], body["detail"], body["error"], Predicate.isObjectOrArray(message) && message].filter(
    (value) => value !== true && namesErrors(value)
  )
  if (stated.length > 0 || hasSentence(body)) return stated
  return ["data", "success", "ok"].some((key) => key in body) || codesOf(body).length > 0 ? body["data"] : body
}

/** Field → what is wrong with it, each text once. */
const fieldErrors = (body: unknown, show: Show): Record<string, ReadonlyArray<string>> => {
  const fields = new Map<string, Set<string>>()
  for (const [field, text] of faultsIn(statedErrors(body), show)) {
    fields.set(field, (fields.get(field) ?? new Set()).add(text.replace(/\.$/, "")))
  }
  return Object.fromEntries(Array.from(fields, ([field, texts]) => [field, Array.from(texts)]))
}

/** Maximum length of a failure's stated reason. */
const detailLength = 4000

/** A sentence that says only that the request failed or that fields are invalid. */
const isGeneral =
  /^(?:the fields? .* not valid|(?:bad|conflict|error|failed|fields?|invalid|precondition|requests?|too many|validation|\W)+)$/i

/**
 * The sentences that explain the failure, without duplicates or full stops. All errors are in them. A message next to errors is left out if
 * it is general.
 */
const wordsOf = (
  body: unknown,
  { detail, ...fields }: Record<string, ReadonlyArray<string>>,
  raw: RawReply,
  show: Show
): ReadonlyArray<string> => {
  const clean = (texts: ReadonlyArray<string>) =>
    texts.map((text) => excerpt(text, show, messageLength).replace(/\.$/, "")).filter((text) => text !== "")
  const record = Predicate.isObject(body) ? body : {}
  const heads = clean(
    body === undefined ? [excerpt(raw.body, show)] : sentenceNames.map((name) => record[name]).filter(isSentence)
  )
  const whole = clean([detail?.join(", ") ?? ""])
  const faults = clean(
    Object.entries(fields).map(([name, texts]) => [name, texts.join(", ")].filter(Boolean).join(": "))
  )
  const telling = heads.filter((text) => !isGeneral.test(text))
  const others = [...(telling.length + whole.length + faults.length > 0 ? telling : heads.slice(-1)), ...whole]
  // A fault of one field does not hide that of another.
  return [...others, ...faults].filter(
    (text, at, all) =>
      !all.some(
        (other, place) =>
          place !== at && Math.min(at, place) < others.length && other.includes(text) && (place < at || other !== text)
      )
  )
}

/** Words about a limit on how much an account may have. */
const ofAmount = /\b(?:quota|limit\w*|max\w*|allowed|exceed\w*|reached|too many)\b/i
const ofThings = /\b(?:node|vm|instance|machine|server|volume|disk|storage|ip|v?cpu|ram|gpu)(?:e?s)?\b/i
/** Words about a limit on how often an account may ask. */
const ofRate = /\brates?\b|\brequests\b|\bcalls\b|throttl|slow down|\bper (?:second|minute|hour|day)\b|\bapi\b/i

/**
 * Whether a 429 is about a quota (how much the account may have) and not the rate limit (how often it may ask). Its words must say so, and
 * nothing may indicate the rate limit, such as `Retry-After` or an exhausted allowance.
 */
const isQuota = (words: ReadonlyArray<string>, { headers }: RawReply): boolean => {
  const { remaining } = countsFrom(headers)
  return (
    headers["retry-after"] === undefined &&
    remaining !== 0 &&
    words.some(
      (text) =>
        !ofRate.test(text) &&
        ((ofAmount.test(text) && ofThings.test(text)) || (remaining !== null && /\bquota\b/i.test(text)))
    )
  )
}

/** The reason for a failed reply. `status` is the status of the reply, or the status stated in the body of a 2xx reply. */
const reasonFor = (
  status: number,
  body: unknown,
  raw: RawReply,
  expectation: Expectation,
  nowMillis: number,
  show: Show
): ErrorReason => {
  const fields = fieldErrors(body, show)
  const words = wordsOf(body, fields, raw, show)
  const said = excerpt(words.join("; "), show, detailLength)
  const detail = said || "it gave no reason"
  const wait = () => retryAfterMillis(raw.headers, nowMillis)
  // Only a proxy sends this status, and it has not passed the request on. A 407 in the body of another reply comes from
  // the service.
  if (raw.status === 407) {
    return new Unreachable({ sent: "no", detail: "the proxy asks for a password (407)", fault: "proxy" })
  }
  switch (status) {
    case 401:
      return new Unauthorized({ detail })
    case 403:
      return new Forbidden({ detail })
    case 404:
      return expectation.nodeId === undefined
        ? new PathNotFound({ detail })
        : new NodeNotFound({ nodeId: expectation.nodeId, detail: said || null })
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
      // A read uses no quota.
      if (isRead(expectation) || !isQuota(words, raw))
        return new RateLimited({ retryAfterMillis: wait(), detail: said || null })
  }
  if (status === unstated) return new ServiceFault({ status: raw.status, detail, retryAfterMillis: wait() })
  if (status >= 400 && status < 500) return new InvalidRequest({ status, detail, fields })
  if (status >= 500 && status < 600) return new ServiceFault({ status, detail, retryAfterMillis: wait() })
  return unexpected(raw, new RecordFault("", "a status of the interface", raw.body), show)
}

/** The error for a reply that cannot be interpreted. It names the field at fault. */
export const unexpected = (
  { status }: RawReply,
  { expected, got, path }: RecordFault,
  show: Show
): UnexpectedResponse => new UnexpectedResponse({ status, path, expected, excerpt: excerpt(got, show) })

const noData = {}

/** The data of a body. Saved images are under `images`: next to `data`, in it, or instead of it (interface.md §4 note 5). */
const dataOf = (body: Record<string, unknown>): unknown => {
  const { data, images } = body
  if (Array.isArray(images)) return images
  return Predicate.isObject(data) && Array.isArray(data["images"]) ? data["images"] : (data ?? images)
}

/**
 * Returns the contents of a reply, or the reason of its failure.
 *
 * A body without an envelope counts as data if it is an array or an object with an `id`: get-by-id is documented without an envelope
 * (interface.md §4).
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
  const isOpen = isMultiple(raw, body, expectation)
  // Only a node in the reply proves that a create was carried out.
  if (isOpen && expectation.emptyAllowed === true) return failure(500)
  if (raw.body.trim() === "") {
    return expectation.emptyAllowed === true ? Result.succeed({ data: noData, body }) : fault("a body", undefined)
  }
  if (body === undefined) return fault("JSON", raw.body)
  if (Array.isArray(body)) return Result.succeed({ data: body, body })
  if (!Predicate.isObject(body)) return fault("the envelope", body)
  const failed = failureInside(body, expectation)
  if (failed !== undefined) return failure(isOpen ? 500 : failed)
  const data = dataOf(body)
  if (expectation.list === true && isNothing(data)) {
    const status = failureInside(body, { emptyAllowed: true })
    if (status !== undefined) return failure(status)
    if (!Array.isArray(data)) return fault("a list", body["data"], "data")
  }
  if (data !== undefined && data !== null) return Result.succeed({ data, body })
  if (expectation.emptyAllowed === true) return Result.succeed({ data: noData, body })
  if (body["data"] === undefined && body["id"] !== undefined) return Result.succeed({ data: body, body })
  return fault("the envelope with data", body, "data")
}
