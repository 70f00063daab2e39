/**
 * Reads the JSON body of a request. Fails with 415 if the media type or encoding is another one, with 413 if the body is too
 * large, and with 400 if it is not JSON (assumption A4 in docs/interface/assumptions.md).
 */
import { Effect, Result } from "effect"
import * as ByteSize from "effect/ByteSize"
import { type Headers, HttpIncomingMessage, type HttpServerError, type HttpServerRequest } from "effect/http"
import { fail, type Failure } from "@berthkit/core/api/Envelope"
import { isJson } from "@berthkit/web/guard"
import { maxBodyBytes } from "./limits.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true })

export const bodyTooLarge = (maxBytes: number) => fail(413, `The body is larger than ${maxBytes} bytes.`)
const notJson = fail(415, "The body must be JSON: content-type application/json.")
const encoded = fail(415, "The body must not be encoded: leave content-encoding out.")
const malformed = fail(400, "The body is not well-formed JSON.")
const interrupted = fail(400, "The body ended before it was complete.")

const isPlain = (contentEncoding: string | undefined): boolean =>
  contentEncoding === undefined || /^\s*(identity\s*)?$/i.test(contentEncoding)

/**
 * Whether a body counts as JSON. A body without a media type does, because many programs send none, unless it comes
 * from a web page: a browser lets any page send such a body to any server, without asking that server first (Fetch,
 * CORS-safelisted).
 */
const isTakenForJson = ({ "content-type": type, origin, "sec-fetch-site": site }: Headers.Headers): boolean =>
  type === undefined ? origin === undefined && site === undefined : isJson(type)

/** Why the server does not read a body of this type or encoding; undefined if it does. */
const refuseMediaType = ({ headers }: HttpServerRequest.HttpServerRequest): Failure<415> | undefined =>
  !isTakenForJson(headers) ? notJson : !isPlain(headers["content-encoding"]) ? encoded : undefined

type Unreadable = Failure<400> | Failure<413> | Failure<415>

const readBytes = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
): Effect.Effect<ArrayBuffer, Unreadable> => {
  const refused = refuseMediaType(request)
  if (refused !== undefined) return Effect.fail(refused)
  return request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
    Effect.mapError(({ reason }: HttpServerError.HttpServerError) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge" ? bodyTooLarge(maxBytes) : interrupted
    )
  )
}

const parse = (
  body: ArrayBuffer
): Result.Result<{ readonly json: string; readonly value: unknown }, typeof malformed> =>
  Result.try({
    try: () => {
      const json = utf8.decode(body)
      return { json, value: JSON.parse(json) as unknown }
    },
    catch: () => malformed
  })

/** Reads and parses a body of up to 1 MiB. `onBytes` receives the bytes before they are parsed. */
export const readJson = (
  request: HttpServerRequest.HttpServerRequest,
  onBytes: (bytes: Uint8Array) => void
): Effect.Effect<unknown, Unreadable> =>
  Effect.flatMap(readBytes(request, maxBodyBytes), (body) => {
    onBytes(new Uint8Array(body))
    return Effect.fromResult(Result.map(parse(body), ({ value }) => value))
  })

/**
 * The same for the control plane, but stricter: it also refuses repeated keys, and bodies that would take long to check,
 * with 422.
 */
export const readStrictJson = (
  request: HttpServerRequest.HttpServerRequest,
  {
    maxBytes = maxBodyBytes,
    maxValues,
    whenEmpty
  }: {
    /** Maximum size in bytes. Default: 1 MiB. */
    readonly maxBytes?: number
    /** Maximum number of values. Default: 20 000. */
    readonly maxValues?: number
    /** Replaces a missing body. */
    readonly whenEmpty?: unknown
  } = {}
): Effect.Effect<unknown, Unreadable | Failure<422>> =>
  Effect.flatMap(readBytes(request, maxBytes), (body): Effect.Effect<unknown, Failure<400> | Failure<422>> => {
    if (body.byteLength === 0 && whenEmpty !== undefined) return Effect.succeed(whenEmpty)
    const parsed = parse(body)
    if (Result.isFailure(parsed)) return Effect.fail(parsed.failure)
    const problem = jsonProblem(parsed.success.json, maxValues)
    if (problem === undefined) return Effect.succeed(parsed.success.value)
    const { path, sentence } = problem
    return Effect.fail(
      path === "" ? fail(422, sentence) : fail(422, `The field ${path} is not valid.`, { [path]: [sentence] })
    )
  })

/** Maximum depth of nested arrays and objects. */
export const maxDepth = 64

/** Maximum number of values in the body of a request, unless the body is a snapshot. */
export const maxValues = 20_000

/** Maximum number of values in a snapshot: twice as many as the largest snapshot has. */
export const maxSnapshotValues = 2_000_000

/** Maximum number of fields of one object. It is limited because the schema's decoder reports each unknown field. */
export const maxFields = 1000

/** Matches strings and structural characters. Nothing else in well-formed JSON matters here. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g

interface Open {
  /** The keys of an object so far; `undefined` for an array. */
  readonly keys: Set<string> | undefined
  at: string | number
}

interface JsonProblem {
  /** The place of the problem, such as `nodes.3.id`; empty if the problem is the text as a whole. */
  readonly path: string
  readonly sentence: string
}

/**
 * The first problem of a string that `JSON.parse` accepts but the control plane does not. Too many levels or values would slow
 * down every later step. If a key is repeated, `JSON.parse` would keep only the last value.
 */
export const jsonProblem = (json: string, most = maxValues): JsonProblem | undefined => {
  const open: Array<Open> = []
  let values = 0
  let latest = ""
  const costly = (sentence: string): JsonProblem => ({
    path: open[0]?.keys === undefined ? "" : `${open[0].at}`,
    sentence
  })
  for (const [token] of json.matchAll(tokens)) {
    const here = open.at(-1)
    switch (token) {
      case "{":
      case "[":
        if (open.length === maxDepth) return costly(`Expected at most ${maxDepth} levels of arrays and objects.`)
        if (++values > most) return costly(`Expected at most ${most} values.`)
        open.push(token === "{" ? { keys: new Set(), at: "" } : { keys: undefined, at: 0 })
        break
      case "}":
      case "]":
        open.pop()
        break
      case ",":
        if (++values > most) return costly(`Expected at most ${most} values.`)
        if (typeof here?.at === "number") here.at += 1
        break
      case ":": {
        const { keys } = here!
        here!.at = String(JSON.parse(latest))
        if (keys!.has(here!.at))
          return { path: open.map(({ at }) => at).join("."), sentence: "The field is given twice." }
        if (keys!.size === maxFields) return costly(`Expected at most ${maxFields} fields in an object.`)
        keys!.add(here!.at)
        break
      }
      default:
        latest = token
    }
  }
  return undefined
}
