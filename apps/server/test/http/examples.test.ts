/** The examples of the OpenAPI description equal the service's replies. */
import { readFileSync } from "node:fs"
import description from "@berthkit/core/openapi.json" with { type: "json" }
import { expect, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { exampleReplies, file } from "../../scripts/exampleReplies.ts"
import { TestServer } from "../../src/testing.ts"
import { exchange } from "../transport/rawSocket.ts"
import { call, type CallOptions, nodeOf } from "./service.ts"

interface Media {
  readonly content: { readonly "application/json": { readonly example: unknown } }
}

it.effect("the replies are those of the mock (`pnpm example-replies` prints them)", () =>
  Effect.gen(function* () {
    expect(readFileSync(file, "utf8")).toBe(yield* exampleReplies)
  })
)

it("every operation has an example of its reply", () => {
  const operations = Object.values(description.paths).flatMap((item) => Object.values(item))
  expect(new Set(Object.keys(JSON.parse(readFileSync(file, "utf8"))))).toEqual(
    new Set(operations.map(({ operationId }) => operationId))
  )
})

const failures: Record<string, Media> = description.components.responses

const expectFailureExample = (status: number, got: { readonly status: number; readonly json: unknown }) =>
  expect([got.status, got.json]).toEqual([status, failures[`Failure${status}`]!.content["application/json"].example])

const other = { apiKey: Redacted.make("other-key"), accessToken: Redacted.make("other-token") }
const main = { apiKey: Redacted.make("berth-key"), accessToken: Redacted.make("berth-token") }

layer(TestServer.layer({ accounts: [main, other] }))("the examples of the description", (it) => {
  it.effect("every failure that a request can bring about is the example of its status", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const { id } = (yield* call("POST", "/nodes/", { body: nodeOf("web") })).json.data
      yield* server.control.nodes.change({ params: { world: server.id, id }, payload: { locked: true } })
      const requests: ReadonlyArray<readonly [number, string, string, CallOptions?]> = [
        [400, "GET", "/nodes/", { query: { page_no: "two" } }],
        [401, "GET", "/nodes/", { token: null }],
        [403, "GET", "/nodes/", { token: "other-token" }],
        [404, "GET", "/nodes/97899/"],
        [405, "PUT", "/nodes/97898/"],
        [409, "DELETE", `/nodes/${id}/`],
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
})

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
