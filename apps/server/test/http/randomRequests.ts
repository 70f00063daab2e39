/**
 * Unlikely requests: some from the API's own schemas with small changes, others changed beyond recognition. The same seed gives the same
 * requests.
 */
import { BerthApi } from "@berthkit/core/api/BerthApi"
import { CommitmentUpdate } from "@berthkit/core/api/CommitmentsGroup"
import { NodeCreation } from "@berthkit/core/api/NodeRecords"
import { Arbitrary, Effect, Schema } from "effect"
import fc from "fast-check"
import { nodeOf, prefix } from "./service.ts"

/** Bytes to send, in pieces, and the number of replies that they certainly get; `null` if that is uncertain. */
export interface RandomRequest {
  readonly pieces: ReadonlyArray<Buffer>
  readonly replies: number | null
  readonly headReplies: ReadonlyArray<number>
}

interface Wellformed {
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly body: Buffer
  readonly chunks: ReadonlyArray<number> | null
}

const methods = ["GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH", "TRACE", "PROPFIND", "SEARCH", "LOCK"]

const endpoints = Object.values(BerthApi.groups).flatMap((group) =>
  Object.values(group.endpoints).map(({ method, path }) => ({ method: String(method), path: String(path) }))
)

/** A sample of bodies that the schemas allow. */
const bodiesOf = <S extends Schema.Top>(schema: S, seed: number) =>
  Effect.map(Arbitrary.sampleEffect(Arbitrary.schema(Schema.toEncoded(schema)), { count: 100, seed }), (bodies) =>
    fc.constantFrom<unknown>(...bodies)
  )

const visible = fc.string({ unit: "grapheme-ascii", maxLength: 20 })
const headerValue = visible.map((text) => text.trim())

const target = (ids: ReadonlyArray<number>): fc.Arbitrary<string> => {
  const id = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...ids).map(String) },
    fc.integer().map(String),
    fc.constantFrom("0", "-0", "1e3", "NaN", "null", "%", "%00", "%zz", "%2F", "..", "%2e%2e", "9".repeat(400), "１")
  )
  const path = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.tuple(fc.constantFrom(...endpoints), id).map(([{ path }, value]) => path.replace(":node_id", value))
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "/",
        "*",
        "//",
        `${prefix}//nodes/`,
        "/openapi.json",
        "/nope",
        `${prefix}/nodes`,
        "/%",
        "/;a=b"
      )
    },
    { weight: 1, arbitrary: fc.webPath().map((path) => `/${path.slice(1)}`) }
  )
  const value = fc.oneof(
    fc.integer().map(String),
    visible.map(encodeURIComponent),
    fc.constantFrom("", "%", "%zz", "1.5", "public", "Ubuntu", "true")
  )
  const name = fc.constantFrom(
    "page_no",
    "page",
    "per_page",
    "cpu",
    "ram",
    "series",
    "os",
    "version",
    "image_type",
    "x",
    "apikey",
    "__proto__",
    "%"
  )
  const query = fc.array(fc.tuple(name, value), { maxLength: 4 })
  const key = fc.oneof(
    { weight: 9, arbitrary: fc.constant("apikey=berth-key") },
    fc.constantFrom("", "apikey=", "apikey=wrong", "apikey")
  )
  return fc
    .tuple(path, key, query)
    .map(([p, k, q]) => encodeLine(`${p}?${[k, ...q.map(([n, v]) => `${n}=${v}`)].join("&")}`))
}

/** A request line consists of visible ASCII; the parser refuses anything else before it knows the method. */
const encodeLine = (text: string): string => text.replace(/[^!-~]/gu, encodeURIComponent)

const headers: fc.Arbitrary<ReadonlyArray<readonly [string, string]>> = fc
  .tuple(
    fc.oneof(
      { weight: 9, arbitrary: fc.constant("Bearer berth-token") },
      fc.constantFrom("", "Bearer", "Bearer wrong", "Basic YTpi")
    ),
    fc.oneof(
      { weight: 6, arbitrary: fc.constant("application/json") },
      fc.constantFrom(
        "",
        "text/plain",
        "application/json; charset=utf-16",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "*/*",
        ";"
      )
    ),
    fc.array(
      fc.oneof(
        fc.tuple(
          fc.constantFrom(
            "x-api-key",
            "cookie",
            "x-csrftoken",
            "accept",
            "accept-encoding",
            "if-none-match",
            "range",
            "origin"
          ),
          headerValue
        ),
        fc.tuple(
          fc.constantFrom(
            "content-encoding",
            "expect",
            "upgrade",
            "connection",
            "te",
            "x-forwarded-for",
            "x-http-method-override"
          ),
          fc.constantFrom(
            "gzip",
            "identity",
            "br",
            "100-continue",
            "websocket",
            "keep-alive",
            "trailers",
            "127.0.0.1",
            "DELETE",
            ""
          )
        )
      ),
      { maxLength: 3 }
    )
  )
  .map(([authorization, contentType, others]) => [
    ["host", "x"],
    ["authorization", authorization],
    ["content-type", contentType],
    ...others
      .filter(([name, value]) => !(name === "connection" && value === ""))
      .map(([name, value]) => [name, value] as const)
  ])

