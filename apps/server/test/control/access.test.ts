import { request as send } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestServer } from "../../src/testing.ts"
import { serve } from "../cli/berthServer.ts"
import { expectFailure } from "../http/service.ts"

interface Answer {
  readonly status: number
  readonly text: string
}

/** A request with headers that `fetch` would not send. */
const ask = (
  url: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string
) =>
  Effect.callback<Answer>((resume) => {
    const sent = send(url + path, { method, headers }, (reply) => {
      let text = ""
      reply.setEncoding("utf8")
      reply.on("data", (part: string) => (text += part))
      reply.on("end", () => {
        if (reply.statusCode! >= 400) expectFailure(reply.statusCode!, reply.headers["content-type"], JSON.parse(text))
        resume(Effect.succeed({ status: reply.statusCode!, text }))
      })
    })
    sent.end(body)
  })

const token = { authorization: "Bearer open-sesame" }
const json = { "content-type": "application/json" }

/** Every kind of request under the prefix, and what changes the world or shows it. */
const requests = [
  ["GET", "/_mock/worlds"],
  ["GET", "/_mock/health"],
  ["GET", "/_mock/openapi.json"],
  ["GET", "/_mock/nothing"],
  ["OPTIONS", "/_mock/worlds"],
  ["POST", "/_mock/worlds"],
  ["POST", "/_mock/worlds/default/reset"],
  ["DELETE", "/_mock/default/faults"],
  ["GET", "/_mock/events"]
] as const

describe("the control plane without a token", () => {
  it.effect("answers programs on this machine, and no request under another name or from another page", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const main = "/_mock/worlds/default"
      const { host, port } = new URL(baseUrl)
      for (const [method, path] of [...requests, ["GET", "/_mock/"] as const]) {
        for (const headers of [
          { host: `evil.test:${port}` },
          { origin: "http://evil.test" },
          { origin: "null" },
          { origin: `http://localhost:${Number(port) + 1}` },
          { "sec-fetch-site": "cross-site" },
          { "sec-fetch-site": "same-site" }
        ]) {
          const { status } = yield* ask(baseUrl, method, path, headers)
          expect([method, path, headers, status]).toEqual([method, path, headers, 403])
        }
      }
      for (const headers of [
        {},
        { origin: `http://${host}`, "sec-fetch-site": "same-origin" },
        { host: "localhost" }
      ]) {
        expect((yield* ask(baseUrl, "GET", main, headers)).status).toBe(200)
        expect((yield* ask(baseUrl, "POST", `${main}/reset`, headers)).status).toBe(200)
      }
      const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }
      expect((yield* ask(baseUrl, "GET", "/_mock/", link)).status).toBe(200)
      expect((yield* ask(baseUrl, "GET", "/_mock/worlds", link)).status).toBe(403)
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("accepts a body only as JSON, even if it needs none, and otherwise changes nothing", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const world = "/_mock/worlds/default"
      const before = yield* ask(baseUrl, "GET", `${world}/snapshot`)
      for (const [method, path, body] of [
        ["POST", "/_mock/worlds", "{}"],
        ["POST", `${world}/reset`, "x=y"],
        ["POST", `${world}/clock`, '{"advance":"1 hour"}'],
        ["PUT", `${world}/faults`, '[{"fault":"hang"}]'],
        ["DELETE", `${world}/requests`, "{}"],
        ["POST", "/_mock/nothing", "{}"]
      ] as const) {
        const length = { "content-length": String(body.length) }
        for (const type of [
          {},
          { "content-type": "text/plain" },
          { "content-type": "application/x-www-form-urlencoded" }
        ]) {
          expect((yield* ask(baseUrl, method, path, { ...length, ...type }, body)).status).toBe(415)
          expect((yield* ask(baseUrl, method, path, { "transfer-encoding": "chunked", ...type }, body)).status).toBe(
            415
          )
        }
      }
      for (const coding of ["gzip", "br"]) {
        const encoded = { ...json, "content-encoding": coding }
        expect((yield* ask(baseUrl, "POST", `${world}/clock`, encoded, '{"advance":"1 hour"}')).status).toBe(415)
        expect((yield* ask(baseUrl, "PUT", `${world}/snapshot`, encoded, before.text)).status).toBe(415)
      }
      expect(yield* ask(baseUrl, "GET", `${world}/snapshot`)).toEqual(before)
      expect((yield* ask(baseUrl, "POST", `${world}/clock`, json, '{"advance":"1 hour"}')).status).toBe(200)
      expect((yield* ask(baseUrl, "POST", `${world}/reset`)).status).toBe(200)
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("refuses a body on a route that reads none, because the body would have no effect", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const world = "/_mock/worlds/default"
      const before = yield* ask(baseUrl, "GET", `${world}/snapshot`)
      for (const [method, path] of [
        ["POST", `${world}/reset`],
        ["DELETE", `${world}/faults`],
        ["DELETE", `${world}/requests`],
        ["DELETE", "/_mock/worlds/w1"],
        ["GET", "/_mock/worlds"],
        ["GET", "/_mock/"],
        ["GET", "/_mock/openapi.json"]
      ] as const) {
        for (const length of [{ "content-length": "10" }, { "transfer-encoding": "chunked" }]) {
          expect(yield* ask(baseUrl, method, path, { ...json, ...length }, '{"seed":7}')).toMatchObject({
            status: 400,
            text: expect.stringContaining("This path takes no body.")
          })
        }
      }
      expect(yield* ask(baseUrl, "GET", `${world}/snapshot`)).toEqual(before)
      // An empty chunked body counts as no body.
      const chunks = { ...json, "transfer-encoding": "chunked" }
      expect((yield* ask(baseUrl, "POST", `${world}/reset`, chunks, "")).status).toBe(200)
      expect((yield* ask(baseUrl, "DELETE", `${world}/faults`, chunks, "")).status).toBe(204)
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("answers 204 with Allow to OPTIONS of its description, and 405 to methods that it does not have", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      expect((yield* ask(baseUrl, "OPTIONS", "/_mock/openapi.json")).status).toBe(204)
      for (const method of ["POST", "PUT", "DELETE"]) {
        expect((yield* ask(baseUrl, method, "/_mock/openapi.json")).status).toBe(405)
      }
    }).pipe(Effect.provide(TestServer.layer()))
  )
})

