/** The contract of every store, on any database. `store` is a fresh one with the tables of the present schema. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, type Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { beginning } from "../../src/events/Cursor.ts"
import type { Delivery } from "../../src/store/deliveries.ts"
import { defaultRetention } from "../../src/store/retention.ts"
import { inGroups } from "../../src/store/rows.ts"
import { Store } from "../../src/store/Store.ts"
import { maxTableAccounts } from "../../src/store/watchedAccounts.ts"
import type { StoreFailed } from "../../src/store/StoreFailed.ts"
import { historyOf } from "../diff/oracle/history.ts"
import { changed, created, deleted, delivery, row } from "./facts.ts"
import { expectKept } from "./storedHistory.ts"

const claim = (account: string) => Effect.flatMap(Store, (store) => store.claim(account))

const seqs = (numbered: ReadonlyArray<{ readonly seq: number }>) => numbered.map(({ seq }) => seq)

export const storeContract = (name: string, store: Layer.Layer<Store | SqlClient.SqlClient, StoreFailed>) =>
  describe(`a store over ${name}`, () => {
    it.effect("numbers the events of each account without gaps, whatever other accounts do", () =>
      Effect.gen(function* () {
        const { after, commit } = yield* Store
        const { owner: a } = yield* claim("a")
        const { owner: b } = yield* claim("b")
        const first = yield* commit(a, { events: [created(1, 10), created(2, 10)] })
        yield* commit(b, { events: [created(1, 11)] })
        yield* commit(a, { nodes: [row(1)] })
        yield* commit(a, { events: [changed(1, 12, "created", "running")] })
        expect(seqs(first)).toEqual([1, 2])
        const events = yield* after(beginning, 100)
        expect(events.map(({ account, seq }) => `${account}${seq}`)).toEqual(["a1", "a2", "b1", "a3"])
        for (const { body, id, seq } of events) {
          expect(JSON.parse(body)).toMatchObject({ id, sequence: String(seq).padStart(16, "0") })
        }
        expect(new Set(events.map(({ id }) => id)).size).toBe(4)
      }).pipe(Effect.provide(store))
    )

    it.effect("makes the rows of a large account a group at a time, with turns for others between them", () =>
      Effect.gen(function* () {
        const { commit } = yield* Store
        const { owner } = yield* claim("a")
        let made = 0
        const rows = {
          *[Symbol.iterator]() {
            for (made = 0; made < 5000; made++) yield row(made + 1)
          }
        }
        const turns: Array<number> = []
        // Another fiber, which gives way after each turn.
        const others = yield* Effect.forkChild(Effect.forever(Effect.sync(() => turns.push(made))))
        yield* commit(owner, { nodes: rows })
        yield* Fiber.interrupt(others)
        const steps = turns.filter((at, index) => at !== turns[index - 1])
        expect(steps.length).toBeGreaterThanOrEqual(4)
        expect(Math.max(...steps.slice(1).map((at, index) => at - steps[index]!))).toBeLessThanOrEqual(1000)
      }).pipe(Effect.provide(store))
    )

    it.effect("gives an account back as it was committed, with its stable id and a new epoch", () =>
      Effect.gen(function* () {
        const { commit, nodes } = yield* Store
        const { known, owner } = yield* claim("a")
        expect(known).toEqual({ seq: 0, fingerprint: null, sweptAtMillis: null, standing: null, condition: null })
        const gone = row(2, { goneAtMillis: 2 ** 45, life: 3, changes: 7, status: "terminate" })
        yield* commit(owner, { nodes: [row(1), row(2), row(2, { incarnation: 5 })], events: [created(1, 1)] })
        yield* commit(owner, { nodes: [gone], standing: `{"freeze":null}`, sweptAtMillis: 2 ** 45, fingerprint: "f" })
        const again = yield* claim("a")
        expect(again.owner).toEqual({ ...owner, epoch: owner.epoch + 1 })
        expect(again.known).toEqual({
          seq: 1,
          fingerprint: "f",
          sweptAtMillis: 2 ** 45,
          standing: `{"freeze":null}`,
          condition: null
        })
        expect(yield* Stream.runCollect(nodes("a"))).toEqual([row(1), gone, row(2, { incarnation: 5 })])
        expect(yield* Stream.runCollect(nodes("b"))).toEqual([])
      }).pipe(Effect.provide(store))
    )

    it.effect("keeps what a history of the oracle reports, through each kill", () =>
      expectKept(historyOf(6)).pipe(Effect.provide(store))
    )

    it.effect("refuses an owner that was followed by another, and keeps nothing of what it wrote", () =>
      Effect.gen(function* () {
        const { after, commit, nodes } = yield* Store
        const { owner: old } = yield* claim("a")
        const { owner } = yield* claim("a")
        const refused = yield* Effect.flip(commit(old, { nodes: [row(1)], events: [created(1, 1)] }))
        expect(refused).toMatchObject({ fault: "lost" })
        expect(yield* Stream.runCollect(nodes("a"))).toEqual([])
        yield* commit(owner, { events: [created(1, 1)] })
        expect(seqs(yield* after(beginning, 10))).toEqual([1])
      }).pipe(Effect.provide(store))
    )

    it.effect("keeps all of a commit or nothing: an id that comes twice takes the nodes and the number with it", () =>
      Effect.gen(function* () {
        const { commit, heads, nodes } = yield* Store
        const { owner } = yield* claim("a")
        yield* commit(owner, { events: [created(1, 1)] })
        const twice = commit(owner, { nodes: [row(2)], events: [created(2, 1), created(1, 1)] })
        expect(yield* Effect.flip(twice)).toMatchObject({ fault: "repeated" })
        expect(yield* Stream.runCollect(nodes("a"))).toEqual([])
        expect(yield* heads).toEqual([{ account: "a", accountId: owner.accountId, seq: 1, sweptAtMillis: null }])
      }).pipe(Effect.provide(store))
    )

    it.effect("takes more nodes and events in one commit than a statement has parameters", () =>
      Effect.gen(function* () {
        const { after, commit, nodes } = yield* Store
        const { owner } = yield* claim("a")
        const ids = Array.from({ length: 5000 }, (_, index) => index + 1)
        yield* commit(owner, { nodes: ids.map((id) => row(id)), events: ids.map((id) => created(id, id)) })
        expect((yield* Stream.runCollect(nodes("a"))).map(({ id }) => id)).toEqual(ids)
        expect(seqs(yield* after(4990, 100))).toEqual(ids.slice(4990))
      }).pipe(Effect.provide(store))
    )

    it.effect("reads events by account, type and node, so many at a time", () =>
      Effect.gen(function* () {
        const { after, commit, latest } = yield* Store
        const { owner: a } = yield* claim("a")
        const { owner: b } = yield* claim("b")
        yield* commit(a, { events: [created(1, 1), created(2, 2), changed(1, 3, "created", "running")] })
        yield* commit(b, { events: [created(1, 4)] })
        const read = (...args: Parameters<typeof after>) =>
          Effect.map(after(...args), (events) => events.map(({ account, seq }) => `${account}${seq}`))
        expect(yield* read(beginning, 2)).toEqual(["a1", "a2"])
        expect(yield* read(2, 9)).toEqual(["a3", "b1"])
        expect(yield* read(beginning, 9, { account: "b" })).toEqual(["b1"])
        expect(yield* read(beginning, 9, { node: 1 })).toEqual(["a1", "a3", "b1"])
        expect(yield* read(beginning, 9, { type: "berth.node.status_changed" })).toEqual(["a3"])
        expect(yield* read(beginning, 9, { type: "berth.node.c*" })).toEqual(["a1", "a2", "b1"])
        expect(yield* read(beginning, 2, { type: "berth.node.*" })).toEqual(["a1", "a2"])
        expect(yield* read(beginning, 9, { type: "berth.*", account: "a" })).toEqual(["a1", "a2", "a3"])
        expect(yield* read(beginning, 9, { type: "berth.node.s*", node: 1 })).toEqual(["a3"])
        expect(yield* read(beginning, 9, { type: "berth.nothing.*" })).toEqual([])
        const last = Effect.map(latest(2, { type: "berth.node.c*" }), (events) => seqs(events))
        expect(yield* last).toEqual([2, 1])
      }).pipe(Effect.provide(store))
    )

    it.effect("reads deletions by their cause", () =>
      Effect.gen(function* () {
        const { after, commit, latest } = yield* Store
        const { owner } = yield* claim("a")
        const causes = ["unknown", "requested", "unknown", "lease"] as const
        yield* commit(owner, { events: [created(9, 1), ...causes.map((cause, id) => deleted(id + 1, 2, cause))] })
        expect(seqs(yield* after(beginning, 9, { cause: "unknown" }))).toEqual([2, 4])
        expect(seqs(yield* after(beginning, 9, { cause: "lease", type: "berth.node.*" }))).toEqual([5])
        expect(seqs(yield* after(beginning, 9, { cause: "unknown", node: 3 }))).toEqual([4])
        expect(seqs(yield* after(beginning, 9, { cause: "unknown", type: "berth.node.created" }))).toEqual([])
        expect(seqs(yield* latest(1, { cause: "unknown", account: "a" }))).toEqual([4])
        expect(seqs(yield* after(beginning, 9, { cause: "commitment" }))).toEqual([])
      }).pipe(Effect.provide(store))
    )

    it.effect("wakes waiting readers, and answers later ones", () =>
      Effect.gen(function* () {
        const { commit, newEvents } = yield* Store
        const { owner } = yield* claim("a")
        const waiting = yield* Effect.forkChild(newEvents(0), { startImmediately: true })
        yield* commit(owner, { nodes: [row(1)] })
        expect(waiting.pollUnsafe()).toBe(undefined)
        yield* commit(owner, { events: [created(1, 1)] })
        const seen = yield* Fiber.join(waiting)
        expect(yield* newEvents(0)).toBe(seen)
      }).pipe(Effect.provide(store))
    )

    it.effect("shows the nodes of an instant, from what later events state as before", () =>
      Effect.gen(function* () {
        const { commit, nodesAt, oldest } = yield* Store
        const { owner } = yield* claim("a")
        yield* commit(owner, { nodes: [row(1), row(2), row(9)], events: [] })
        expect(yield* oldest("a")).toBe(null)
        yield* commit(owner, { events: [changed(1, 10, "created", "running")] })
        yield* commit(owner, { nodes: [row(3)], events: [created(3, 20)] })
        yield* commit(owner, { nodes: [row(2, { goneAtMillis: 30 })], events: [deleted(2, 30)] })
        yield* commit(owner, {
          nodes: [row(1, {}, { status: "power-off" })],
          events: [changed(1, 40, "running", "power-off")]
        })
        const at = (millis: number) =>
          Effect.map(nodesAt(millis, "a"), (nodes) =>
            nodes.map(({ id, record }) => `${id} ${String((record as { status: string }).status)}`)
          )
        expect(yield* at(5)).toEqual(["1 created", "2 running", "9 running"])
        expect(yield* at(10)).toEqual(["1 running", "2 running", "9 running"])
        expect(yield* at(25)).toEqual(["1 running", "2 running", "3 running", "9 running"])
        expect(yield* at(30)).toEqual(["1 running", "3 running", "9 running"])
        expect(yield* at(50)).toEqual(["1 power-off", "3 running", "9 running"])
        expect(yield* oldest("a")).toBe(10)
      }).pipe(Effect.provide(store))
    )

    it.effect("moves a sink's place together with the deliveries that follow from it", () =>
      Effect.gen(function* () {
        const { bodyOf, commit, deliveries, meet, placesOf, take } = yield* Store
        const { owner } = yield* claim("a")
        const [event] = yield* commit(owner, { events: [created(1, 1)] })
        expect([yield* meet("ops"), yield* meet("ops")]).toEqual([true, false])
        yield* take({ sink: "ops", after: null, account: "a", seq: 1, deliveries: [delivery(1)], dropped: [] })
        yield* take({
          sink: "ops",
          after: 1,
          account: "a",
          seq: 3,
          deliveries: [delivery(3, { body: "{}", held: "{}", dueMillis: 9 })],
          dropped: [delivery(1)]
        })
        expect(yield* placesOf("ops")).toEqual(new Map([["a", 3]]))
        expect(yield* deliveries("ops", ["a", "b"], 9)).toEqual([delivery(3, { body: "{}", held: "{}", dueMillis: 9 })])
        expect(yield* bodyOf("ops", delivery(3))).toBe("{}")
        yield* take({ sink: "ops", after: 3, account: "a", seq: 4, deliveries: [delivery(1)], dropped: [] })
        expect(yield* bodyOf("ops", delivery(1))).toBe(event!.body)
        expect(yield* bodyOf("ops", delivery(7))).toBe(null)
        expect(yield* placesOf("other")).toEqual(new Map())
      }).pipe(Effect.provide(store))
    )

    it.effect("keeps what failed with its next instant, and a dead letter until it is revived", () =>
      Effect.gen(function* () {
        const { backlog, commit, deadLetters, deliveries, meet, record, retry, sinks, take } = yield* Store
        const { owner } = yield* claim("a")
        yield* commit(owner, { events: [created(1, 1), created(2, 1), created(3, 1)] })
        yield* meet("ops")
        yield* take({
          sink: "ops",
          after: null,
          account: "a",
          seq: 2,
          deliveries: [delivery(1), delivery(2, { node: 2 })],
          dropped: []
        })
        yield* record("ops", [{ _tag: "Due", delivery: delivery(1, { attempt: 3, dueMillis: 50 }) }], 7)
        expect(yield* deliveries("ops", ["a", "b"], 1)).toEqual([delivery(1, { attempt: 3, dueMillis: 50 })])
        expect((yield* sinks)[0]).toMatchObject({ name: "ops", disabled: null, failingSinceMillis: 7 })
        yield* TestClock.setTime(60)
        yield* record("ops", [{ _tag: "GivenUp", delivery: delivery(1, { attempt: 10 }), reason: "500" }], 7)
        expect(yield* deadLetters("ops", 9)).toEqual([
          {
            account: "a",
            seq: 1,
            node: 1,
            id: "id-1",
            attempts: 10,
            reason: "500",
            diedAtMillis: 60,
            body: expect.stringContaining('"specversion"')
          }
        ])
        expect(yield* backlog("ops")).toEqual({ unread: 1, pending: 1, silenced: 0, dead: 1 })
        const second = delivery(2, { node: 2 })
        yield* record("ops", [{ _tag: "Delivered", delivery: second }], null)
        expect((yield* sinks)[0]?.failingSinceMillis).toBe(null)
        yield* take({
          sink: "ops",
          after: 2,
          account: "a",
          seq: 2,
          deliveries: [{ ...second, attempt: 2, dueMillis: 9999 }],
          dropped: []
        })
        expect(yield* retry("ops")).toEqual({ dead: 1, waiting: 1 })
        expect(yield* backlog("ops")).toEqual({ unread: 1, pending: 2, silenced: 0, dead: 0 })
        expect(yield* deliveries("ops", ["a", "b"], 9)).toEqual([
          delivery(1, { dueMillis: 60, body: expect.stringContaining('"specversion"') }),
          { ...second, dueMillis: 60 }
        ])
      }).pipe(Effect.provide(store))
    )

    it.effect("revives one dead letter of a sink, and returns them in pages", () =>
      Effect.gen(function* () {
        const { commit, deadLetters, deliveries, meet, record, revive, take } = yield* Store
        const { owner } = yield* claim("a")
        yield* commit(owner, { events: [created(1, 1), created(2, 1), created(3, 1)] })
        for (const sink of ["ops", "other"]) {
          yield* meet(sink)
          const all = [1, 2, 3].map((seq) => delivery(seq))
          yield* take({ sink, after: null, account: "a", seq: 3, deliveries: all, dropped: [] })
          yield* record(
            sink,
            all.map((each) => ({ _tag: "GivenUp", delivery: each, reason: "500" }) as const),
            null
          )
        }
        const idsOf = (letters: ReadonlyArray<{ readonly id: string }>) => letters.map(({ id }) => id)
        const first = yield* deadLetters("ops", 2)
        expect(idsOf(first)).toEqual(["id-1", "id-2"])
        expect(idsOf(yield* deadLetters("ops", 2, first[1]))).toEqual(["id-3"])
        expect([yield* revive("ops", "id-2"), yield* revive("ops", "id-2")]).toEqual([true, false])
        expect(idsOf(yield* deadLetters("ops", 9))).toEqual(["id-1", "id-3"])
        expect(idsOf(yield* deliveries("ops", ["a", "b"], 9))).toEqual(["id-2"])
        expect(idsOf(yield* deadLetters("other", 9))).toHaveLength(3)
      }).pipe(Effect.provide(store))
    )

    it.effect("puts a sink back to a cursor, and drops the deliveries that it will make again, but no others", () =>
      Effect.gen(function* () {
        const { commit, cursorOf, deliveries, meet, placesOf, replay, take } = yield* Store
        const { owner } = yield* claim("a")
        const { owner: b } = yield* claim("b")
        const events = yield* commit(owner, { events: [1, 2, 3, 4, 5].map((id) => created(id, id)) })
        const logged = (seq: number, over: Partial<Delivery> = {}) =>
          delivery(seq, { id: events[seq - 1]!.id, ...over })
        yield* meet("ops")
        // A node that the sink starts with, which is not in the log; and a change that was held back.
        const node = delivery(5, { node: 7, body: "{}" })
        const taken = [logged(2), logged(4), node, logged(5, { body: "{}", held: "{}" })]
        yield* take({ sink: "ops", after: null, account: "a", seq: 5, deliveries: taken, dropped: [] })
        yield* commit(b, { events: [created(1, 6), created(2, 7)] })
        yield* take({ sink: "ops", after: null, account: "b", seq: 1, deliveries: [], dropped: [] })
        yield* take({ sink: "ops", after: null, account: "c", seq: 0, deliveries: [], dropped: [] })
        // The first event that the sink has not read is the seventh.
        expect([yield* cursorOf("ops"), yield* cursorOf("other")]).toEqual([6, 7])
        yield* replay("ops", 6)
        expect(yield* placesOf("ops")).toEqual(new Map(Object.entries({ a: 5, b: 1, c: 0 })))
        yield* replay("ops", 3, "b")
        expect(yield* placesOf("ops")).toEqual(new Map(Object.entries({ a: 5, b: 0, c: 0 })))
        yield* replay("ops", 3)
        expect(yield* placesOf("ops")).toEqual(new Map(Object.entries({ a: 3, b: 0, c: 0 })))
        expect(yield* cursorOf("ops")).toBe(3)
        expect(yield* deliveries("ops", ["a", "b"], 9)).toEqual([logged(2), node])
      }).pipe(Effect.provide(store))
    )

    it.effect("removes events that are too old or too many, but none that a sink still needs", () =>
      Effect.gen(function* () {
        const { after, commit, meet, nodes, prune, setDisabled, take } = yield* Store
        const { owner } = yield* claim("a")
        yield* commit(owner, {
          nodes: [row(1, { goneAtMillis: 1 }), row(2)],
          events: [1, 2, 3, 4, 5, 6].map((id) => created(id, id))
        })
        const kept = Effect.map(after(beginning, 99), (events) => seqs(events))
        const policy = { ...defaultRetention, eventsMillis: 1000, tombstonesMillis: 1000 }
        yield* TestClock.setTime(1003)
        for (const sink of ["slow", "read"]) yield* meet(sink)
        yield* take({ sink: "read", after: null, account: "a", seq: 6, deliveries: [delivery(2)], dropped: [] })
        yield* take({ sink: "slow", after: null, account: "a", seq: 0, deliveries: [], dropped: [] })
        const sinks = ["slow", "read"]
        expect([yield* prune(policy, sinks), yield* kept]).toEqual([0, [1, 2, 3, 4, 5, 6]])
        yield* setDisabled("slow", { reason: "lagging", message: "too far behind" })
        expect([yield* prune(policy, sinks), yield* kept]).toEqual([1, [2, 3, 4, 5, 6]])
        yield* take({ sink: "read", after: 6, account: "a", seq: 6, deliveries: [], dropped: [delivery(2)] })
        expect([yield* prune(policy, sinks), yield* kept]).toEqual([1, [3, 4, 5, 6]])
        expect([yield* prune({ ...policy, maxEvents: 1 }, sinks), yield* kept]).toEqual([3, [6]])
        expect((yield* Stream.runCollect(nodes("a"))).map(({ id }) => id)).toEqual([2])
        yield* commit(owner, { events: [created(7, 7)] })
        expect(yield* kept).toEqual([6, 7])
      }).pipe(Effect.provide(store))
    )

    it.effect("removes the oldest events of a store that is too large, but none that a sink still needs", () =>
      Effect.gen(function* () {
        const { after, commit, meet, prune, take } = yield* Store
        const { owner } = yield* claim("a")
        const ids = Array.from({ length: 3000 }, (_, index) => index + 1)
        yield* commit(owner, { events: ids.map((id) => created(id, id)) })
        yield* meet("ops")
        yield* take({ sink: "ops", after: null, account: "a", seq: 2500, deliveries: [], dropped: [] })
        const policy = { ...defaultRetention, eventsMillis: 1e12 }
        expect(yield* prune(policy, ["ops"])).toBe(0)
        const some = yield* prune({ ...policy, maxBytes: 2_500_000 }, ["ops"])
        expect(some).toBeGreaterThan(0)
        expect(some).toBeLessThan(2500)
        expect(yield* prune({ ...policy, maxBytes: 1 }, ["ops"])).toBe(2500 - some)
        expect(seqs(yield* after(beginning, 1))).toEqual([2501])
      }).pipe(Effect.provide(store))
    )

    it.effect("names the sink that holds most of a store that is too large", () =>
      Effect.gen(function* () {
        const { commit, holderOf, meet, prune, setDisabled, take } = yield* Store
        const { owner } = yield* claim("a")
        yield* commit(owner, { events: Array.from({ length: 3000 }, (_, index) => created(index + 1, index)) })
        const sinks = ["slow", "stuck", "read"]
        for (const sink of [...sinks, "old"]) yield* meet(sink)
        yield* take({ sink: "read", after: null, account: "a", seq: 3000, deliveries: [], dropped: [] })
        yield* take({ sink: "slow", after: null, account: "a", seq: 1000, deliveries: [], dropped: [] })
        yield* take({ sink: "stuck", after: null, account: "a", seq: 3000, deliveries: [delivery(7)], dropped: [] })
        yield* take({ sink: "old", after: null, account: "a", seq: 0, deliveries: [], dropped: [] })
        expect(yield* holderOf(1e10, sinks)).toBe(null)
        expect(yield* holderOf(1, sinks)).toEqual({ sink: "slow", events: 2000 })
        yield* setDisabled("slow", { reason: "lagging", message: "no room" })
        expect(yield* holderOf(1, sinks)).toEqual({ sink: "stuck", events: 1 })
        expect(yield* prune({ ...defaultRetention, eventsMillis: 1e12, maxBytes: 1 }, sinks)).toBe(6)
        yield* setDisabled("stuck", { reason: "lagging", message: "no room" })
        expect(yield* holderOf(1, sinks)).toBe(null)
        expect(yield* prune({ ...defaultRetention, eventsMillis: 1e12, maxBytes: 1 }, sinks)).toBe(2994)
      }).pipe(Effect.provide(store))
    )

    it.effect("keeps nothing for a sink that is no longer configured", () =>
      Effect.gen(function* () {
        const { after, commit, meet, prune, take } = yield* Store
        const { owner } = yield* claim("a")
        yield* commit(owner, { events: [created(1, 1), created(2, 2)] })
        yield* meet("old")
        yield* take({ sink: "old", after: null, account: "a", seq: 1, deliveries: [delivery(1)], dropped: [] })
        yield* TestClock.setTime(5000)
        const policy = { ...defaultRetention, eventsMillis: 1000 }
        expect(yield* prune(policy, ["old"])).toBe(0)
        expect(yield* prune(policy, [])).toBe(2)
        expect(yield* after(beginning, 9)).toEqual([])
      }).pipe(Effect.provide(store))
    )

    it.effect("lets one of two commits that run at once wait for the other", () =>
      Effect.gen(function* () {
        const { after, commit } = yield* Store
        const { owner } = yield* claim("a")
        const ids = Array.from({ length: 20 }, (_, index) => index + 1)
        const commits = yield* Effect.forEach(ids, (id) => Effect.exit(commit(owner, { events: [created(id, id)] })), {
          concurrency: "unbounded"
        })
        expect(commits.every(Exit.isSuccess)).toBe(true)
        expect(seqs(yield* after(beginning, 99))).toEqual(ids)
      }).pipe(Effect.provide(store))
    )

    describe("the table of accounts", () => {
      const acme = { name: "acme", baseUrl: "https://a", credentials: "{}", options: "{}" }
      const changes = (after: number) =>
        Effect.flatMap(Store, ({ watchedAccounts }) =>
          Effect.map(watchedAccounts(after), (rows) =>
            rows.map(({ name, revision, state }) => `${revision} ${name} ${state}`)
          )
        )

      it.effect("gives what changed after a revision, removals among it", () =>
        Effect.gen(function* () {
          const { addWatchedAccount, setWatchedState, watchedAccounts } = yield* Store
          expect(yield* changes(0)).toEqual([])
          expect(yield* addWatchedAccount(acme, false)).toBe("added")
          expect(yield* addWatchedAccount({ ...acme, name: "beta" }, false)).toBe("added")
          expect(yield* watchedAccounts(0)).toEqual([
            { ...acme, state: "active", revision: 1 },
            { ...acme, name: "beta", state: "active", revision: 2 }
          ])
          expect(yield* setWatchedState("acme", "paused")).toBe(true)
          expect(yield* changes(2)).toEqual(["3 acme paused"])
          expect(yield* setWatchedState("beta", "removed")).toBe(true)
          expect(yield* changes(2)).toEqual(["3 acme paused", "4 beta removed"])
          expect(yield* setWatchedState("beta", "active"), "it is gone").toBe(false)
          expect(yield* setWatchedState("gamma", "paused")).toBe(false)
          expect(yield* changes(4)).toEqual([])
          expect(yield* changes(5), "a standby does not have it").toEqual(["3 acme paused", "4 beta removed"])
        }).pipe(Effect.provide(store))
      )

      it.effect("keeps nothing of the credentials of an account that was removed", () =>
        Effect.gen(function* () {
          const { addWatchedAccount, setWatchedState, watchedAccounts } = yield* Store
          yield* addWatchedAccount({ ...acme, credentials: "sealed" }, false)
          yield* setWatchedState("acme", "removed")
          expect((yield* watchedAccounts(0)).map(({ credentials }) => credentials)).toEqual(["{}"])
        }).pipe(Effect.provide(store))
      )

      it.effect("has each name once, replaces it on request, and keeps it paused", () =>
        Effect.gen(function* () {
          const { addWatchedAccount, setWatchedState, watchedAccounts } = yield* Store
          yield* addWatchedAccount(acme, false)
          yield* setWatchedState("acme", "paused")
          const other = { ...acme, baseUrl: "https://b", credentials: "c", options: "o" }
          expect(yield* addWatchedAccount(other, false)).toBe("known")
          expect(yield* changes(2)).toEqual([])
          expect(yield* addWatchedAccount(other, true)).toBe("replaced")
          expect(yield* watchedAccounts(2)).toEqual([{ ...other, state: "paused", revision: 3 }])
          yield* setWatchedState("acme", "removed")
          expect(yield* addWatchedAccount(acme, false), "after a removal it is a new one").toBe("added")
          expect(yield* watchedAccounts(0)).toEqual([{ ...acme, state: "active", revision: 5 }])
        }).pipe(Effect.provide(store))
      )

      it.effect("takes other credentials only for accounts that did not change meanwhile", () =>
        Effect.gen(function* () {
          const { addWatchedAccount, resealWatched, watchedAccounts } = yield* Store
          yield* addWatchedAccount(acme, false)
          yield* addWatchedAccount({ ...acme, name: "beta" }, false)
          yield* addWatchedAccount({ ...acme, credentials: "newer" }, true)
          const resealed = [
            { name: "acme", revision: 1, credentials: "resealed" },
            { name: "beta", revision: 2, credentials: "resealed" }
          ]
          expect(yield* resealWatched(resealed)).toBe(1)
          const rows = yield* watchedAccounts(0)
          expect(rows.map(({ credentials, name }) => [name, credentials])).toEqual([
            ["acme", "newer"],
            ["beta", "resealed"]
          ])
        }).pipe(Effect.provide(store))
      )

      it.effect("misses no change of several that are made at once", () =>
        Effect.gen(function* () {
          const { addWatchedAccount, watchedAccounts } = yield* Store
          const names = Array.from({ length: 20 }, (_, index) => `a${index}`)
          yield* Effect.forEach(names, (name) => addWatchedAccount({ ...acme, name }, false), {
            concurrency: "unbounded"
          })
          const revisions = (yield* watchedAccounts(0)).map(({ revision }) => revision)
          expect(revisions).toEqual(names.map((_, index) => index + 1))
        }).pipe(Effect.provide(store))
      )

      it.effect("takes as many accounts as a config may have", () =>
        Effect.gen(function* () {
          const { addWatchedAccount, setWatchedState } = yield* Store
          const sql = yield* SqlClient.SqlClient
          const rows = Array.from({ length: maxTableAccounts }, (_, index) => ({
            name: `a${index}`,
            base_url: "",
            credentials: "",
            options: "",
            state: "active",
            revision: index + 1
          }))
          for (const group of inGroups(rows)) yield* sql`INSERT INTO watched_account ${sql.insert(group)}`
          expect(yield* addWatchedAccount(acme, false)).toBe("full")
          expect(yield* addWatchedAccount({ ...acme, name: "a7" }, true)).toBe("replaced")
          yield* setWatchedState("a8", "removed")
          expect(yield* addWatchedAccount(acme, false)).toBe("added")
        }).pipe(Effect.provide(store))
      )
    })

    describe("what accounts spend", () => {
      const day = (number: number, body: string) => ({ day: number, body })

      it.effect("is given back from a day on, with the last one before it, of one account or of all", () =>
        Effect.gen(function* () {
          const { commit, spendDays, spends } = yield* Store
          const { owner: a } = yield* claim("a")
          const { owner: b } = yield* claim("b")
          yield* commit(a, { spend: "first", spendDays: [day(20_000, "1"), day(20_003, "2"), day(20_009, "3")] })
          yield* commit(b, { spend: "other", spendDays: [day(20_001, "4")] })
          yield* commit(a, { fingerprint: "of a", spend: "second", spendDays: [day(20_009, "5")] })
          expect(yield* spends(undefined)).toEqual([
            { account: "a", body: "second", fingerprint: "of a" },
            { account: "b", body: "other", fingerprint: null }
          ])
          expect(yield* spends("b")).toEqual([{ account: "b", body: "other", fingerprint: null }])
          const bodies = (from: number, account?: string) =>
            Effect.map(spendDays(from, account), (rows) =>
              rows.map(({ account, body, day }) => `${account} ${day} ${body}`)
            )
          expect(yield* bodies(20_005)).toEqual(["a 20003 2", "a 20009 5", "b 20001 4"])
          expect(yield* bodies(20_000, "a")).toEqual(["a 20000 1", "a 20003 2", "a 20009 5"])
          expect(yield* bodies(19_000, "b")).toEqual(["b 20001 4"])
          expect(yield* bodies(20_005, "c")).toEqual([])
        }).pipe(Effect.provide(store))
      )

      it.effect("forgets days that are older than two years", () =>
        Effect.gen(function* () {
          const { commit, spendDays } = yield* Store
          const { owner } = yield* claim("a")
          yield* commit(owner, { spend: "", spendDays: [day(20_000, "1"), day(20_100, "2")] })
          yield* commit(owner, { spend: "", spendDays: [day(20_850, "3")] })
          expect((yield* spendDays(0, "a")).map(({ day }) => day)).toEqual([20_100, 20_850])
        }).pipe(Effect.provide(store))
      )
    })
  })
