/**
 * The bytes of an outgoing reply. Missing length and type headers stay missing: Effect would add them back whenever another
 * header is set.
 */
import { HttpBody, HttpServerResponse } from "effect/http"

type Reply = HttpServerResponse.HttpServerResponse

/** The bytes of a body; `undefined` if there is no body or it is streamed. */
export const bytesOf = ({ body, status }: Reply): Uint8Array | undefined => {
  if (status === 204 || status === 304) return undefined
  if (body._tag === "Raw") return body.body instanceof Uint8Array ? body.body : undefined
  return body._tag === "Uint8Array" && body.contentLength > 0 ? body.body : undefined
}

/** The reply with other bytes and its own headers. Without a content-length it is sent in chunks. */
export const withBytes = (reply: Reply, bytes: Uint8Array): Reply => {
  const { "content-length": length, "content-type": contentType = "" } = reply.headers
  const hasType = contentType !== ""
  const body =
    length === undefined ? HttpBody.raw(bytes, hasType ? { contentType } : {}) : HttpBody.uint8Array(bytes, contentType)
  const replaced = HttpServerResponse.setBody(reply, body)
  return hasType ? replaced : HttpServerResponse.removeHeader(replaced, "content-type")
}

/** Removes a header, even one that the body would set. */
export const withoutHeader = (reply: Reply, name: string): Reply => {
  const bytes = bytesOf(reply)
  const { [name]: _, ...headers } = reply.headers
  const bare = HttpServerResponse.empty({ status: reply.status, headers })
  return bytes === undefined ? bare : withBytes(bare, bytes)
}