const requests = (
  ids: ReadonlyArray<number>,
  fromSchemas: ReadonlyArray<fc.Arbitrary<unknown>>
): fc.Arbitrary<Wellformed> => {
  const body = fc.oneof(
    { weight: 4, arbitrary: fc.oneof(...fromSchemas).map((value) => JSON.stringify(value)) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom(...Object.keys(NodeCreation.fields)), fc.jsonValue())
        .map(([field, value]) => JSON.stringify({ ...nodeOf("random"), [field]: value }))
    },
    {
      weight: 2,
      arbitrary: fc
        .record({
          vcn_id: fc.constantFrom(...ids),
          node_status: fc.constantFrom("auto_renew", "auto_terminate", "hourly_billing", "x"),
          committed_plan: fc.constantFrom(0, 1, 500, null, undefined)
        })
        .map((value) => JSON.stringify(value))
    },
    { weight: 2, arbitrary: fc.constant(JSON.stringify(nodeOf("random"))) },
    { weight: 1, arbitrary: fc.json() },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "",
        "{",
        "[".repeat(5_000),
        '{"__proto__":1}',
        '"\\ud800"',
        "1e999",
        `"${"x".repeat(70_000)}"`
      )
    }
  )
  const bytes = fc.oneof(
    { weight: 9, arbitrary: body.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((array) => Buffer.from(array)) }
  )
  return fc.record({
    method: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...endpoints.map(({ method }) => method)) },
      fc.constantFrom(...methods)
    ),
    target: target(ids),
    headers,
    body: bytes,
    chunks: fc.option(fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 5 }), { freq: 3 })
  })
}

const chunked = (body: Buffer, sizes: ReadonlyArray<number>): Buffer => {
  const pieces: Array<Buffer> = []
  for (let at = 0, index = 0; at < body.length; index++) {
    const piece = body.subarray(at, at + sizes[index % sizes.length]!)
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"))
    at += piece.length
  }
  return Buffer.concat([...pieces, Buffer.from("0\r\n\r\n")])
}

const toBytes = ({ body, chunks, headers, method, target }: Wellformed): Buffer => {
  const framing = chunks === null ? `content-length: ${body.length}` : "transfer-encoding: chunked"
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), framing]
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), chunks === null ? body : chunked(body, chunks)])
}

/** One to four requests in a row, written at once. */
const polite = (request: fc.Arbitrary<Wellformed>): fc.Arbitrary<RandomRequest> =>
  fc
    .oneof({ weight: 4, arbitrary: fc.tuple(request) }, fc.array(request, { minLength: 2, maxLength: 4 }))
    .map((inARow) => ({
      pieces: [Buffer.concat(inARow.map(toBytes))],
      replies: inARow.length,
      headReplies: inARow.flatMap(({ method }, index) => (method === "HEAD" ? [index] : []))
    }))

type Mutation = (bytes: Buffer) => Buffer

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(fc.nat(), fc.nat(255)).map(([at, byte]): Mutation => (bytes) => {
    const copy = Buffer.from(bytes)
    if (copy.length > 0) copy[at % copy.length] = byte
    return copy
  }),
  fc.nat().map(
    (at): Mutation =>
      (bytes) =>
        bytes.subarray(0, at % (bytes.length + 1))
  ),
  fc.nat().map(
    (at): Mutation =>
      (bytes) =>
        bytes.subarray(at % (bytes.length + 1))
  ),
  fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 40 })).map(([at, inserted]): Mutation => (bytes) => {
    const cut = at % (bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, cut), inserted, bytes.subarray(cut)])
  }),
  fc
    .constantFrom(
      "\r\n",
      "\n",
      "\0",
      " ",
      ":",
      "Content-Length: 5\r\n",
      "Transfer-Encoding: chunked\r\n",
      "Host: y\r\n"
    )
    .chain((text) =>
      fc.nat().map((at): Mutation => (bytes) => {
        const lineEnd = bytes.indexOf("\n", at % (bytes.length + 1)) + 1
        return Buffer.concat([bytes.subarray(0, lineEnd), Buffer.from(text), bytes.subarray(lineEnd)])
      })
    )
)

/** Requests that are damaged in up to three places, or random bytes, in pieces of any size. */
const rude = (request: fc.Arbitrary<Wellformed>): fc.Arbitrary<RandomRequest> =>
  fc
    .tuple(
      fc.oneof(
        {
          weight: 6,
          arbitrary: fc.tuple(
            request.filter(({ method }) => method !== "HEAD").map(toBytes),
            fc.array(mutation, { minLength: 1, maxLength: 3 })
          )
        },
        {
          weight: 1,
          arbitrary: fc.tuple(
            fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
            fc.constant([])
          )
        }
      ),
      fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 3 })
    )
    .map(([[bytes, damages], cuts]) => {
      const damaged = damages.reduce((sofar, hit) => hit(sofar), bytes)
      const pieces: Array<Buffer> = []
      let rest = damaged
      for (const cut of cuts) {
        pieces.push(rest.subarray(0, cut))
        rest = rest.subarray(cut)
      }
      return { pieces: [...pieces, rest].filter((piece) => piece.length > 0), replies: null, headReplies: [] }
    })

/** `count` exchanges for a service that has nodes of these `ids`. */
export const randomRequests = Effect.fnUntraced(function* (seed: number, count: number, ids: ReadonlyArray<number>) {
  const request = requests(ids, [yield* bodiesOf(NodeCreation, seed), yield* bodiesOf(CommitmentUpdate, seed)])
  return fc.sample(fc.oneof(polite(request), rude(request)), { seed, numRuns: count })
})
