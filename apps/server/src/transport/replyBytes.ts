/**
 * The bytes of a reply on its way out. A body without a length, or without a type, stays without: Effect gives a reply the
 * headers of its body again whenever another header is set.
 */
import { HttpBody, HttpServerResponse } from "effect/http"

type Reply = HttpServerResponse.HttpServerResponse

/** The bytes of a body; `undefined` where there is none, or none that is known whole. */
export const bytesOf = ({ body, status }: Reply): Uint8Array | undefined => {
  if (status === 204 || status === 304) return undefined
  if (body._tag === "Raw") return body.body instanceof Uint8Array ? body.body : undefined
  return body._tag === "Uint8Array" && body.contentLength > 0 ? body.body : undefined
}

/** The reply with other bytes and the headers it has. Where it has no content-length it comes in chunks. */
export const withBytes = (reply: Reply, bytes: Uint8Array): Reply => {
  const { "content-length": length, "content-type": contentType = "" } = reply.headers
  const hasType = contentType !== ""
  const body =
    length === undefined ? HttpBody.raw(bytes, hasType ? { contentType } : {}) : HttpBody.uint8Array(bytes, contentType)
  const replaced = HttpServerResponse.setBody(reply, body)
  return hasType ? replaced : HttpServerResponse.removeHeader(replaced, "content-type")
}

/** The reply without a header, also where its body would give it one. */
export const withoutHeader = (reply: Reply, name: string): Reply => {
  const bytes = bytesOf(reply)
  const { [name]: _, ...headers } = reply.headers
  const bare = HttpServerResponse.empty({ status: reply.status, headers })
  return bytes === undefined ? bare : withBytes(bare, bytes)
}
