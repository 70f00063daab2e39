/**
 * The examples of the OpenAPI description are what the service answers: the requests are made from the description.
 */
import description from "@berth/core/openapi.json" with { type: "json" }
import { expect, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestServer } from "../../src/testing.ts"
import { exchange } from "../transport/rawSocket.ts"
import { call, type CallOptions, nodeOf, prefix, type Reply } from "./service.ts"

interface Media {
  readonly content: { readonly "application/json": { readonly example: unknown } }
}

interface Operation {
  readonly operationId: string
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly example: string | number }>
  readonly requestBody?: Media
  readonly responses: Record<string, Partial<Media>>
}

const operations = Object.entries<Record<string, unknown>>(description.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, ...(operation as Operation) }))
)

/** The operation with its examples as the request. */
const callExample = (operationId: string) => {
  const { method, parameters, path, requestBody } = operations.find((each) => each.operationId === operationId)!
  const place = (wanted: string) => parameters.filter((parameter) => parameter.in === wanted)
  const filled = place("path").reduce((path, { example, name }) => path.replace(`{${name}}`, String(example)), path)
  return call(method.toUpperCase(), filled.slice(prefix.length), {
    query: Object.fromEntries(place("query").map(({ example, name }) => [name, example])),
    ...(requestBody !== undefined && { body: requestBody.content["application/json"].example })
  })
}

const compared = new Set<string>()

const expectExample = (operationId: string, status: number, reply: Reply) => {
  compared.add(operationId)
  const { responses } = operations.find((each) => each.operationId === operationId)!
  expect([reply.status, reply.json]).toEqual([status, responses[status]!.content!["application/json"].example])
}

const failures: Record<string, Media> = description.components.responses

const expectFailureExample = (status: number, got: { readonly status: number; readonly json: unknown }) =>
  expect([got.status, got.json]).toEqual([status, failures[`Failure${status}`]!.content["application/json"].example])

const other = { apiKey: Redacted.make("other-key"), accessToken: Redacted.make("other-token") }
const main = { apiKey: Redacted.make("berth-key"), accessToken: Redacted.make("berth-token") }

layer(TestServer.layer({ deleteStyle: "enveloped", accounts: [main, other] }))(
  "the examples of the description",
  (it) => {
    it.effect("every operation answers its example with the example of its reply", () =>
      Effect.gen(function* () {
        const server = yield* TestServer
        for (const [operationId, status] of [
          ["nodes.create", 202],
          ["nodes.get", 200],
          ["nodes.list", 200],
          ["images.list", 200],
          ["commitments.set", 200]
        ] as const) {
          expectExample(operationId, status, yield* callExample(operationId))
        }
        const [node] = (yield* call("GET", "/nodes/")).json.data
        yield* server.control.savedImages.add({
          params: { world: server.id },
          payload: { name: "web-base", nodeId: node.id }
        })
        expectExample("images.saved", 200, yield* callExample("images.saved"))
        yield* server.control.nodes.change({
          params: { world: server.id, id: node.id },
          payload: { locked: true }
        })
        expectFailureExample(409, yield* callExample("nodes.delete"))
        yield* server.control.nodes.change({
          params: { world: server.id, id: node.id },
          payload: { locked: false }
        })
        expectExample("nodes.delete", 200, yield* callExample("nodes.delete"))
        expect(compared).toEqual(new Set(operations.map(({ operationId }) => operationId)))
      })
    )

    it.effect("every failure that a request can bring about is the example of its status", () =>
      Effect.gen(function* () {
        const requests: ReadonlyArray<readonly [number, string, string, CallOptions?]> = [
          [400, "GET", "/nodes/", { query: { page_no: "two" } }],
          [401, "GET", "/nodes/", { token: null }],
          [403, "GET", "/nodes/", { token: "other-token" }],
          [404, "GET", "/nodes/97899/"],
          [405, "PUT", "/nodes/97898/"],
          [413, "POST", "/nodes/", { raw: " ".repeat(1024 * 1024 + 1) }],
          [414, "GET", `/nodes/?${"x".repeat(8192)}`],
          [415, "POST", "/nodes/", { raw: "{}", headers: { "content-type": "text/plain" } }],
          [422, "POST", "/nodes/", { body: { ...nodeOf(" "), backups: "yes" } }],
          [431, "GET", "/nodes/", { headers: { "x-long": "x".repeat(16 * 1024) } }]
        ]
        for (const [status, method, path, options] of requests) {
          expectFailureExample(status, yield* call(method, path, options))
        }
      })
    )
  }
)

it.effect("the reply to a request that does not arrive is the example of 408", () =>
  Effect.gen(function* () {
    const { baseUrl } = yield* TestServer
    const [reply] = (yield* exchange(baseUrl, ["GET / HTTP/1.1\r\nHost"])).replies
    expectFailureExample(408, { status: reply!.status, json: JSON.parse(reply!.body) })
  }).pipe(Effect.provide(TestServer.layer({ timeouts: { headersMillis: 200 } })))
)

it.effect("the reply over the allowance is the example of 429, but for the allowance", () =>
  Effect.gen(function* () {
    yield* call("GET", "/nodes/")
    const { status, text } = yield* call("GET", "/nodes/")
    expectFailureExample(429, { status, json: JSON.parse(text.replaceAll("of 1 requests", "of 1200 requests")) })
  }).pipe(Effect.provide(TestServer.layer({ rateLimit: { limit: 1 } })))
)
