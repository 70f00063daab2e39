/**
 * The body of a reply on its way out, for faults to read and to replace.
 */
import { Predicate } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"

export type Reply = HttpServerResponse.HttpServerResponse
export type JsonObject = Readonly<Record<string, unknown>>

/** The bytes of a body; `undefined` where there is none, or none that is known whole. */
export const bytesOf = ({ body, status }: Reply): Uint8Array | undefined =>
  body._tag === "Uint8Array" && body.contentLength > 0 && status !== 204 && status !== 304 ? body.body : undefined

const utf8 = new TextDecoder()

/** The envelope of a success, `undefined` when the reply is none. */
export const successOf = (reply: Reply): JsonObject | undefined => {
  const bytes = bytesOf(reply)
  if (bytes === undefined || reply.status >= 300) return undefined
  const envelope: unknown = JSON.parse(utf8.decode(bytes))
  return Predicate.isObject(envelope) && envelope["code"] === 200 ? envelope : undefined
}

export const withJson = (reply: Reply, value: unknown): Reply =>
  HttpServerResponse.setBody(reply, HttpBody.jsonUnsafe(value))

/** The records in a success: the one it tells, or those of a list. */
export const recordsOf = (envelope: JsonObject): ReadonlyArray<JsonObject> => {
  const { data } = envelope
  return (Array.isArray(data) ? data : [data]).filter(
    (record): record is JsonObject => Predicate.isObject(record) && Object.keys(record).length > 0
  )
}

/** The envelope with each record changed. */
export const mapRecords = (envelope: JsonObject, change: (record: JsonObject) => JsonObject): JsonObject => {
  const { data } = envelope
  const changed = (record: unknown) => (Predicate.isObject(record) ? change(record) : record)
  return { ...envelope, data: Array.isArray(data) ? data.map(changed) : changed(data) }
}
