import { exactPrice } from "@berthkit/core/domain/Price"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { SinkOptions } from "../../src/deliver/SinkOptions.ts"
import { Sinks } from "../../src/deliver/Sinks.ts"
import { Stdout } from "../../src/deliver/Stdout.ts"
import { Daemon } from "../../src/http/Daemon.ts"
import { storeDaemon } from "../../src/http/storeDaemon.ts"
import { stdoutSink } from "../../src/settings/storeSettings.ts"
import { defaultRetention } from "../../src/store/retention.ts"
import { Store } from "../../src/store/Store.ts"
import type { SinkStatus } from "../../src/http/records.ts"
import { Troubles } from "../../src/troubles/Troubles.ts"
import { Progress } from "../../src/telemetry/Progress.ts"
import { writeCatalogue } from "../../src/diff/catalogue/Catalogue.ts"
import { aPlan } from "../diff/catalogue/reading.ts"
import { changed, created, deleted, row } from "../store/facts.ts"
import { ask } from "./http.ts"
import { HttpInterface, type HttpOptions, serve } from "../../src/http/HttpInterface.ts"
import { memoryStore as store } from "../store/memory.ts"

const execSink = (name: string, command: string): SinkOptions => ({
  ...stdoutSink,
  name,
  target: { _tag: "Exec", command: [command], timeoutMillis: 5000, variables: [] }
})

const sinkOptions = [execSink("good", "true"), execSink("bad", "false")]

const sinks = Sinks.layer(sinkOptions, []).pipe(Layer.provide(Stdout.layer))
const daemonOf = (...accounts: ReadonlyArray<string>) =>
  storeDaemon(sinkOptions).pipe(
    Layer.provideMerge(Troubles.layer(defaultRetention)),
    Layer.provideMerge(sinks),
    Layer.provideMerge(Layer.mergeAll(store, Progress.layer(accounts)))
  )
const daemon = daemonOf()

const claim = (account: string) =>
  Effect.flatMap(Store, (store) => Effect.map(store.claim(account), ({ owner }) => owner))

const utc = (millis: number) => DateTime.makeUnsafe(millis)

