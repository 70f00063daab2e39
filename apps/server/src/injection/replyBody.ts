/** The body of an outgoing reply, which faults read and replace. */
import { Predicate } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import type { Reply } from "../http/Exchange.ts"
import { bytesOf } from "../transport/replyBytes.ts"

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>

const utf8 = new TextDecoder()

/** The envelope of a success; `undefined` if the reply is no success or has no envelope. */
export const successOf = (reply: Reply): JsonObject | undefined => {
  const bytes = bytesOf(reply)
  if (bytes === undefined || reply.status >= 300) return undefined
  const envelope: unknown = JSON.parse(utf8.decode(bytes))
  return Predicate.isObject(envelope) && envelope["code"] === 200 ? envelope : undefined
}

export const withJson = (reply: Reply, value: unknown): Reply =>
  HttpServerResponse.setBody(reply, HttpBody.jsonUnsafe(value))

/** The reply with the status and body of another reply. It keeps its own headers, except for `location`. */
export const withBodyOf = (reply: Reply, other: Reply): Reply =>
  HttpServerResponse.removeHeader(
    HttpServerResponse.setBody(HttpServerResponse.setStatus(reply, other.status), other.body),
    "location"
  )

/** The list of nodes in today's dialect, if `data` is the reply to a create that stated a number of nodes. */
const nested = (data: unknown): unknown =>
  Predicate.isObject(data) ? Reflect.get(data, "node_create_response") : undefined

/** Whether a success is the reply to a create that stated a number of nodes. */
export const isNested = ({ data }: JsonObject): boolean => Array.isArray(nested(data))

/** The records of a success: its single record, or the records of its list. */
export const recordsOf = (envelope: JsonObject): ReadonlyArray<JsonObject> => {
  const { data } = envelope
  const records = isNested(envelope) ? nested(data) : data
  return (Array.isArray(records) ? records : [data]).filter(
    (record): record is JsonObject => Predicate.isObject(record) && Object.keys(record).length > 0
  )
}

/** The new reply; `undefined` if it equals the reply before. */
export const ifChanged = (before: Reply, after: Reply | undefined): Reply | undefined => {
  if (after === undefined || after === before) return undefined
  const isSame =
    after.status === before.status &&
    hasSameHeaders(after, before) &&
    Buffer.compare(bytesOf(after) ?? nothing, bytesOf(before) ?? nothing) === 0
  return isSame ? undefined : after
}

const nothing = new Uint8Array()

const hasSameHeaders = ({ headers: one }: Reply, { headers: other }: Reply): boolean => {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

/**
 * A change of records: `empty` removes all records of a list; otherwise `to` replaces a field in each record. If `to`
 * returns `undefined`, the field is removed.
 */
export type RecordEdit = "empty" | { readonly field: string; readonly to: (value: unknown) => unknown }

/** The records of a success while faults change them. They are parsed once, changed in place, and written once. */
export const editable = (reply: Reply) => {
  const envelope: Record<string, unknown> = { ...successOf(reply) }
  let records = recordsOf(envelope) as ReadonlyArray<Record<string, unknown>>
  return {
    /** Applies a fault's change. Returns whether anything changed. */
    edit: (editOf: (first: JsonObject) => RecordEdit): boolean => {
      const first = records.find((record) => Object.keys(record).length > 0)
      if (first === undefined) return false
      const edit = editOf(first)
      if (edit !== "empty") return records.filter((record) => isEdited(record, edit)).length > 0
      if (!Array.isArray(envelope["data"])) return false
      envelope["data"] = records = []
      return true
    },
    /** The reply with the current records. */
    written: (): Reply => withJson(reply, envelope)
  }
}

/** Changes a field of a record. Returns whether the field is different then. */
const isEdited = (record: Record<string, unknown>, { field, to }: Exclude<RecordEdit, "empty">): boolean => {
  const before = Object.hasOwn(record, field) ? record[field] : undefined
  const value = to(before)
  if (value === before) return false
  if (typeof value === "object" && JSON.stringify(value) === JSON.stringify(before)) return false
  if (value === undefined) return delete record[field]
  // Do not assign the field, because assigning to `__proto__` would set the prototype.
  Object.defineProperty(record, field, { configurable: true, enumerable: true, writable: true, value })
  return true
}
