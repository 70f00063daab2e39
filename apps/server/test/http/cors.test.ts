import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readOrigin } from "../../src/http/cors.ts"
import { TestServer } from "../../src/testing.ts"
import { control } from "../control/plane.ts"
import { exchange } from "../transport/rawSocket.ts"
import { call, type CallOptions, nodeOf, prefix, type Reply, send } from "./service.ts"

const page = "http://localhost:5173"
const other = "http://evil.test"

const from = (origin: string, options: CallOptions = {}): CallOptions => ({
  ...options,
  headers: { origin, ...options.headers }
})

const corsHeaders = ({ headers }: Reply) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-")))

const preflight = (origin: string, path = "/nodes/", headers: Readonly<Record<string, string>> = {}) =>
  call("OPTIONS", path, {
    key: null,
    token: null,
    headers: { origin, "access-control-request-method": "POST", ...headers }
  })

const allowed = { "access-control-allow-origin": page, "access-control-expose-headers": expect.any(String) }

layer(TestServer.layer({ cors: [page, "https://app.test"], rateLimit: { limit: 50 } }))(
  "an origin that is allowed",
  (it) => {
    it.effect("may read every reply: successes, failures, faults", () =>
      Effect.gen(function* () {
        const world = yield* TestServer
        const created = yield* call("POST", "/nodes/", from(page, { body: nodeOf("web") }))
        const replies: Record<number, Reply> = {
          200: yield* call("GET", "/nodes/", from(page)),
          202: created,
          204: yield* call("DELETE", `/nodes/${created.json.data.id}/`, from(page)),
          400: yield* call("POST", "/nodes/", from(page, { raw: "{" })),
          401: yield* call("GET", "/nodes/", from(page, { token: null })),
          404: yield* call("GET", "/nope/", from(page)),
          405: yield* call("PUT", "/nodes/", from(page)),
          414: yield* call("GET", "/nodes/", from(page, { query: { a: "a".repeat(9_000) } }))
        }
        yield* world.arm([{ fault: "rate-limited-bare" }])
        replies[429] = yield* call("GET", "/nodes/", from(page))
        yield* world.arm([{ fault: "html-error" }, { fault: "headers-garbage" }])
        replies[502] = yield* call("GET", "/nodes/", from(page))
        yield* world.arm([])
        for (const [status, reply] of Object.entries(replies)) {
          expect([reply.status, corsHeaders(reply), reply.headers.get("vary")]).toEqual([
            Number(status),
            allowed,
            "origin"
          ])
        }
        for (const path of ["/docs", "/openapi.json"]) {
          expect(corsHeaders(yield* send(world.baseUrl + path, { headers: { origin: page } }))).toEqual(allowed)
        }
      })
    )

    it.effect("may read the headers that the interface has", () =>
      Effect.gen(function* () {
        const { headers } = yield* call("GET", "/nodes/", from(page))
        const exposed = headers.get("access-control-expose-headers")!.split(", ")
        for (const name of [
          "ratelimit-limit",
          "ratelimit-remaining",
          "ratelimit-reset",
          "retry-after",
          "location",
          "date"
        ]) {
          expect(exposed).toContain(name)
        }
      })
    )

    it.effect("gets its preflight answered, at no cost and outside the journal", () =>
      Effect.gen(function* () {
        const world = yield* TestServer
        const remaining = Effect.map(call("GET", "/nodes/"), ({ headers }) =>
          Number(headers.get("ratelimit-remaining"))
        )
        const journal = Effect.map(control("GET", "/worlds/default/requests"), ({ json }) => json.count as number)
        const [left, count] = [yield* remaining, yield* journal]
        yield* world.arm([{ fault: "hang" }])
        for (const path of ["/nodes/", "/nodes/1/", "/nope/"]) {
          const reply = yield* preflight(page, path, {
            "access-control-request-headers": "X-Trace, authorization,bad header"
          })
          expect([reply.status, reply.text, reply.headers.get("vary")]).toEqual([204, "", "origin"])
          expect(corsHeaders(reply)).toEqual({
            "access-control-allow-origin": page,
            "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
            "access-control-allow-headers": "authorization, content-type, x-api-key, x-csrftoken, x-trace",
            "access-control-max-age": "600"
          })
        }
        const near = yield* preflight(page, "/nodes/", { "access-control-request-private-network": "true" })
        expect(near.headers.get("access-control-allow-private-network")).toBe("true")
        yield* world.arm([])
        expect([yield* remaining, yield* journal]).toEqual([left - 1, count + 1])
      })
    )

    it.effect("may be any of the named ones", () =>
      Effect.gen(function* () {
        const reply = yield* call("GET", "/nodes/", from("https://app.test"))
        expect(reply.headers.get("access-control-allow-origin")).toBe("https://app.test")
      })
    )

    it.effect("has no effect on the control plane", () =>
      Effect.gen(function* () {
        const { baseUrl } = yield* TestServer
        for (const path of ["/_mock/health", "/_mock/worlds", "/_mock/"]) {
          const asked = { origin: page, "access-control-request-method": "GET" }
          expect(corsHeaders(yield* send(baseUrl + path, { headers: { origin: page } }))).toEqual({})
          expect(corsHeaders(yield* send(baseUrl + path, { method: "OPTIONS", headers: asked }))).toEqual({})
        }
      })
    )
  }
)

