/** Failed replies of today's dialect: the reason is in `errors`, and `message` is a fixed phrase. */
import { Predicate } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import type { Reply } from "../http/Exchange.ts"
import { bytesOf } from "../transport/replyBytes.ts"
import type { Today } from "../world/Today.ts"

const phrases: Readonly<Record<number, string>> = {
  409: "Conflict",
  412: "Precondition Failed",
  413: "Payload Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable"
}

/** The reasons of a refusal: one string, or strings by field. */
type Reasons = string | Readonly<Record<string, ReadonlyArray<string>>>

const body = (code: number, errors: Reasons) => ({ code, data: {}, errors, message: phrases[code] ?? "Error" })

/** The reply to a refused call. With `failuresWith200` its status is 200, and only the body shows the failure. */
export const refusal = ({ failuresWith200 }: Today, code: number, errors: Reasons): Reply =>
  HttpServerResponse.jsonUnsafe(body(code, errors), { status: failuresWith200 ? 200 : code })

/** The reply if a node does not exist, or is at another place. */
export const noNode = ({ failuresWith200 }: Today): Reply =>
  failuresWith200
    ? HttpServerResponse.jsonUnsafe(body(404, "Node not found"))
    : HttpServerResponse.jsonUnsafe({ detail: "Not found." }, { status: 404 })

/** The reply for a page after the end of a list, as a common web framework answers it. */
export const noPage = ({ failuresWith200 }: Today): Reply =>
  failuresWith200
    ? HttpServerResponse.jsonUnsafe(body(404, "Invalid page."))
    : HttpServerResponse.jsonUnsafe({ detail: "Invalid page." }, { status: 404 })

const details: Readonly<Record<number, string>> = { 404: "Not found.", 405: "Method not allowed." }

/** The `detail` of a failure with this status; undefined if failures with this status have their reason in `errors`. */
const detailOf = (status: number, errors: Readonly<Record<string, unknown>>, message: string): string | undefined => {
  if (status === 401) {
    return /missing/.test(JSON.stringify(errors))
      ? "Authentication credentials were not provided."
      : "Invalid authentication credentials."
  }
  return status === 403 ? message : details[status]
}

const utf8 = new TextDecoder()

/** Parses the mock's failure envelope, as `Envelope.fail` writes it; undefined if the body is anything else. */
const failureIn = (reply: Reply) => {
  if (!/json/.test(reply.headers["content-type"] ?? "")) return undefined
  const bytes = bytesOf(reply)
  if (bytes === undefined || bytes.length > 1_000_000) return undefined
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    return undefined
  }
  if (!Predicate.isObject(value) || !("code" in value) || value.code !== reply.status) return undefined
  const { errors, message } = value as { readonly errors?: unknown; readonly message?: unknown }
  return typeof message === "string" && Predicate.isObject(errors)
    ? { message, errors: errors as Readonly<Record<string, ReadonlyArray<string>>> }
    : undefined
}

/** Rewrites a failure from the mock's envelope into today's form. A body that a fault has written has another form, and is not changed. */
export const asToday = (reply: Reply): Reply => {
  const failure = failureIn(reply)
  if (failure === undefined) return reply
  const { errors, message } = failure
  const detail = detailOf(reply.status, errors, message)
  const isWhole = Object.keys(errors).length === 0 || "detail" in errors
  const said = detail === undefined ? body(reply.status, isWhole ? message : errors) : { detail }
  return HttpServerResponse.setBody(reply, HttpBody.jsonUnsafe(said))
}
