/**
 * Reads and replaces the bytes of an outgoing reply. If a fault has removed the header for the length or the type, these
 * functions keep it away, although Effect adds it again whenever another header is set.
 */
import { HttpBody, HttpServerResponse } from "effect/http"

type Reply = HttpServerResponse.HttpServerResponse

/** The bytes of a reply's body; `undefined` if there is no body or the body is a stream. */
export const bytesOf = ({ body, status }: Reply): Uint8Array | undefined => {
  if (status === 204 || status === 304) return undefined
  if (body._tag === "Raw") return body.body instanceof Uint8Array ? body.body : undefined
  return body._tag === "Uint8Array" && body.contentLength > 0 ? body.body : undefined
}

/** The reply with other bytes. It keeps its own headers. If it has no content-length, the body is sent in chunks. */
export const withBytes = (reply: Reply, bytes: Uint8Array): Reply => {
  const { "content-length": length, "content-type": contentType = "" } = reply.headers
  const hasType = contentType !== ""
  const body =
    length === undefined ? HttpBody.raw(bytes, hasType ? { contentType } : {}) : HttpBody.uint8Array(bytes, contentType)
  const replaced = HttpServerResponse.setBody(reply, body)
  return hasType ? replaced : HttpServerResponse.removeHeader(replaced, "content-type")
}

/** The reply without a header, even if the body would set that header. */
export const withoutHeader = (reply: Reply, name: string): Reply => {
  const bytes = bytesOf(reply)
  const { [name]: _, ...headers } = reply.headers
  const bare = HttpServerResponse.empty({ status: reply.status, headers })
  return bytes === undefined ? bare : withBytes(bare, bytes)
}
