/**
 * A fault that replaces the service's reply by an answer with any status, and optionally with a message, errors, a body and
 * headers. It can imitate every failure that was ever documented or observed.
 */
import { fail, succeed } from "@berthkit/core/api/Envelope"
import { Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { integer } from "../faults/Fault.ts"
import type { Reply } from "../http/Exchange.ts"
import { failureSentence, faultKind, flag, retryAfter } from "./FaultKind.ts"

const maxSentence = 1_000
const maxFields = 100
const maxSentencesOfField = 20
const maxBodyBytes = 65_536
/**
 * The maximum depth of a fault's body. It is half the depth that a request to the control plane may have, because the fault is nested a few
 * levels deeper in a snapshot.
 */
const maxBodyLevels = 32
const maxHeaders = 32
const maxHeaderBytes = 8_192

const Sentence = Schema.String.check(Schema.isMaxLength(maxSentence))

const Errors = Schema.Record(
  Schema.String,
  Schema.Union([Sentence, Schema.Array(Sentence).check(Schema.isMaxLength(maxSentencesOfField))])
).check(
  Schema.makeFilter((errors) => Object.keys(errors).length <= maxFields || `Expected at most ${maxFields} fields`)
)

const Body = Schema.Json.check(
  Schema.makeFilter(
    (body) =>
      Buffer.byteLength(typeof body === "string" ? body : JSON.stringify(body)) <= maxBodyBytes ||
      `Expected at most ${maxBodyBytes} bytes`
  ),
  Schema.makeFilter(
    (body) => isWithin(body, maxBodyLevels) || `Expected at most ${maxBodyLevels} levels of arrays and objects`
  )
)

const isWithin = (value: unknown, levels: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((part) => isWithin(part, levels - 1)))

/** Headers that decide where a reply ends. Only the server may set them. */
const framing = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

/** The sentence that says what is wrong with a header; undefined if the header is valid. */
const headerProblem = (name: string, value: string, names: ReadonlyArray<string>): string | undefined => {
  const lower = name.toLowerCase()
  if (!/^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name)) return "Expected the name of a header"
  if (framing.has(lower))
    return "Expected another header: the server itself sets this one, which decides where a reply ends"
  if (names.filter((other) => other.toLowerCase() === lower).length > 1) return "Expected the header only once"
  return /^[\t -~]*$/.test(value) ? undefined : "Expected visible ASCII characters, spaces and tabs"
}

const Headers = Schema.Record(Schema.String, Schema.String).check(
  Schema.makeFilter((headers) => {
    const names = Object.keys(headers)
    const bytes = Object.entries(headers).reduce((total, [name, value]) => total + name.length + value.length, 0)
    if (names.length > maxHeaders) return `Expected at most ${maxHeaders} headers`
    if (bytes > maxHeaderBytes) return `Expected at most ${maxHeaderBytes} bytes`
    return names.flatMap((name) => {
      const issue = headerProblem(name, headers[name]!, names)
      return issue === undefined ? [] : [{ path: [name], issue }]
    })
  })
)

/** Statuses of replies without a body. */
const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304

export const status = faultKind({
  name: "status",
  summary: "Replies with a status instead of processing the request.",
  options: {
    status: integer(200, 599, "200 to 599; default 503."),
    envelope: flag("Whether the body is the envelope or empty; default true, the envelope."),
    message: Schema.optionalKey(Sentence).annotate({ description: "The message of the envelope." }),
    errors: Schema.optionalKey(Errors).annotate({
      description: "The errors of the envelope: sentences by field, one or a list."
    }),
    body: Schema.optionalKey(Body).annotate({
      description: `The body in place of the envelope: a text as it is, any other JSON as JSON; up to ${maxBodyBytes} bytes.`
    }),
    headers: Schema.optionalKey(Headers).annotate({
      description: "Headers by name; they replace or extend those that every reply has."
    }),
    retryAfter: retryAfter("Seconds in retry-after; default none.")
  },
  check: ({ body, envelope, errors, headers = {}, message, retryAfter, status = 503 }) => {
    const at = (option: string, issue: string) => [{ path: option.split("."), issue }]
    const given = Object.entries({ body, errors, message }).find(([, value]) => value !== undefined)?.[0]
    if (given !== undefined && hasNoBody(status)) return at(given, `A reply of status ${status} has no body`)
    if (body !== undefined && given !== undefined && (message ?? errors ?? envelope) !== undefined) {
      return at("body", "A body replaces the envelope: leave out message, errors and envelope")
    }
    if (envelope === false && given !== undefined)
      return at(given, "It belongs into the envelope, which is switched off")
    const name = Object.keys(headers).find((name) => name.toLowerCase() === "retry-after")
    return retryAfter !== undefined && name !== undefined ? at(`headers.${name}`, "It is given as retryAfter too") : []
  },
  steps: ({ fault: { body, envelope = true, errors, headers, message, retryAfter, status = 503 } }) => ({
    instead: () => {
      const own = { ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }), ...headers }
      const honest = status < 300 ? succeed({}) : fail(status, message ?? failureSentence)
      const shown = { ...honest, message: message ?? honest.message, errors: errors ?? honest.errors }
      const reply: Reply =
        typeof body === "string"
          ? HttpServerResponse.text(body, { status })
          : body !== undefined
            ? HttpServerResponse.jsonUnsafe(body, { status })
            : envelope && !hasNoBody(status)
              ? HttpServerResponse.jsonUnsafe(shown, { status })
              : HttpServerResponse.empty({ status })
      return { _tag: "Answer", reply: HttpServerResponse.setHeaders(reply, own) }
    }
  })
})
