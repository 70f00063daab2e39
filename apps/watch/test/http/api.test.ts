import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { aNode } from "../diff/aNode.ts"
import { ask, served } from "./http.ts"
import { anAccount, aSink, aTrouble } from "./memoryDaemon.ts"

const at = "2026-03-01T10:00:00.000Z"

describe("the HTTP interface", () => {
  it.live("shows accounts, sinks and the end of the log", () =>
    Effect.gen(function* () {
      const { append, state, url } = yield* served()
      state.accounts = [anAccount({ nodes: 3, allowance: { limit: 1200, remaining: 700, resetAt: null } })]
      state.sinks = [aSink({ lag: 4 })]
      state.troubles = [aTrouble()]
      append({ type: "berth.watch.baseline" })
      const { json, status } = yield* ask(`${url}/api/status`)
      expect(status).toBe(200)
      expect(json).toMatchObject({
        cursor: "1",
        accounts: [{ account: "default", state: "watching", nodes: 3, allowance: { remaining: 700 } }],
        troubles: [
          {
            name: "service-failing",
            about: { kind: "account", name: "default" },
            severity: "warning",
            message: expect.any(String),
            next: expect.any(String),
            since: "2026-03-01T03:00:00.000Z"
          }
        ],
        sinks: [{ sink: "ops", lag: 4 }]
      })
      expect((yield* ask(`${url}/api/accounts`)).json).toEqual(json.accounts)
    })
  )

  it.live("lists nodes page by page, as they are and as they were", () =>
    Effect.gen(function* () {
      const { put, url } = yield* served()
      for (const id of [3, 1, 2]) put(aNode({ id, createdAtMillis: id * 1000 }), at)
      const first = (yield* ask(`${url}/api/nodes?limit=2`)).json
      expect(first.nodes.map(({ id }: { id: number }) => id)).toEqual([1, 2])
      expect(first.nodes[0]).toMatchObject({
        account: "default",
        statusSince: at,
        createdAt: "1970-01-01T00:00:01.000Z"
      })
      const second = (yield* ask(`${url}/api/nodes?limit=2&after=${first.next}`)).json
      expect([second.nodes.map(({ id }: { id: number }) => id), second.next]).toEqual([[3], null])
      const then = (yield* ask(`${url}/api/nodes?at=1970-01-01T00:00:02Z`)).json
      expect(then.nodes.map(({ id }: { id: number }) => id)).toEqual([1, 2])
    })
  )

  it.live("gives the events behind a cursor, or the last ones, by type and node", () =>
    Effect.gen(function* () {
      const { append, url } = yield* served()
      append({ type: "berth.watch.baseline" })
      for (const id of [1, 2, 1]) append({ type: "berth.node.changed", subject: `nodes/${id}` })
      append({ type: "berth.watch.degraded" })
      const cursors = (query: string) =>
        Effect.map(ask(`${url}/api/events${query}`), ({ json }) =>
          json.events.map(({ cursor }: { cursor: string }) => Number(cursor))
        )
      expect(yield* cursors("")).toEqual([1, 2, 3, 4, 5])
      expect(yield* cursors("?limit=2")).toEqual([4, 5])
      expect(yield* cursors("?after=&limit=2")).toEqual([1, 2])
      expect(yield* cursors("?after=3")).toEqual([4, 5])
      expect(yield* cursors("?type=berth.node.*&node=1")).toEqual([2, 4])
      expect(yield* cursors("?type=berth.watch.degraded")).toEqual([5])
      expect((yield* ask(`${url}/api/events?after=&node=2`)).json).toMatchObject({ next: "5", more: false })
    })
  )

  it.live("refuses what cannot be meant, is not there or no longer kept, in one sentence", () =>
    Effect.gen(function* () {
      const { state, url } = yield* served()
      state.kept = 10
      for (const [path, status] of [
        ["/api/events?after=nonsense", 400],
        ["/api/events?after=2", 410],
        ["/api/events?limit=0", 400],
        ["/api/events?limit=ten", 400],
        ["/api/nodes?at=yesterday", 400],
        ["/api/nodes?account=other", 404],
        ["/api/nothing", 404],
        ["/events?after=nonsense", 400]
      ] as const) {
        const reply = yield* ask(url + path)
        expect([path, reply.status, reply.json?.status]).toEqual([path, status, status])
        expect(reply.json.message).toMatch(/^\S[^\n]*\.?$/)
      }
    })
  )

  it.live("does what is asked of a sink, and knows no other", () =>
    Effect.gen(function* () {
      const { append, state, url } = yield* served()
      state.sinks = [aSink()]
      append({ type: "berth.watch.baseline" })
      for (const verb of ["enable", "retry", "test"]) {
        const reply = yield* ask(`${url}/api/sinks/ops/${verb}`, { method: "POST" })
        expect([reply.status, reply.json.sink]).toEqual([200, "ops"])
      }
      const replay = (sink: string, body: unknown) => ask(`${url}/api/sinks/${sink}/replay`, { method: "POST", body })
      expect((yield* replay("ops", { after: "1" })).status).toBe(200)
      expect(state.asked).toEqual(["enable ops", "retry ops", "test ops", "replay 1 ops"])
      const removed = yield* ask(`${url}/api/sinks/ops`, { method: "DELETE" })
      expect([removed.status, state.asked.pop()]).toEqual([204, "remove ops"])
      expect((yield* ask(`${url}/api/sinks/none`, { method: "DELETE" })).status).toBe(404)
      expect((yield* replay("ops", { after: "x" })).status).toBe(400)
      expect((yield* replay("ops", {})).status).toBe(400)
      expect((yield* replay("ops", "{")).status).toBe(400)
      const as = (headers: Readonly<Record<string, string>>, body: unknown) =>
        Effect.map(ask(`${url}/api/sinks/ops/replay`, { method: "POST", headers, body }), ({ json, status }) => [
          status,
          json.status
        ])
      expect(yield* as({ "content-type": "application/vnd.x+json" }, { after: "" })).toEqual([415, 415])
      const large = { after: "x".repeat(65_536) }
      expect(yield* as({}, large)).toEqual([413, 413])
      expect(yield* as({ "transfer-encoding": "chunked" }, large)).toEqual([413, 413])
      expect((yield* replay("ops", { after: "x".repeat(70_000) })).status).toBe(413)
      expect((yield* replay("other", { after: "" })).status).toBe(404)
      expect(state.asked.length).toBe(4)
    })
  )

  it.live("answers HEAD and OPTIONS, and another method with what the path does answer", () =>
    Effect.gen(function* () {
      const { url } = yield* served()
      for (const path of ["/", "/api/status", "/metrics", "/healthz"]) {
        const head = yield* ask(url + path, { method: "HEAD" })
        expect([path, head.status, head.text]).toEqual([path, 200, ""])
        const options = yield* ask(url + path, { method: "OPTIONS" })
        expect([path, options.status, options.headers["allow"]]).toEqual([path, 204, "GET, HEAD, OPTIONS"])
        const wrong = yield* ask(url + path, { method: "DELETE" })
        expect([path, wrong.status, wrong.headers["allow"]]).toEqual([path, 405, "GET, HEAD, OPTIONS"])
      }
      const session = yield* ask(`${url}/api/session`)
      expect([session.status, session.headers["allow"]]).toEqual([405, "POST, DELETE, OPTIONS"])
    })
  )

  it.live("describes itself, every reply with its schema", () =>
    Effect.gen(function* () {
      const { url } = yield* served()
      const { json } = yield* ask(`${url}/api/openapi.json`)
      expect(Object.keys(json.paths).toSorted()).toEqual([
        "/api/accounts",
        "/api/cost",
        "/api/events",
        "/api/nodes",
        "/api/plans",
        "/api/processes",
        "/api/session",
        "/api/silences",
        "/api/silences/{silence}/end",
        "/api/sinks",
        "/api/sinks/{sink}",
        "/api/sinks/{sink}/dead",
        "/api/sinks/{sink}/dead/{id}/retry",
        "/api/sinks/{sink}/enable",
        "/api/sinks/{sink}/replay",
        "/api/sinks/{sink}/retry",
        "/api/sinks/{sink}/test",
        "/api/status",
        "/events",
        "/healthz",
        "/metrics",
        "/readyz",
        "/sd"
      ])
      expect(json.components.schemas.AccountStatus.properties.nodes.type).toBe("integer")
    })
  )
})

