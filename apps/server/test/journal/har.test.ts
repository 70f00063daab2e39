import { expect, layer } from "@effect/vitest"
import { HarValidator } from "@har-sdk/validator"
import { Effect, Redacted } from "effect"
import { TestServer, type TestWorld } from "../../src/testing.ts"
import { ask, create, list } from "../injection/client.ts"
import { control } from "../control/plane.ts"
import { nodeOf } from "../http/service.ts"
import { exchange } from "../transport/rawSocket.ts"

/** The archive of a world, which the validator accepts. */
const archiveOf = (world: TestWorld) =>
  Effect.gen(function* () {
    const reply = yield* control("GET", `/worlds/${world.id}/requests.har`)
    expect([reply.status, reply.headers.get("content-disposition")]).toEqual([
      200,
      `attachment; filename="${world.id}.har"`
    ])
    expect(yield* Effect.promise(() => new HarValidator().verify(reply.json))).toEqual([])
    return reply
  })

layer(TestServer.layer())("the archive of a world", (it) => {
  it.effect("takes OPTIONS * as a request about the server itself", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      yield* exchange(baseUrl, ["OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"], { enough: 1 })
      const { json } = yield* control("GET", "/worlds/default/requests.har")
      expect(yield* Effect.promise(() => new HarValidator().verify(json))).toEqual([])
      expect(json.log.entries.at(-1).request).toMatchObject({ method: "OPTIONS", url: baseUrl })
    })
  )

  it.effect("has every request and reply as far as the journal has them", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ seed: 7 })
      yield* create(world)
      yield* world.advance("1500 millis")
      yield* world.arm([{ fault: "status", status: 503, times: 1, scope: { operation: "nodes.list" } }])
      yield* ask(world, "GET", "/nodes/", { query: { page_no: "2" } })
      yield* world.arm([{ fault: "reset-before-request", times: 1 }])
      yield* list(world)
      yield* ask(world, "POST", "/nodes/", { body: { name: "x".repeat(5_000) } })
      const { log } = (yield* archiveOf(world)).json
      expect(log).toMatchObject({ version: "1.2", creator: { name: "berth-server" }, comment: expect.any(String) })
      expect(log.comment).toBe(`World ${world.id} with the seed 7.`)
      const [created, failed, reset, long] = log.entries
      const url = `${world.baseUrl}/myaccount/api/v1/nodes/?apikey=%3Credacted%3E`
      expect(created).toEqual({
        startedDateTime: "2026-01-01T00:00:00.000Z",
        time: 0,
        request: {
          method: "POST",
          url,
          httpVersion: "HTTP/1.1",
          cookies: [],
          headers: expect.arrayContaining([
            { name: "content-type", value: "application/json" },
            { name: "authorization", value: "<redacted>" }
          ]),
          queryString: [{ name: "apikey", value: "<redacted>" }],
          postData: { mimeType: "application/json", text: JSON.stringify(nodeOf("web")) },
          headersSize: -1,
          bodySize: JSON.stringify(nodeOf("web")).length
        },
        response: {
          status: 202,
          statusText: "Accepted",
          httpVersion: "HTTP/1.1",
          cookies: [],
          headers: expect.arrayContaining([
            { name: "content-type", value: "application/json" },
            { name: "ratelimit-remaining", value: "1199" }
          ]),
          content: { size: expect.any(Number), mimeType: "application/json" },
          redirectURL: "",
          headersSize: -1,
          bodySize: expect.any(Number)
        },
        cache: {},
        timings: { send: 0, wait: 0, receive: 0 }
      })
      expect(created.response.bodySize).toBeGreaterThan(100)
      expect(failed).toMatchObject({
        startedDateTime: "2026-01-01T00:00:01.500Z",
        request: { method: "GET", url: `${url}&page_no=2` },
        response: { status: 503, statusText: "Service Unavailable", content: { text: expect.stringContaining("503") } },
        comment: "Faults that fired: status."
      })
      expect(reset).toMatchObject({
        response: { status: 0, statusText: "" },
        comment: "There was no reply. Faults that fired: reset-before-request."
      })
      expect(long).toMatchObject({
        request: { bodySize: 5_011, postData: { comment: "Cut after 2048 of 5011 bytes." } },
        response: { status: 422, content: { text: expect.stringContaining("errors") } }
      })
    })
  )

  it.effect("contains no credentials, not even in a reply that repeats them", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      const [key, token] = [Redacted.value(world.apiKey), Redacted.value(world.accessToken)]
      yield* ask(world, "GET", `/nodes/${token}/`, { query: { token: "t0ken", note: key, api_key: "other-s3cret" } })
      yield* ask(world, "POST", "/nodes/", { body: { name: key, password: "s3cret", plan: token } })
      yield* list({ ...world, accessToken: Redacted.make("mistyped-s3cret") })
      const { text } = yield* archiveOf(world)
      for (const secret of [key, token, "t0ken", "s3cret"]) expect(text).not.toContain(secret)
    })
  )

  it.effect("can be had when the world has ended, and when it had no requests", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      expect((yield* control("GET", `/${world.id}/requests.har`)).json.log).toMatchObject({
        version: "1.2",
        entries: []
      })
      yield* list(world)
      yield* control("DELETE", `/worlds/${world.id}/requests`)
      yield* list(world)
      yield* control("DELETE", `/worlds/${world.id}`)
      const { log } = (yield* archiveOf(world)).json
      expect([log.entries.length, log.comment]).toEqual([
        1,
        `World ${world.id} with the seed 1. Requests up to number 1 are no longer kept. The world has ended (deleted).`
      ])
    })
  )
})
