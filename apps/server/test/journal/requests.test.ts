import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Journal, maxEntries, maxKeptBodyBytes } from "../../src/journal/Journals.ts"
import { redactor, showEntry } from "../../src/journal/JournalEntry.ts"
import { TestServer, type TestWorld } from "../../src/testing.ts"
import { ask, create, get, list } from "../injection/client.ts"
import { errorsOf, nodeOf, send } from "../http/service.ts"
import { entryOf } from "./entries.ts"

const control = (world: TestWorld, path: string, init: RequestInit = {}) =>
  send(`${world.baseUrl}/_mock/worlds/${world.id}${path}`, { headers: { "content-type": "application/json" }, ...init })

const freshWorld = Effect.flatMap(TestServer, ({ makeWorld }) => makeWorld())

layer(TestServer.layer())("the journal of a world", (it) => {
  it.effect("has every request with its reply and the faults that fired", () =>
    Effect.gen(function* () {
      const world = yield* freshWorld
      const { id } = (yield* create(world)).json.data
      yield* world.advance("1500 millis")
      yield* world.arm([{ fault: "status", status: 500, times: 1 }])
      yield* ask(world, "GET", "/nodes/", { query: { page_no: "2", per_page: "5" } })
      yield* get(world, id)
      yield* ask(world, "PUT", "/nodes/")
      yield* ask(world, "POST", "/nodes/", { body: [] })
      const common = {
        at: "2026-01-01T00:00:01.500Z",
        durationMillis: 0,
        body: null,
        query: {},
        headers: expect.objectContaining({ authorization: "<redacted>", "user-agent": expect.any(String) }),
        replyHeaders: expect.objectContaining({
          "content-type": "application/json",
          "ratelimit-limit": "1200",
          date: "Thu, 01 Jan 2026 00:00:01 GMT"
        }),
        reply: null,
        faults: []
      }
      expect(yield* world.journal).toEqual([
        {
          ...common,
          seq: 1,
          at: "2026-01-01T00:00:00.000Z",
          method: "POST",
          path: "/myaccount/api/v1/nodes/",
          operation: "nodes.create",
          body: JSON.stringify(nodeOf("web")),
          status: 202,
          replyHeaders: expect.objectContaining({ date: "Thu, 01 Jan 2026 00:00:00 GMT" })
        },
        {
          ...common,
          seq: 2,
          method: "GET",
          path: "/myaccount/api/v1/nodes/",
          operation: "nodes.list",
          query: { page_no: "2", per_page: "5" },
          status: 500,
          reply: expect.stringMatching(/^\{.*"code":500/),
          faults: ["status"]
        },
        {
          ...common,
          seq: 3,
          method: "GET",
          path: `/myaccount/api/v1/nodes/${id}/`,
          operation: "nodes.get",
          status: 200
        },
        {
          ...common,
          seq: 4,
          method: "PUT",
          path: "/myaccount/api/v1/nodes/",
          operation: null,
          status: 405,
          reply: expect.stringContaining("405")
        },
        {
          ...common,
          seq: 5,
          method: "POST",
          path: "/myaccount/api/v1/nodes/",
          operation: "nodes.create",
          body: "[]",
          status: 422,
          reply: expect.stringContaining('"errors":{"detail":["')
        }
      ])
    })
  )

  it.effect("holds no credentials, wherever a client puts them", () =>
    Effect.gen(function* () {
      const world = yield* freshWorld
      const [key, token] = [Redacted.value(world.apiKey), Redacted.value(world.accessToken)]
      yield* ask(world, "GET", `/nodes/${token}/`, {
        query: { token, note: `my ${key}`, apikey: key, api_key: "other" }
      })
      yield* ask(world, "GET", "/nodes/", { query: { [token]: encodeURIComponent(token) } })
      yield* ask(world, "POST", "/nodes/", {
        body: { name: key, password: "s3cret", nested: { client_secret: "s3cret" } }
      })
      const journal = (yield* control(world, "/requests")).text
      const explained = yield* world.explain
      for (const text of [journal, explained]) {
        for (const secret of [key, token, encodeURIComponent(key), "s3cret"]) expect(text).not.toContain(secret)
        expect(text).toContain("<redacted>")
      }
    })
  )

  it.effect("has the calls with one good credential of its world, which spend the allowance of its account", () =>
    Effect.gen(function* () {
      const [world, other] = [yield* freshWorld, yield* freshWorld]
      yield* world.advance("5 seconds")
      const wrong = Redacted.make("mistyped-token")
      expect((yield* list({ ...world, accessToken: wrong })).status).toBe(401)
      expect((yield* list({ ...world, accessToken: other.accessToken })).status).toBe(403)
      expect((yield* list({ ...world, apiKey: Redacted.make("mistyped-key") })).status).toBe(401)
      expect((yield* world.journal).map(({ at, operation, status }) => [at, operation, status])).toEqual([
        ["2026-01-01T00:00:05.000Z", "nodes.list", 401],
        ["2026-01-01T00:00:05.000Z", "nodes.list", 403],
        ["2026-01-01T00:00:05.000Z", "nodes.list", 401]
      ])
      expect(yield* other.journal).toEqual([])
      expect((yield* control(world, "")).json.allowance.remaining).toBe(1197)
      const journal = (yield* control(world, "/requests")).text
      for (const secret of ["mistyped", Redacted.value(other.accessToken)]) expect(journal).not.toContain(secret)
    })
  )

  it.effect("continues when a snapshot is restored into the world, which adds an entry", () =>
    Effect.gen(function* () {
      const world = yield* freshWorld
      yield* list(world)
      const { text: snapshot } = yield* control(world, "/snapshot")
      yield* world.advance("1 hour")
      yield* list(world)
      const page = (query: string) => Effect.map(control(world, `/requests?${query}`), ({ json }) => json)
      expect((yield* control(world, "/snapshot", { method: "PUT", body: snapshot })).status).toBe(200)
      yield* list(world)
      const { count, dropped, requests } = yield* page("after=1")
      expect([count, dropped]).toEqual([4, 0])
      expect(requests.map(({ at, change, seq }: any) => [seq, at, change])).toEqual([
        [2, "2026-01-01T01:00:00.000Z", undefined],
        [3, "2026-01-01T00:00:00.000Z", "restored"],
        [4, "2026-01-01T00:00:00.000Z", undefined]
      ])
      expect(requests[1]).toMatchObject({ method: "PUT", path: `/_mock/worlds/${world.id}/snapshot`, status: 200 })
      expect((yield* page("method=put")).requests).toEqual([])
      expect((yield* world.journal).map(({ seq }) => seq)).toEqual([1, 2, 4])
      expect(yield* world.explain).toMatch(/\n  3 .* PUT .* → 200 \(the world was restored\)\n  4 /)
      const body = JSON.stringify({ expected: [{ operation: "nodes.list", count: 3 }], noOthers: true })
      expect((yield* control(world, "/requests/verify", { method: "POST", body })).json.message).toBe(
        "Every expected call was made."
      )
    })
  )

  it.effect("is cleared by a reset but keeps its numbers, so that a reader misses no later entry", () =>
    Effect.gen(function* () {
      const world = yield* freshWorld
      for (let i = 0; i < 3; i++) yield* list(world)
      yield* control(world, "/reset", { method: "POST", headers: {} })
      for (let i = 0; i < 4; i++) yield* list(world)
      const { json } = yield* control(world, "/requests?after=2")
      expect(json).toMatchObject({ count: 8, next: 8, more: false, dropped: 1 })
      expect(json.requests.map(({ change, seq }: any) => [seq, change])).toEqual([
        [4, "reset"],
        ...[5, 6, 7, 8].map((seq) => [seq, undefined])
      ])
      const body = JSON.stringify({ expected: [{ operation: "nodes.list", count: 4 }], noOthers: true })
      expect((yield* control(world, "/requests/verify", { method: "POST", body })).json.ok).toBe(true)
    })
  )

  it.effect("has faults armed one by one and disarmed by their ids, while the others keep counting", () =>
    Effect.gen(function* () {
      const world = yield* freshWorld
      const faults = (method: string, path = "", fault?: object) =>
        control(world, `/faults${path}`, fault === undefined ? { method } : { method, body: JSON.stringify(fault) })
      yield* world.arm([{ fault: "status", status: 503, times: 1 }])
      expect((yield* list(world)).status).toBe(503)
      const added = yield* faults("POST", "", { fault: "status", status: 502 })
      expect([added.status, added.json]).toEqual([
        201,
        { id: "status-2", fault: "status", status: 502, seen: 0, fired: 0 }
      ])
      expect((yield* list(world)).status).toBe(502)
      expect((yield* faults("GET")).json.map(({ fired, id, seen }: any) => [id, seen, fired])).toEqual([
        ["status-1", 2, 1],
        ["status-2", 1, 1]
      ])
      errorsOf(yield* faults("POST", "", { fault: "status", stauts: 1 }), 422)
      errorsOf(yield* faults("DELETE", "/status-3"), 404)
      expect((yield* faults("DELETE", "/status-1")).status).toBe(204)
      expect((yield* faults("GET")).json).toMatchObject([{ id: "status-2", seen: 1 }])
      expect((yield* faults("POST", "", { fault: "hang", times: 1 })).json.id).toBe("hang-1")
      expect((yield* faults("DELETE", "/status-2")).status).toBe(204)
      expect((yield* faults("DELETE", "/hang-1")).status).toBe(204)
      expect((yield* list(world)).status).toBe(200)
    })
  )

  it.effect("can be filtered, and forgotten", () =>
    Effect.gen(function* () {
      const world = yield* freshWorld
      yield* create(world)
      yield* list(world)
      yield* world.arm([{ fault: "status", status: 500 }])
      yield* list(world)
      const seqs = (query: string) =>
        Effect.map(control(world, `/requests?${query}`), ({ json }) =>
          json.requests.map(({ seq }: { seq: number }) => seq)
        )
      expect(yield* seqs("")).toEqual([1, 2, 3])
      expect(yield* seqs("operation=nodes.list")).toEqual([2, 3])
      expect(yield* seqs("method=post")).toEqual([1])
      expect(yield* seqs("status=500")).toEqual([3])
      expect(yield* seqs("fault=status")).toEqual([3])
      expect(yield* seqs("limit=2")).toEqual([2, 3])
      errorsOf(yield* control(world, "/requests?operation=nodes.lst"), 400)
      expect((yield* control(world, "/requests", { method: "DELETE" })).status).toBe(204)
      expect(yield* world.journal).toEqual([])
      yield* list(world)
      expect((yield* control(world, "/requests")).json).toMatchObject({ count: 4, seed: 1, requests: [{ seq: 4 }] })
    })
  )

  it.effect("is read forward in pages, and a reader that falls behind sees the gap", () =>
    Effect.gen(function* () {
      const world = yield* freshWorld
      const page = (query: string) =>
        Effect.map(control(world, `/requests?${query}`), ({ json: { dropped, more, next, requests } }) => ({
          seqs: requests.map(({ seq }: { seq: number }) => seq),
          next,
          more,
          dropped
        }))
      expect(yield* page("after=0&limit=2")).toEqual({ seqs: [], next: 0, more: false, dropped: 0 })
      yield* Effect.repeat(list(world), { times: 3 })
      yield* create(world)
      expect(yield* page("after=0&limit=2")).toEqual({ seqs: [1, 2], next: 2, more: true, dropped: 0 })
      expect(yield* page("after=2&limit=2")).toEqual({ seqs: [3, 4], next: 4, more: true, dropped: 0 })
      expect(yield* page("after=4&limit=2")).toEqual({ seqs: [5], next: 5, more: false, dropped: 0 })
      expect(yield* page("after=5&limit=2")).toEqual({ seqs: [], next: 5, more: false, dropped: 0 })
      // With a filter, the next page begins after the requests that the filter has left out.
      const lists = "operation=nodes.list&limit=2"
      expect(yield* page(`after=0&${lists}`)).toEqual({ seqs: [1, 2], next: 2, more: true, dropped: 0 })
      expect(yield* page(`after=2&${lists}`)).toEqual({ seqs: [3, 4], next: 5, more: false, dropped: 0 })
      expect(yield* page(lists)).toEqual({ seqs: [3, 4], next: 5, more: false, dropped: 0 })
      yield* control(world, "/requests", { method: "DELETE" })
      yield* list(world)
      expect(yield* page("after=3")).toEqual({ seqs: [6], next: 6, more: false, dropped: 2 })
      expect(yield* page("")).toEqual({ seqs: [6], next: 6, more: false, dropped: 5 })
      expect(yield* page("after=5")).toMatchObject({ seqs: [6], dropped: 0 })
    })
  )

  it.effect("belongs to its world alone, and so do the faults", () =>
    Effect.gen(function* () {
      const worlds = yield* Effect.all(Array.from({ length: 20 }, () => freshWorld))
      yield* Effect.forEach(
        worlds,
        (world, index) =>
          Effect.gen(function* () {
            yield* world.arm([{ fault: "status", status: 500 + index }])
            for (let call = 0; call <= index; call++) yield* list(world)
          }),
        { concurrency: "unbounded" }
      )
      for (const [index, world] of worlds.entries()) {
        expect((yield* world.journal).map(({ status }) => status)).toEqual(Array(index + 1).fill(500 + index))
      }
    })
  )

  it.effect("can be explained, to find out why a test failed", () =>
    Effect.gen(function* () {
      const world = yield* freshWorld
      yield* world.arm([{ fault: "status", status: 500 }])
      yield* list(world, { page_no: "2" })
      yield* world.arm([])
      yield* ask(world, "POST", "/nodes/", { body: { name: "web" } })
      yield* world.arm([{ fault: "status", status: 500 }])
      expect((yield* world.explain).split("\n")).toEqual([
        `The world ${world.id} has the seed 1.`,
        `Armed: PUT /_mock/worlds/${world.id}/faults [{"fault":"status","status":500}]`,
        "Requests, 2:",
        expect.stringMatching(
          /^  1 2026-01-01T00:00:00.000Z GET \/myaccount\/api\/v1\/nodes\/\?page_no=2 → 500 \(status\) \{.*"code":500/
        ),
        expect.stringMatching(/^  2 .* POST .* → 422 \{.*"errors":\{.*"region":\["This field is required/)
      ])
    })
  )

  it.effect("shows the beginning of a long reply, and no credential in a header or a reply", () =>
    Effect.gen(function* () {
      const world = yield* freshWorld
      const [key, token] = [Redacted.value(world.apiKey), Redacted.value(world.accessToken)]
      yield* world.arm([
        {
          fault: "status",
          status: 502,
          body: `${token} ${"x".repeat(5_000)}`,
          headers: { "set-cookie": "sessionid=s3cret", "x-note": `a ${token}` }
        }
      ])
      yield* list(world)
      yield* ask(world, "GET", "/nodes/", {
        headers: { cookie: "sessionid=s3cret", "x-csrftoken": "s3cret", "x-api-key": key, "x-note": `a ${token}` }
      })
      const [first, second] = yield* world.journal
      expect(first).toMatchObject({ status: 502, reply: expect.stringMatching(/^<redacted> x+$/), replyBytes: 5_033 })
      expect(first!.replyHeaders).toMatchObject({ "set-cookie": "<redacted>", "x-note": "a <redacted>" })
      expect(first!.reply!.length).toBeLessThan(maxKeptBodyBytes)
      expect(second!.headers).toMatchObject({
        cookie: "<redacted>",
        "x-csrftoken": "<redacted>",
        "x-api-key": "<redacted>",
        "x-note": "a <redacted>"
      })
      expect(second!.headers).not.toHaveProperty("host")
      const { text } = yield* control(world, "/requests")
      for (const secret of [key, token, "s3cret"]) expect(text).not.toContain(secret)
    })
  )
})

layer(TestServer.layer())("nothing that is expected", (it) => {
  it.effect("is refused unless there are to be no calls at all", () =>
    Effect.gen(function* () {
      const world = yield* freshWorld
      const verify = (body: object) =>
        control(world, "/requests/verify", { method: "POST", body: JSON.stringify(body) })
      expect(errorsOf(yield* verify({ expected: [] }), 422)).toEqual({
        expected: ["Expected at least one call, or noOthers."]
      })
      expect((yield* verify({ expected: [], noOthers: true })).json.ok).toBe(true)
      yield* list(world)
      expect((yield* verify({ expected: [], noOthers: true })).json.ok).toBe(false)
    })
  )
})

layer(TestServer.layer())("bad requests to the control plane get the envelope and change nothing", (it) => {
  for (const [method, path, body, status] of [
    ["PUT", "/faults", "[", 400],
    ["PUT", "/faults", '[{"fault":"nope"}]', 422],
    ["PUT", "/faults", '[{"fault":"hang"},{"fault":"status","stauts":1}]', 422],
    ["PUT", "/faults", '{"fault":"hang"}', 422],
    ["POST", "/faults", "[]", 422],
    ["POST", "/faults", '{"fault":"nope"}', 422],
    ["POST", "/requests/verify", "[]", 422],
    ["POST", "/requests/verify", '{"expected":[{"operation":"x"}]}', 422],
    ["POST", "/requests/verify", '{"expected":[{"opration":"nodes.list"}]}', 422],
    ["POST", "/requests/verify", '{"expected":[{"count":1,"atLeast":1}]}', 422],
    ["POST", "/requests/verify", '{"expected":[{"atLeast":2,"atMost":1}]}', 422],
    ["POST", "/requests/verify", '{"expected":[],"inorder":true}', 422],
    ["POST", "/requests/verify", '{"expected":[]}', 422],
    ["POST", "/requests/verify", '{"expected":[],"inOrder":true,"noOthers":false}', 422],
    ["POST", "/requests/verify", '{"expected":[{"query":{"apikey":"*"}}]}', 422],
    ["POST", "/requests/verify", "x", 400]
  ] as const) {
    it.effect(`${method} ${path} ${body}: ${status}`, () =>
      Effect.gen(function* () {
        const world = yield* freshWorld
        yield* world.arm([{ fault: "status", status: 555 }])
        const before = (yield* control(world, "/faults")).text
        errorsOf(yield* control(world, path, { method, body }), status)
        expect((yield* control(world, "/faults")).text).toBe(before)
        expect((yield* list(world)).status).toBe(555)
      })
    )
  }

  it.effect("an unknown world: 404", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      for (const path of ["/worlds/nope/faults", "/worlds/nope/requests", "/events?world=nope"]) {
        errorsOf(yield* send(`${baseUrl}/_mock${path}`), 404)
      }
    })
  )
})

describe("secrets that are a part of what stands for them", () => {
  it("are each taken out once", () => {
    const redact = redactor({ apiKey: Redacted.make("e"), accessToken: Redacted.make("d") })
    expect(redact.text("edx".repeat(1000))).toBe("<redacted><redacted>x".repeat(1000))
    const regular = redactor({ apiKey: Redacted.make("a.c$"), accessToken: Redacted.make("[x]\\") })
    expect(regular.text("abc$ a.c$ [x]\\ x")).toBe("abc$ <redacted> <redacted> x")
  })
})

describe("secrets in a body that the journal cuts off", () => {
  const account = { apiKey: Redacted.make("the-key-of-all"), accessToken: Redacted.make("a/token+of=all") }
  const shown = (text: string) => {
    const journal = new Journal()
    const body = Buffer.from(text)
    return showEntry(account, journal.record(entryOf({ method: "POST", body }), 1)).body!
  }

  it("are hidden although their end is missing", () => {
    const filling = "x".repeat(maxKeptBodyBytes - 30)
    expect(shown(`{"a":"${filling}","password":"s3cr${"e".repeat(99)}t"}`)).not.toContain("s3cr")
    expect(shown(`{"password":"s3cr`)).toBe('{"password":"<redacted>"')
    for (let cut = 5; cut < 14; cut++) {
      const text = shown(`${"x".repeat(maxKeptBodyBytes - cut)}the-key-of-all, and more`)
      expect([cut, text.includes("the-")]).toEqual([cut, false])
    }
    expect(shown("the-key-of-all a/token+of=all a%2Ftoken%2Bof%3Dall")).toBe("<redacted> <redacted> <redacted>")
  })
})

describe("how much a journal keeps", () => {
  it("the latest thousand requests, and 2 KiB of a body", () => {
    const journal = new Journal()
    for (let request = 0; request < 2_500; request++) journal.record(entryOf(), request)
    const kept = journal.entries().map(({ seq }) => seq)
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([maxEntries, 1_501, 2_500])
    expect(kept).toEqual([...kept].sort((a, b) => a - b))
    const { body, bodyBytes } = journal.record(entryOf({ body: new Uint8Array(1_000_000) }), 1)
    // A copy, because a view would keep the whole body in memory.
    expect([body!.length, body!.buffer.byteLength, bodyBytes]).toEqual([2_048, 2_048, 1_000_000])
  })
})