describe("readiness", () => {
  it.live("is green without any account, and does not wait for one that is paused", () =>
    Effect.gen(function* () {
      const { state, url } = yield* served()
      const status = Effect.map(ask(`${url}/readyz`), (reply) => reply.status)
      state.accounts = []
      expect(yield* status).toBe(200)
      state.accounts = [anAccount({ lastSweep: null })]
      expect(yield* status).toBe(503)
      state.accounts = [anAccount({ state: "paused", lastSweep: null })]
      expect(yield* status).toBe(200)
    })
  )

  it.live("is not red of an account that was added with credentials that do not work, but of the fleet", () =>
    Effect.gen(function* () {
      const { state, url } = yield* served()
      const endedAt = yield* DateTime.now
      const own = anAccount({ lastSweep: { endedAt, durationMillis: 900, requests: 1 } })
      const about = { kind: "account", name: "acme" } as const
      const late = aTrouble({ name: "sweeps-late", about })
      const statuses = Effect.map(Effect.all([ask(`${url}/readyz`), ask(`${url}/readyz?fleet`)]), (replies) =>
        replies.map((reply) => reply.status)
      )
      state.accounts = [own, anAccount({ account: "acme", added: true })]
      state.troubles = []
      expect(yield* statuses, "its first sweep is still to come").toEqual([200, 200])
      state.troubles = [late]
      expect(yield* statuses).toEqual([503, 503])
      state.troubles = [late, aTrouble({ name: "account-refused", about })]
      expect(yield* statuses).toEqual([200, 503])
      state.accounts = [own, anAccount({ account: "acme" })]
      expect(yield* statuses, "of the config").toEqual([503, 503])
    })
  )

  it.live(
    "is red before the first complete sweep, green after it, red when sweeps stop; the process lives all along",
    () =>
      Effect.gen(function* () {
        const { state, url } = yield* served()
        const sweptAgo = (seconds: number) =>
          Effect.map(DateTime.now, (now) => {
            const endedAt = DateTime.subtract(now, { seconds })
            state.accounts = [anAccount({ lastSweep: { endedAt, durationMillis: 900, requests: 1 } })]
          })
        const statuses = Effect.all([ask(`${url}/healthz`), ask(`${url}/readyz`)]).pipe(
          Effect.map((replies) => replies.map(({ status }) => status))
        )
        expect(yield* statuses).toEqual([200, 503])
        yield* sweptAgo(5)
        expect(yield* statuses).toEqual([200, 200])
        yield* sweptAgo(61)
        const message = "Too much time has passed without a complete read of the nodes."
        state.troubles = [aTrouble(), aTrouble({ name: "sweeps-late", message })]
        expect(yield* statuses).toEqual([200, 503])
        const { json } = yield* ask(`${url}/readyz`)
        expect(json).toMatchObject({
          ready: false,
          reasons: [`default: ${message}`],
          accounts: [{ account: "default", ready: false, maxAgeSeconds: 60 }]
        })
        expect(json.accounts[0].ageSeconds).toBeGreaterThan(60)
        yield* sweptAgo(5)
        const store = { kind: "daemon", name: null } as const
        state.troubles = [aTrouble({ name: "store-failing", about: store, message: "The disk is full." })]
        expect((yield* ask(`${url}/readyz`)).json.reasons).toEqual(["The disk is full."])
        state.troubles = [aTrouble()]
        expect(yield* statuses).toEqual([200, 200])
      })
  )
})
