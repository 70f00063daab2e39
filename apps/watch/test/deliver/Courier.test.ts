import * as SqliteClient from "@berthkit/sql-sqlite/SqliteClient"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Layer, Random } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type Courier, makeCourier } from "../../src/deliver/Courier.ts"
import { delivered, failed, type Outcome } from "../../src/deliver/Health.ts"
import { readEvents } from "../../src/deliver/SinkReader.ts"
import type { SinkOptions } from "../../src/deliver/SinkOptions.ts"
import { beginning } from "../../src/events/Cursor.ts"
import { stdoutSink } from "../../src/settings/storeSettings.ts"
import { Store } from "../../src/store/Store.ts"
import { StoreFailed } from "../../src/store/StoreFailed.ts"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { changed, created } from "../store/facts.ts"
import { memoryStore as store } from "../store/memory.ts"

const sink: SinkOptions = { ...stdoutSink, name: "ops", maxLag: 1000 }

/** A receiver in virtual time: what it was given, and when. */
const receiver = (answer: (event: any, nowMillis: number) => Outcome) => {
  const received: Array<{ readonly id: string; readonly event: any; readonly atMillis: number }> = []
  const attempt = (id: string, body: string) =>
    Effect.map(Clock.currentTimeMillis, (atMillis) => {
      const event = JSON.parse(body)
      received.push({ id, event, atMillis })
      return answer(event, atMillis)
    })
  return { received, attempt }
}

/** Reads and delivers until the scope closes, as a process does until it is killed. */
const running = Effect.fnUntraced(function* (
  attempt: (id: string, body: string) => Effect.Effect<Outcome>,
  options: SinkOptions = sink
) {
  const { meet } = yield* Store
  yield* meet(options.name)
  const courier: Courier = yield* makeCourier(options.name, null, attempt)
  const fiber = yield* Effect.forkScoped(Effect.raceFirst(courier.run, readEvents(options, courier)))
  return { courier, fiber }
})

const claim = Effect.flatMap(Store, (store) => store.claim("a")).pipe(Effect.map(({ owner }) => owner))

/** Runs everything that does not wait for time. The test clock waits only for fibers that it has woken itself. */
const idleNow = Effect.repeat(Effect.yieldNow, { times: 200 })

/** Lets time pass after everything that was committed has been taken in. */
const pass = (duration: Parameters<typeof TestClock.adjust>[0]) => Effect.andThen(idleNow, TestClock.adjust(duration))

const seqsOf = (received: ReadonlyArray<{ readonly event: any }>) => received.map(({ event }) => Number(event.sequence))

const second = 1000
const minute = 60 * second
const hour = 60 * minute