describe("a daemon over a store", () => {
  it.effect("adds up a month for the metrics once a minute", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const { costs, monthCosts } = yield* Daemon
      const marks = { reported: [], nodes: [] }
      const spend = JSON.stringify({
        sinceMillis: 0,
        pricedMillis: null,
        changedPlans: [],
        groups: [],
        budget: null,
        marks
      })
      const names = (all: ReadonlyArray<{ readonly account: string }>) => all.map(({ account }) => account)
      yield* commit(yield* claim("a"), { spend })
      expect(names(yield* monthCosts)).toEqual(["a"])
      yield* commit(yield* claim("b"), { spend })
      expect(names(yield* monthCosts)).toEqual(["a"])
      expect(names(yield* costs({}, 0))).toEqual(["a", "b"])
      yield* TestClock.adjust("1 minute")
      expect(names(yield* monthCosts)).toEqual(["a", "b"])
    }).pipe(Effect.provide(daemonOf("a", "b")))
  )

  it.effect("gives its nodes page by page, over all accounts that it watches or of one, and none that is gone", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const { nodeCounts, nodes } = yield* Daemon
      const gone = row(9, { goneAtMillis: 1 })
      const [a, b] = [yield* claim("a"), yield* claim("b")]
      yield* commit(a, {
        nodes: [row(1), row(2), gone, row(10), row(3, {}, { plan: "small" })],
        events: [created(1, 1)]
      })
      yield* commit(b, { nodes: [row(1), row(4)] })
      yield* commit(yield* claim("before"), { nodes: [row(1), row(2)] })
      const read = Effect.fnUntraced(function* (account?: string) {
        const seen: Array<string> = []
        for (let after: string | undefined; ;) {
          const page = yield* nodes({ account, after, limit: 2 })
          expect(page.cursor).toBe("1")
          expect(page.nodes).toHaveLength(2)
          seen.push(...page.nodes.map(({ account, id }) => `${account}${id}`))
          if (page.next === null) return seen
          after = page.next
        }
      })
      expect(yield* read()).toEqual(["a1", "a2", "a3", "a10", "b1", "b4"])
      expect(yield* read("b")).toEqual(["b1", "b4"])
      expect(yield* read("before")).toEqual(["before1", "before2"])
      expect(yield* nodeCounts).toEqual([
        { account: "a", status: "running", plan: "A-1VCPU-1RAM-15DISK", count: 3 },
        { account: "a", status: "running", plan: "small", count: 1 },
        { account: "b", status: "running", plan: "A-1VCPU-1RAM-15DISK", count: 2 }
      ])
      expect(yield* Effect.flip(nodes({ after: "nonsense", limit: 1 }))).toMatchObject({ kind: "invalid" })
      expect(yield* Effect.flip(nodes({ account: "c", limit: 1 }))).toMatchObject({ kind: "unknown" })
    }).pipe(Effect.provide(daemonOf("b", "a")))
  )

  it.effect("gives the nodes of an instant, as far back as events are kept", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const { nodes } = yield* Daemon
      const a = yield* claim("a")
      yield* commit(a, { nodes: [row(1), row(2)], events: [created(1, 1000), created(2, 2000)] })
      yield* commit(a, { nodes: [row(1, { goneAtMillis: 3000 })], events: [deleted(1, 3000)] })
      const idsAt = (millis: number) =>
        Effect.map(nodes({ at: utc(millis), limit: 10 }), (page) => page.nodes.map(({ id }) => Number(id)))
      expect(yield* idsAt(1500)).toEqual([1])
      expect(yield* idsAt(2500)).toEqual([1, 2])
      expect(yield* idsAt(3500)).toEqual([2])
      expect(yield* Effect.flip(nodes({ at: utc(999), limit: 10 }))).toMatchObject({ kind: "gone" })
    }).pipe(Effect.provide(daemon))
  )

  it.effect("gives a reader that continues at its position every matching event once, whatever the page size", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const { cursor, events } = yield* Daemon
      const [a, b] = [yield* claim("a"), yield* claim("b")]
      for (let id = 1; id <= 12; id++) {
        yield* commit(id % 3 === 0 ? b : a, { events: [created(id, id), changed(id, id, "created", "running")] })
      }
      yield* commit(a, { events: [deleted(12, 99)] })
      for (const [filter, count] of [
        [{}, 25],
        [{ type: "berth.node.*" }, 25],
        [{ type: "berth.node.created" }, 12],
        [{ type: "berth.node.status_*", account: "b" }, 4],
        [{ node: 12 }, 3],
        [{ cause: "unknown" }, 1],
        [{ cause: "requested" }, 0],
        [{ type: "berth.watch.*" }, 0]
      ] as const) {
        for (const limit of [1, 2, 7, 100]) {
          const seen: Array<string> = []
          let after = ""
          for (let more = true; more;) {
            const page = yield* events({ ...filter, after, limit })
            expect(page.events.length).toBeLessThanOrEqual(limit)
            seen.push(...page.events.map(({ event }) => event.id))
            for (const { cursor } of page.events.slice(0, -1)) {
              const rest = yield* events({ ...filter, after: cursor, limit: 100 })
              expect(rest.events.some(({ event }) => event.id === seen.at(-1))).toBe(true)
            }
            after = page.next
            more = page.more
          }
          expect([filter, limit, seen.length, new Set(seen).size]).toEqual([filter, limit, count, count])
          expect(after).toBe(yield* cursor)
          const last = yield* events({ ...filter, limit })
          expect(last.events.map(({ event }) => event.id)).toEqual(seen.slice(-limit))
        }
      }
    }).pipe(Effect.provide(daemon))
  )

  it.effect("refuses a cursor that is invalid, of another store, or too old", () =>
    Effect.gen(function* () {
      const { commit, prune } = yield* Store
      const { events } = yield* Daemon
      const [a, b] = [yield* claim("a"), yield* claim("b")]
      yield* commit(a, { events: [created(1, 1), created(2, 2)] })
      yield* commit(b, { events: [created(3, 3)] })
      yield* commit(a, { events: [created(4, 4)] })
      const refusal = (after: string) =>
        Effect.map(Effect.flip(events({ after, limit: 1 })), ({ kind, message }) => [kind, message])
      expect(yield* refusal("nonsense")).toEqual(["invalid", "nonsense is not a cursor."])
      expect(yield* refusal("5")).toEqual(["invalid", "This cursor belongs to another store."])
      yield* prune({ ...defaultRetention, maxEvents: 1 }, [])
      const gone = ["gone", "Events after this cursor are no longer kept."]
      expect([yield* refusal("1"), (yield* events({ after: "2", limit: 9 })).events.length]).toEqual([gone, 2])
      expect((yield* events({ after: "", limit: 9 })).events).toHaveLength(2)
    }).pipe(Effect.provide(daemon))
  )

  it.effect("wakes a reader when an event is committed behind its cursor, and only then", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const { cursor, eventAfter } = yield* Daemon
      const a = yield* claim("a")
      yield* commit(a, { events: [created(1, 1)] })
      yield* eventAfter("")
      const waiting = yield* Effect.forkChild(eventAfter(yield* cursor), { startImmediately: true })
      yield* commit(a, { nodes: [row(1)] })
      yield* Effect.yieldNow
      expect(waiting.pollUnsafe()).toBe(undefined)
      yield* commit(a, { events: [created(2, 2)] })
      yield* Fiber.join(waiting)
    }).pipe(Effect.provide(daemon))
  )

  it.effect("shows how the polling of each account goes", () =>
    Effect.gen(function* () {
      const { report } = yield* Progress
      const { accounts, troubles } = yield* Daemon
      expect([yield* accounts, yield* troubles]).toEqual([[], []])
      yield* report("a", { intervalMillis: 8000 })
      expect(yield* accounts).toMatchObject([{ account: "a", state: "starting", sweepIntervalMillis: 8000 }])
      expect(yield* accounts).not.toMatchObject([{ sweepIntervalSetMillis: 5000 }])
      yield* report("a", { stretchedMillis: 5000 })
      expect(yield* accounts).toMatchObject([{ sweepIntervalMillis: 8000, sweepIntervalSetMillis: 5000 }])
      yield* report("a", {
        state: "frozen",
        doubt: { message: "half of the list is missing", sinceMillis: 5, isOther: false },
        lastSweep: { endedMillis: 7, durationMillis: 3, requests: 1 }
      })
      expect(yield* accounts).toMatchObject([
        {
          state: "frozen",
          lastSweep: { endedAt: utc(7), requests: 1 },
          sweepIntervalMillis: 8000
        }
      ])
      expect(yield* troubles).toEqual([
        {
          name: "list-not-believed",
          about: { kind: "account", name: "a" },
          severity: "warning",
          message: "The list of nodes cannot be trusted. Half of the list is missing.",
          next: expect.stringMatching(/^Check the nodes /),
          since: utc(5)
        }
      ])
    }).pipe(Effect.provide(daemon))
  )

  it.effect("shows the plans and prices in the store, including removed plans", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const small = aPlan("small", 730)
      const entries = [
        { item: small, version: 0, goneMillis: null },
        { item: aPlan("old", 100), version: 1, goneMillis: 9 }
      ]
      const names = [{ plan: "small-on-ubuntu", sku: "small", image: "Ubuntu-24.04" }]
      const foreignPrices = [{ plan: "old", currency: "USD", perHour: 0.04, perMonth: null }]
      const catalogue = { isBaseline: true, readMillis: 1, images: [], plans: entries, names, foreignPrices }
      yield* commit(yield* claim("a"), { catalogue: writeCatalogue(catalogue) })
      const [one, other] = [exactPrice(1, 730), exactPrice(100 / 730, 100)]
      expect(yield* (yield* Daemon).plans).toEqual([
        {
          account: "a",
          plan: "small",
          ...one,
          prices: [{ ...one, images: ["Ubuntu-24.04"] }],
          slugs: [{ image: "Ubuntu-24.04", slug: "small-on-ubuntu" }],
          foreignPrice: null
        },
        {
          account: "a",
          plan: "old",
          ...other,
          prices: [{ ...other, images: ["Ubuntu-24.04"] }],
          slugs: [],
          foreignPrice: { currency: "USD", perHour: 0.04, perMonth: null }
        }
      ])
    }).pipe(Effect.provide(daemon))
  )

  it.live("gives the dead letters of a sink by pages, each to be delivered alone", () =>
    Effect.gen(function* () {
      const { commit, record, take } = yield* Store
      const { deadLetters, revive, sinks } = yield* Daemon
      const stored = yield* commit(yield* claim("a"), { events: [created(1, 1), created(2, 2)] })
      const given = stored.map(({ id, seq }) => ({
        account: "a",
        seq,
        node: seq,
        id,
        attempt: 10,
        dueMillis: 0,
        held: null,
        body: null
      }))
      yield* take({ sink: "bad", after: null, account: "a", seq: 2, deliveries: given, dropped: [] })
      yield* record(
        "bad",
        given.map((delivery) => ({ _tag: "GivenUp", delivery, reason: "it ended with 1" }) as const),
        null
      )
      const first = yield* deadLetters("bad", { limit: 1 })
      expect(first.deadLetters).toMatchObject([{ attempts: 10, reason: "it ended with 1" }])
      const second = yield* deadLetters("bad", { limit: 1, after: first.next! })
      expect(second.next).toBe(null)
      const found = [...first.deadLetters, ...second.deadLetters]
      expect(found.map(({ event }) => event["subject"]).toSorted()).toEqual(["nodes/1", "nodes/2"])
      yield* Effect.forkScoped((yield* Sinks).run)
      yield* revive("bad", found[0]!.id)
      expect((yield* deadLetters("bad", { limit: 9 })).deadLetters).toEqual([found[1]])
      expect((yield* sinks).find(({ sink }) => sink === "bad")).toMatchObject({ waiting: 1, deadLetters: 1 })
      expect(yield* Effect.flip(revive("bad", found[0]!.id))).toMatchObject({ kind: "unknown" })
      expect(yield* Effect.flip(deadLetters("bad", { limit: 1, after: "x" }))).toMatchObject({ kind: "invalid" })
    }).pipe(Effect.provide(daemon))
  )

  it.effect(
    "has a short cursor for ten thousand accounts, and continues in accounts that are newer than the cursor",
    () =>
      Effect.gen(function* () {
        const { commit } = yield* Store
        const { cursor, events } = yield* Daemon
        const sql = yield* SqlClient.SqlClient
        yield* sql`WITH RECURSIVE number (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM number WHERE at < 10000)
        INSERT INTO account (name, id, epoch, version, seq) SELECT 'account-' || at, 'id-' || at, 0, 0, 0 FROM number`
        const first = yield* claim("account-1")
        yield* commit(first, { events: [created(1, 1)] })
        const end = yield* cursor
        expect(end).toBe("1")
        yield* commit(yield* claim("late"), { events: [created(2, 2)] })
        yield* commit(first, { events: [created(3, 3)] })
        const page = yield* events({ after: end, limit: 9 })
        expect(page.events.map(({ event }) => event.subject)).toEqual(["nodes/2", "nodes/3"])
        expect([page.next, page.events.map(({ cursor }) => cursor)]).toEqual(["3", ["2", "3"]])
      }).pipe(Effect.provide(daemon))
  )

  it.live("shows the sinks and performs their actions", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const { enable, replay, retry, sinks, test } = yield* Daemon
      yield* Effect.forkScoped((yield* Sinks).run)
      const a = yield* claim("a")
      yield* Effect.repeat(sinks, { until: (all) => all.length === 2 })
      yield* commit(a, { events: [created(1, 1), created(2, 2)] })
      const statusOf = (name: string): Effect.Effect<SinkStatus> =>
        Effect.map(sinks, (all) => all.find(({ sink }) => sink === name)!)
      const until = (name: string, isSo: (sink: SinkStatus) => boolean) =>
        Effect.repeat(statusOf(name), { until: isSo })
      const good = yield* until("good", ({ cursor, waiting }) => cursor === "2" && waiting === 0)
      expect(good).toEqual({
        sink: "good",
        kind: "exec",
        state: "up",
        message: null,
        cursor: "2",
        lag: 0,
        waiting: 0,
        silenced: 0,
        deadLetters: 0,
        failingSince: null
      })
      const bad = yield* until("bad", ({ failingSince }) => failingSince !== null)
      expect([bad.waiting, bad.deadLetters]).toEqual([2, 0])
      yield* test("good")
      expect(yield* Effect.flip(test("bad"))).toMatchObject({
        kind: "busy",
        message: "The sink bad failed: it ended with 1."
      })
      for (const act of [enable, retry, test, (name: string) => replay(name, "")]) {
        expect(yield* Effect.flip(act("none"))).toMatchObject({ kind: "unknown" })
      }
      yield* enable("good")
      yield* retry("good")
      expect(yield* Effect.flip(replay("good", "9"))).toMatchObject({ kind: "invalid" })
      yield* replay("good", "")
      yield* until("good", ({ cursor, waiting }) => cursor === "2" && waiting === 0)
    }).pipe(Effect.provide(daemon))
  )

  it.live("is served where the config asks for it, or nowhere", () =>
    Effect.gen(function* () {
      const of = (options: Omit<HttpOptions, "sinks">) =>
        Effect.provide(HttpInterface, HttpInterface.layer({ ...options, sinks: sinkOptions }))
      expect(yield* of({ listen: null, token: null, publicUrl: null })).toEqual({ url: null })
      const refused = yield* Effect.flip(of({ listen: { host: "0.0.0.0", port: 0 }, token: null, publicUrl: null }))
      expect(refused.message).toBe("listen: 0.0.0.0 is reachable from other machines, but no token is set.")
      const listen = { host: "127.0.0.1", port: 0 }
      yield* Effect.gen(function* () {
        const { url } = yield* HttpInterface
        expect((yield* ask(`${url}/api/sinks`)).json.map(({ kind }: { kind: string }) => kind)).toEqual([
          "exec",
          "exec"
        ])
        expect((yield* ask(`${url}/api/status`)).status).toBe(200)
      }).pipe(Effect.provide(HttpInterface.layer({ listen, token: null, publicUrl: null, sinks: sinkOptions })))
    }).pipe(Effect.provide(daemon))
  )

  it.live("counts events by type and sweeps by their duration, for as long as the process runs", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const { report } = yield* Progress
      const url = yield* serve({ host: "127.0.0.1", port: 0 })
      const owner = yield* claim("counted")
      for (const durationMillis of [200, 700]) {
        yield* report("counted", { lastSweep: { endedMillis: 0, durationMillis, requests: 1 } })
      }
      yield* report("counted", { state: "watching" })
      yield* commit(owner, { events: [created(1, 1), created(2, 2)] })
      yield* commit(owner, { events: [deleted(1, 3)] })
      const scrape = Effect.map(ask(`${url}/metrics`), ({ text }) => text)
      const text = yield* Effect.repeat(scrape, { until: (text) => text.includes(`type="berth.node.deleted"} 1`) })
      expect(text).toContain(`berth_events_total{account="counted",type="berth.node.created"} 2`)
      expect(text).toContain(`berth_sweep_duration_seconds_count{account="counted"} 2`)
      expect(text).toContain(`berth_sweep_duration_seconds_bucket{account="counted",le="0.25"} 1`)
    }).pipe(Effect.provide(daemon), Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.live("has the targets of all its accounts, those included that it has not begun to watch", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const { report } = yield* Progress
      const url = yield* serve({ host: "127.0.0.1", port: 0 })
      const targets = Effect.map(ask(`${url}/sd`), ({ json, status }) =>
        status === 200 ? json.map(({ labels }: any) => labels.account) : status
      )
      yield* commit(yield* claim("a"), { nodes: [row(1, {}, { publicIp: "192.0.2.1" })] })
      yield* report("a", { state: "watching" })
      expect(yield* targets).toBe(503)
      yield* commit(yield* claim("b"), { nodes: [row(2, {}, { publicIp: "192.0.2.2" })], events: [created(2, 2)] })
      expect(yield* targets).toEqual(["a", "b"])
    }).pipe(Effect.provide(daemonOf("a", "b")))
  )

  it.live("answers 503 with what is wrong with the store when it fails", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const url = yield* serve({ host: "127.0.0.1", port: 0 })
      expect((yield* ask(`${url}/api/nodes`)).json).toEqual({ nodes: [], next: null, cursor: "" })
      yield* sql`DROP TABLE node`
      const reply = yield* ask(`${url}/api/nodes`)
      expect([reply.status, reply.json.message]).toEqual([
        503,
        expect.stringMatching(/^The store refused a statement: /)
      ])
      expect((yield* ask(`${url}/healthz`)).status).toBe(200)
    }).pipe(Effect.provide(daemonOf("a")))
  )
})