describe("the control plane with a token", () => {
  it.effect("asks everything but its page and the health for it, unknown paths too", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      for (const [method, path] of requests) {
        const expected = path === "/_mock/health" ? 200 : 401
        expect([path, (yield* ask(baseUrl, method, path)).status]).toEqual([path, expected])
        expect([path, (yield* ask(baseUrl, method, path, { authorization: "Bearer x" })).status]).toEqual([
          path,
          expected
        ])
      }
      expect((yield* ask(baseUrl, "GET", "/_mock/")).status).toBe(200)
      expect((yield* ask(baseUrl, "GET", "/_mock/worlds", token)).status).toBe(200)
      expect((yield* ask(baseUrl, "GET", "/_mock/nothing", token)).status).toBe(404)
      // In a compose file, the server has a name that the file chooses.
      expect((yield* ask(baseUrl, "GET", "/_mock/worlds", { ...token, host: "berth-server:4010" })).status).toBe(200)
      expect((yield* ask(baseUrl, "GET", "/_mock/health", { host: "berth-server:4010" })).status).toBe(403)
      const page = { ...token, origin: "http://evil.test" }
      expect((yield* ask(baseUrl, "GET", "/_mock/worlds", page)).status).toBe(403)
    }).pipe(Effect.provide(TestServer.layer({ controlToken: Redacted.make("open-sesame") })))
  )
})

describe("berth-server --allow-host", () => {
  it.live("serves the control plane at these names, and the address that it listens on", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(["--port", "0", "--allow-host", "berth-server", "--allow-host", "fd00::7"])
      for (const [host, status] of [
        ["Berth-Server:4010", 200],
        ["[fd00::7]:4010", 200],
        ["localhost", 200],
        ["another:4010", 403]
      ] as const) {
        expect([host, (yield* ask(ready.url, "GET", "/_mock/worlds", { host })).status]).toEqual([host, status])
      }
      // If the server listens on all addresses, any host name may lead to it. The ready line has an address that works.
      const everywhere = yield* serve(["--port", "0", "--host", "0.0.0.0", "--control-token", "open-sesame"])
      const { url } = everywhere.ready
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
      expect((yield* ask(url, "GET", "/_mock/health", { host: "0.0.0.0" })).status).toBe(403)
      expect((yield* ask(url, "GET", "/_mock/health")).status).toBe(200)
      expect((yield* ask(url, "GET", "/_mock/worlds", { ...token, host: "0.0.0.0" })).status).toBe(200)
    })
  )
})