describe("a courier", () => {
  it.effect("serves a receiver that was away for three hours within a minute or so, every event once", () =>
    Effect.gen(function* () {
      const { backlog, commit } = yield* Store
      const owner = yield* claim
      const { attempt, received } = receiver((_, now) => (now < 3 * hour ? failed("unavailable", "503") : delivered))
      yield* running(attempt)
      yield* commit(owner, { events: [1, 2, 3, 4, 5].map((id) => created(id, id)) })
      yield* pass("3 hours")
      // There is one attempt a minute, and only the first attempts count against the deliveries.
      expect(received.length).toBeLessThan(5 + 3 * 67)
      const before = received.length
      yield* pass("67 seconds")
      expect(seqsOf(received.slice(before)).toSorted()).toEqual([1, 2, 3, 4, 5])
      expect(yield* backlog("ops")).toEqual({ unread: 0, pending: 0, silenced: 0, dead: 0 })
    }).pipe(Effect.provide(store))
  )

  it.effect("keeps how many attempts ended in few transactions, because each waits for the disk", () =>
    Effect.gen(function* () {
      const store = yield* Store
      const owner = yield* claim
      let transactions = 0
      const counted = Store.of({ ...store, record: (...args) => (transactions++, store.record(...args)) })
      const { attempt, received } = receiver(({ sequence }) =>
        Number(sequence) % 100 === 0 ? failed("refused", "the receiver answered 400") : delivered
      )
      yield* Effect.provideService(running(attempt), Store, counted)
      yield* store.commit(owner, { events: Array.from({ length: 1000 }, (_, index) => created(index + 1, index)) })
      while (received.length < 1000) yield* pass("10 millis")
      yield* pass("1 second")
      expect(yield* store.backlog("ops")).toEqual({ unread: 0, pending: 10, silenced: 0, dead: 0 })
      expect(transactions).toBeLessThan(20)
    }).pipe(Effect.provide(store))
  )

  it.effect("hands over once its running attempts are stored, and starts no others", () =>
    Effect.gen(function* () {
      const { backlog, commit } = yield* Store
      const owner = yield* claim
      const answer = yield* Deferred.make<Outcome>()
      const begun: Array<string> = []
      const { courier } = yield* running((_, body) => {
        begun.push(JSON.parse(body).type)
        return Deferred.await(answer)
      })
      yield* commit(owner, { events: [created(1, 1), changed(1, 2, "created", "running")] })
      yield* idleNow
      const handing = yield* Effect.forkChild(courier.handOver)
      yield* commit(owner, { events: [created(2, 3)] })
      yield* pass("1 second")
      expect(handing.pollUnsafe()).toBe(undefined)
      yield* Deferred.succeed(answer, delivered)
      yield* pass("1 second")
      expect(handing.pollUnsafe()).toEqual(Exit.void)
      expect(begun).toEqual(["berth.node.created"])
      expect((yield* backlog("ops")).pending).toBe(2)
    }).pipe(Effect.provide(store))
  )

  it.effect("keeps how attempts ended when it is stopped in between", () =>
    Effect.gen(function* () {
      const { backlog, commit } = yield* Store
      const owner = yield* claim
      const hanging = yield* Deferred.make<Outcome>()
      const { fiber } = yield* running((_, body) =>
        JSON.parse(body).subject === "nodes/1" ? Effect.succeed(delivered) : Deferred.await(hanging)
      )
      yield* commit(owner, { events: [created(1, 1), created(2, 2)] })
      yield* idleNow
      yield* Fiber.interrupt(fiber)
      expect(yield* backlog("ops")).toEqual({ unread: 0, pending: 1, silenced: 0, dead: 0 })
    }).pipe(Effect.provide(store))
  )

  it.effect("makes a dead letter of an event that is refused ten times, then continues with the node", () =>
    Effect.gen(function* () {
      const { backlog, commit, deadLetters } = yield* Store
      const owner = yield* claim
      const { attempt, received } = receiver(({ type }) =>
        type === "berth.node.created" ? failed("refused", "the receiver answered 400") : delivered
      )
      yield* running(attempt)
      yield* commit(owner, { events: [created(1, 1), changed(1, 2, "created", "running")] })
      yield* pass("4 days")
      expect(seqsOf(received)).toEqual([...Array.from({ length: 10 }, () => 1), 2])
      expect(yield* deadLetters("ops", 9)).toEqual([
        expect.objectContaining({ seq: 1, attempts: 10, reason: "the receiver answered 400" })
      ])
      expect(yield* backlog("ops")).toEqual({ unread: 0, pending: 0, silenced: 0, dead: 1 })
    }).pipe(Effect.provide(store))
  )

  it.effect("ends for good when the receiver is gone, or nothing succeeds for five days", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const owner = yield* claim
      const gone = yield* running(receiver(() => failed("gone", "the receiver answered 410")).attempt)
      yield* commit(owner, { events: [created(1, 1)] })
      yield* idleNow
      expect(yield* Fiber.join(gone.fiber)).toMatchObject({ reason: "gone" })
      const failing = yield* running(receiver(() => failed("unavailable", "no answer")).attempt)
      yield* pass("119 hours")
      expect(failing.fiber.pollUnsafe()).toBe(undefined)
      yield* pass("2 hours")
      expect(yield* Fiber.join(failing.fiber)).toMatchObject({ reason: "failing" })
    }).pipe(Effect.provide(store))
  )

  it.effect("ends with what goes wrong in an attempt itself, whose answer would never come", () =>
    Effect.gen(function* () {
      const store = yield* Store
      const owner = yield* claim
      const damaged = new StoreFailed({ fault: "damaged", detail: "a page" })
      const faulty = yield* running(() => Effect.die(new Error("no answer")))
      yield* store.commit(owner, { events: [created(1, 1)] })
      yield* idleNow
      expect(String(faulty.fiber.pollUnsafe())).toContain("no answer")
      const failing = Store.of({ ...store, bodyOf: () => damaged })
      const { fiber } = yield* Effect.provideService(running(receiver(() => delivered).attempt), Store, failing)
      yield* idleNow
      expect(fiber.pollUnsafe()).toEqual(Exit.fail(damaged))
    }).pipe(Effect.provide(store))
  )

  it.effect("that is saturated lets its sink fall behind, up to its limit", () =>
    Effect.gen(function* () {
      const { backlog, commit } = yield* Store
      const owner = yield* claim
      const { fiber } = yield* running(() => Effect.never)
      for (let first = 1; first <= 11_000; first += 1000) {
        yield* commit(owner, { events: Array.from({ length: 1000 }, (_, index) => created(first + index, first)) })
        yield* idleNow
      }
      expect([yield* backlog("ops"), fiber.pollUnsafe()]).toEqual([
        { unread: 1000, pending: 10_000, silenced: 0, dead: 0 },
        undefined
      ])
      yield* commit(owner, { events: [created(20_000, 20_000)] })
      yield* idleNow
      expect(yield* Fiber.join(fiber)).toEqual({ _tag: "Behind", unread: 1001 })
    }).pipe(Effect.provide(store))
  )

  it.effect("attempts again after a restart at the instant and with the count that it had", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const owner = yield* claim
      const { attempt, received } = receiver(() => failed("refused", "400"))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* running(attempt)
          yield* commit(owner, { events: [created(1, 1)] })
          yield* pass("1 minute")
        })
      )
      expect(received.length).toBe(2)
      yield* running(attempt)
      yield* pass("3 minutes")
      expect(received.length).toBe(2)
      yield* pass("3 minutes")
      expect(received.length).toBe(3)
    }).pipe(Effect.provide(store))
  )

  it.effect("holds changes of status back until they last, whichever batch they are read in", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const owner = yield* claim
      const { attempt, received } = receiver(() => delivered)
      yield* running(attempt, { ...sink, forMillis: 30 * second })
      const now = Clock.currentTimeMillis
      const flap = Effect.fnUntraced(function* (from: "running" | "power-off", to: "running" | "power-off") {
        yield* commit(owner, { events: [changed(1, yield* now, from, to)] })
        yield* pass("10 seconds")
      })
      yield* flap("running", "power-off")
      yield* flap("power-off", "running")
      yield* flap("running", "power-off")
      yield* pass("10 minutes")
      expect(received.map(({ atMillis, event }) => [Number(event.sequence), event.data.from, atMillis])).toEqual([
        [3, "running", 50_000]
      ])
    }).pipe(Effect.provide(store))
  )

  it.effect("loses no event and keeps the order of each node, killed at any step, under a receiver that fails", () =>
    Effect.gen(function* () {
      const { after, backlog, commit } = yield* Store
      const owner = yield* claim
      let calls = 0
      // The receiver fails a third of the time, and a tenth of its answers are lost on the way.
      const { attempt, received } = receiver(() => (++calls % 3 === 0 ? failed("unavailable", "500") : delivered))
      const lossy = (id: string, body: string) =>
        Effect.map(attempt(id, body), (outcome) => (calls % 10 === 7 ? failed("unavailable", "ECONNRESET") : outcome))
      let version = 0
      for (let run = 0; run < 40; run++) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* running(lossy)
            for (let node = 1; node <= 5; node++) {
              yield* commit(owner, { events: [changed(node, version, "running", "power-off", ++version)] })
            }
            for (let steps = yield* Random.nextIntBetween(0, 60); steps > 0; steps--) yield* Effect.yieldNow
          })
        )
      }
      const { courier } = yield* running(lossy)
      yield* pass("3 days")
      yield* courier.idle
      expect(yield* backlog("ops")).toEqual({ unread: 0, pending: 0, silenced: 0, dead: 0 })
      const events = yield* after(beginning, 999)
      expect(events.length).toBe(200)
      expect(new Set(received.map(({ id }) => id))).toEqual(new Set(events.map(({ id }) => id)))
      // Compare the order in which the events were received first: an event is repeated only if its answer was lost.
      for (let node = 1; node <= 5; node++) {
        const seqs = seqsOf(received.filter(({ event }) => event.subject === `nodes/${node}`))
        const first = seqs.filter((seq, index) => seqs.indexOf(seq) === index)
        expect(first).toEqual(first.toSorted((a, b) => a - b))
      }
    }).pipe(Random.withSeed("courier"), Effect.provide(store))
  )

  it.effect("continues to deliver while the store refuses writes, and stores the outcomes afterwards", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-courier-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const filename = join(folder, "watch.db")
      const file = (maxLockWaitMillis: number) => SqliteClient.layer({ filename, maxLockWaitMillis })
      yield* Effect.gen(function* () {
        const { backlog, commit } = yield* Store
        const owner = yield* claim
        const { attempt, received } = receiver(() => delivered)
        // The events are held back, so that all of them are taken before the store is locked.
        yield* running(attempt, { ...sink, forMillis: minute })
        yield* commit(owner, { events: [1, 2, 3, 4].map((id) => changed(id, 0, "running", "power-off", id)) })
        yield* idleNow
        const locked = yield* Deferred.make<void>()
        const lock = SqlClient.SqlClient.use((sql) => sql.withTransaction(Deferred.await(locked)))
        const locking = yield* Effect.forkChild(Effect.provide(lock, file(0)), { startImmediately: true })
        yield* pass("2 minutes")
        expect(received.length).toBe(4)
        expect(yield* backlog("ops")).toMatchObject({ pending: 4 })
        yield* Deferred.succeed(locked, undefined)
        yield* Fiber.join(locking)
        yield* pass("2 seconds")
        expect([received.length, (yield* backlog("ops")).pending]).toEqual([4, 0])
      }).pipe(Effect.provide(Store.layerSql.pipe(Layer.provide(file(0)))))
    })
  )
})