layer(TestServer.layer({ cors: [page, "https://app.test"], timeouts: { headersMillis: 200, requestMillis: 300 } }))(
  "a refusal of what the parser does not read",
  (it) => {
    it.effect.each([
      [400, "GET / HTTP/9.9\r\nHost: x\r\n", "\r\n"],
      [405, "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n", "\r\n"],
      [
        408,
        `POST ${prefix}/nodes/?apikey=berth-key HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer berth-token\r\nContent-Length: 9\r\n`,
        "\r\n{"
      ],
      [414, `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n`, "\r\n"],
      [431, "GET / HTTP/1.1\r\nHost: x\r\n", `A: ${"a".repeat(20_000)}\r\n\r\n`]
    ] as const)("can be read by an origin that is allowed, and by no other: %i", ([status, before, after]) =>
      Effect.gen(function* () {
        const { baseUrl } = yield* TestServer
        for (const [origin, allowed] of [
          [page, page],
          ["https://app.test", "https://app.test"],
          [other, undefined]
        ] as const) {
          const { replies } = yield* exchange(baseUrl, [`${before}Origin: ${origin}\r\n${after}`], { enough: 1 })
          expect(
            replies.map(({ headers, status }) => [status, headers["access-control-allow-origin"], headers["vary"]])
          ).toEqual([[status, allowed, "origin"]])
        }
      })
    )
  }
)

layer(TestServer.layer({ cors: [page] }))("an origin that is not allowed", (it) => {
  it.effect.each([other, "null", "http://localhost:51730", "HTTP://LOCALHOST:5173", "http://localhost:5173/"])(
    "gets no header that lets it read: %s",
    (origin) =>
      Effect.gen(function* () {
        const replies = [
          yield* call("GET", "/nodes/", from(origin)),
          yield* preflight(origin),
          yield* call("GET", "/nodes/")
        ]
        for (const reply of replies) expect([corsHeaders(reply), reply.headers.get("vary")]).toEqual([{}, "origin"])
      })
  )
})

layer(TestServer.layer({ cors: ["*"] }))("every origin", (it) => {
  it.effect("may read every reply, one to input that was no request included", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      for (const reply of [
        yield* call("GET", "/nodes/", from(other)),
        yield* call("GET", "/nodes/"),
        yield* preflight(other)
      ]) {
        expect([reply.headers.get("access-control-allow-origin"), reply.headers.get("vary")]).toEqual(["*", null])
      }
      const long = `GET ${prefix}/nodes/ HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(20_000)}\r\n\r\n`
      const { replies } = yield* exchange(baseUrl, [long], { enough: 1 })
      expect(replies.map(({ headers, status }) => [status, headers["access-control-allow-origin"]])).toEqual([
        [431, "*"]
      ])
    })
  )

  it.effect("meets the headers of a status fault as they are given", () =>
    Effect.gen(function* () {
      const world = yield* TestServer
      yield* world.arm([{ fault: "status", headers: { "access-control-allow-origin": "http://a.test" } }])
      const reply = yield* call("GET", "/nodes/", from(other))
      expect(reply.headers.get("access-control-allow-origin")).toBe("http://a.test")
    })
  )
})

layer(TestServer.layer())("without origins", (it) => {
  it.effect("no reply has a header about them", () =>
    Effect.gen(function* () {
      for (const reply of [yield* call("GET", "/nodes/", from(page)), yield* preflight(page)]) {
        expect([corsHeaders(reply), reply.headers.get("vary")]).toEqual([{}, null])
      }
    })
  )
})

describe("an origin as text", () => {
  it.each([
    "*",
    "http://localhost:5173",
    "https://app.test",
    "http://127.0.0.1",
    "http://[::1]:3000",
    "chrome-extension://abc"
  ])("%s is one", (text) => expect(readOrigin(text)).toBe(text))

  it.each([
    "",
    "localhost",
    "http://",
    "http://a/",
    "http://a/b",
    "http://a?b",
    "http://A",
    "http://a:80",
    "http://u@a",
    "null",
    "a b",
    "**"
  ])("%j is none", (text) => expect(readOrigin(text)).toBeUndefined())
})
