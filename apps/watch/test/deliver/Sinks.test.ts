import { PassThrough } from "node:stream"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { beginning } from "../../src/events/Cursor.ts"
import { Sinks } from "../../src/deliver/Sinks.ts"
import type { SinkOptions } from "../../src/deliver/SinkOptions.ts"
import { Stdout } from "../../src/deliver/Stdout.ts"
import { Store } from "../../src/store/Store.ts"
import { changed, created, deleted, row } from "../store/facts.ts"
import { Receiver, sinkTo } from "./Receiver.ts"
import { memoryStore as store } from "../store/memory.ts"

/** Runs sinks over the store of the test until the scope closes. */
const running = Effect.fnUntraced(function* (options: ReadonlyArray<SinkOptions>, stdout = new PassThrough()) {
  const context = yield* Layer.build(Layer.provide(Sinks.layer(options, []), Stdout.layerOf(stdout)))
  const sinks = yield* Effect.provide(Sinks, context)
  yield* Effect.forkScoped(sinks.run)
  return sinks
})

const claim = Effect.flatMap(Store, (store) => store.claim("a")).pipe(Effect.map(({ owner }) => owner))

const subjects = (receiver: Receiver) => receiver.received.map(({ event }) => event.subject ?? event.type)

describe("sinks", () => {
  it.live("get each event as it is in the log, those of a node in order", () =>
    Effect.gen(function* () {
      const { after, commit } = yield* Store
      const owner = yield* claim
      const receiver = yield* Receiver.start
      yield* commit(owner, { events: [created(1, 1), created(2, 2)] })
      const sinks = yield* running([sinkTo(receiver, { name: "ops" })])
      yield* commit(owner, { events: [changed(1, 3, "created", "running"), deleted(2, 4), deleted(1, 5)] })
      yield* receiver.requests(3)
      yield* sinks.idle
      // The first two events are from before the sink was first seen.
      const events = (yield* after(2, 9)).map(({ body }) => JSON.parse(body))
      expect(
        receiver.received.map(({ event }) => event).toSorted((a, b) => (a.sequence < b.sequence ? -1 : 1))
      ).toEqual(events)
      const ofFirst = receiver.received.filter(({ event }) => event.subject === "nodes/1")
      expect(ofFirst.map(({ event }) => event.type)).toEqual(["berth.node.status_changed", "berth.node.deleted"])
    }).pipe(Effect.provide(store))
  )

  it.live("begin with the nodes that exist, where that is asked for, then get what happens to them", () =>
    Effect.gen(function* () {
      const { commit, placesOf } = yield* Store
      const owner = yield* claim
      const receiver = yield* Receiver.start
      const options = sinkTo(receiver, {
        name: "ops",
        start: "baseline",
        selection: { types: [], nodes: ["node-*"], causes: [], accounts: [] }
      })
      const first = yield* running([options])
      // Before a sweep was complete the nodes are not known.
      yield* commit(owner, { nodes: [row(1), row(2, {}, { name: "other" }), row(3, { goneAtMillis: 1 })] })
      yield* first.idle
      expect((yield* placesOf("ops")).has("a")).toBe(false)
      yield* commit(owner, { events: [created(9, 1)], sweptAtMillis: 5 })
      yield* receiver.requests(1)
      yield* commit(owner, { nodes: [row(4)], events: [created(4, 6)] })
      yield* receiver.requests(2)
      yield* first.idle
      expect(receiver.received.map(({ event }) => [event.type, event.subject, event.data.baseline])).toEqual([
        ["berth.node.discovered", "nodes/1", true],
        ["berth.node.created", "nodes/4", undefined]
      ])
      expect(receiver.received[0]!.event).not.toHaveProperty("sequence")
    }).pipe(Effect.provide(store))
  )

  it.live("select what they get, and deliver the daemon's own events", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const owner = yield* claim
      const gone = yield* Receiver.start
      gone.answer = () => 410
      const receiver = yield* Receiver.start
      const types = ["berth.sink.*", "*.deleted"]
      const sinks = yield* running([
        sinkTo(gone, { name: "gone" }),
        sinkTo(receiver, { name: "ops", selection: { types, nodes: [], causes: [], accounts: [] } })
      ])
      yield* commit(owner, { events: [created(1, 1), deleted(1, 2)] })
      yield* receiver.requests(2)
      expect(subjects(receiver).toSorted()).toEqual(["berth.sink.disabled", "nodes/1"])
      const disabled = receiver.received.find(({ event }) => event.type === "berth.sink.disabled")!.event
      expect(disabled).toMatchObject({
        source: "/accounts/_daemon",
        data: { sink: "gone", reason: "gone", message: "the receiver answered 410" }
      })
      expect((yield* sinks.status).map(({ name, state }) => [name, state])).toEqual([
        ["gone", "disabled"],
        ["ops", "up"]
      ])
    }).pipe(Effect.provide(store))
  )

  it.live("do not wait for each other: one receiver that never answers delays no other", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const owner = yield* claim
      const hanging = yield* Receiver.start
      hanging.answer = () => null
      const receiver = yield* Receiver.start
      yield* running([sinkTo(hanging, { name: "hanging" }), sinkTo(receiver, { name: "ops" })])
      yield* commit(owner, { events: Array.from({ length: 50 }, (_, index) => created(index + 1, index)) })
      yield* hanging.requests(8)
      yield* receiver.requests(50)
      expect(hanging.received.length).toBe(8)
    }).pipe(Effect.provide(store))
  )

  it.live("continue at their positions after a restart of the daemon", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const owner = yield* claim
      const receiver = yield* Receiver.start
      const options = [sinkTo(receiver, { name: "ops" })]
      yield* Effect.scoped(
        Effect.gen(function* () {
          const sinks = yield* running(options)
          yield* commit(owner, { events: [created(1, 1)] })
          yield* receiver.requests(1)
          yield* sinks.idle
        })
      )
      yield* commit(owner, { events: [created(2, 2)] })
      yield* running(options)
      yield* receiver.requests(2)
      expect(subjects(receiver)).toEqual(["nodes/1", "nodes/2"])
    }).pipe(Effect.provide(store))
  )

  it.live("deliver again what a person requests: the events after a cursor, or the dead letters", () =>
    Effect.gen(function* () {
      const { commit, record, take } = yield* Store
      const owner = yield* claim
      const receiver = yield* Receiver.start
      const sinks = yield* running([sinkTo(receiver, { name: "ops" })])
      const events = yield* commit(owner, { events: [created(1, 1), created(2, 2)] })
      yield* receiver.requests(2)
      yield* sinks.idle
      yield* sinks.replay("ops", 1)
      yield* receiver.requests(3)
      expect(receiver.received[2]!.id).toBe(events[1]!.id)
      yield* sinks.idle
      const id = events[0]!.id
      const dead = { account: "a", seq: 1, node: 1, id, attempt: 10, dueMillis: 0, held: null, body: null }
      yield* take({ sink: "ops", after: 2, account: "a", seq: 2, deliveries: [dead], dropped: [] })
      yield* record("ops", [{ _tag: "GivenUp", delivery: dead, reason: "the receiver answered 400" }], null)
      expect((yield* sinks.status)[0]).toMatchObject({ pending: 0, dead: 1 })
      expect(yield* sinks.retry("ops")).toEqual({ dead: 1, waiting: 0 })
      yield* receiver.requests(4)
      expect(receiver.received[3]!.id).toBe(id)
      yield* sinks.idle
      expect((yield* sinks.status)[0]).toMatchObject({ pending: 0, dead: 0, unread: 0 })
    }).pipe(Effect.provide(store))
  )

  it.live("stand still while something is done with them, so that a replay is not read over", () =>
    Effect.gen(function* () {
      const store = yield* Store
      const owner = yield* claim
      const receiver = yield* Receiver.start
      // The next events are committed during the replay. A reader that still worked would read them at its old place.
      const replaying = Store.of({
        ...store,
        replay: (...args) =>
          Effect.andThen(store.replay(...args), store.commit(owner, { events: [created(3, 3)] })).pipe(
            Effect.tap(() => Effect.sleep("50 millis")),
            Effect.asVoid
          )
      })
      const sinks = yield* Effect.provideService(running([sinkTo(receiver, { name: "ops" })]), Store, replaying)
      yield* store.commit(owner, { events: [created(1, 1), created(2, 2)] })
      yield* receiver.requests(2)
      yield* sinks.idle
      yield* sinks.replay("ops", beginning)
      yield* receiver.requests(5)
      expect(subjects(receiver).slice(2).toSorted()).toEqual(["nodes/1", "nodes/2", "nodes/3"])
    }).pipe(Effect.provide(store))
  )

  it.live("that were disabled get nothing until they are enabled, then everything since", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const owner = yield* claim
      const receiver = yield* Receiver.start
      const other = yield* Receiver.start
      const sinks = yield* running([sinkTo(receiver, { name: "ops" }), sinkTo(other, { name: "other" })])
      yield* commit(owner, { events: [created(1, 1)] })
      yield* receiver.requests(1)
      yield* sinks.idle
      yield* sinks.disable("ops")
      yield* commit(owner, { events: [created(2, 2)] })
      yield* other.requests(2)
      expect(receiver.received.length).toBe(1)
      yield* sinks.enable("ops")
      yield* receiver.requests(2)
      expect(subjects(receiver)).toEqual(["nodes/1", "nodes/2"])
    }).pipe(Effect.provide(store))
  )

  it.live("that are too far behind are disabled, and the other sinks get an event about it", () =>
    Effect.gen(function* () {
      const { commit, meet, take } = yield* Store
      const owner = yield* claim
      yield* meet("slow")
      yield* take({ sink: "slow", after: null, account: "a", seq: 0, deliveries: [], dropped: [] })
      yield* commit(owner, { events: [2, 3, 4, 5, 6].map((id) => created(id, id)) })
      const receiver = yield* Receiver.start
      const other = yield* Receiver.start
      const sinks = yield* running([sinkTo(receiver, { name: "slow", maxLag: 3 }), sinkTo(other, { name: "ops" })])
      yield* other.requests(1)
      expect(other.received[0]!.event.data).toMatchObject({ sink: "slow", reason: "lagging" })
      expect((yield* sinks.status).find(({ name }) => name === "slow")).toMatchObject({ state: "disabled" })
    }).pipe(Effect.provide(store))
  )

  it.live(
    "start now in an account that they newly select, and lose no event of one that is watched for the first time",
    () =>
      Effect.gen(function* () {
        const { commit } = yield* Store
        const a = yield* claim
        const { owner: b } = yield* (yield* Store).claim("b")
        yield* commit(b, { events: [1, 2, 3].map((id) => created(id, id)) })
        const receiver = yield* Receiver.start
        const selecting = (...accounts: Array<string>) => [
          sinkTo(receiver, { name: "ops", selection: { types: [], nodes: [], causes: [], accounts } })
        ]
        // This process ends before it reads anything of an account that had no event when the process began.
        yield* Layer.build(Layer.provide(Sinks.layer(selecting("a"), ["a", "new"]), Stdout.layer))
        yield* commit(a, { events: [created(10, 10)] })
        yield* running(selecting("a", "b"))
        yield* receiver.requests(1)
        yield* commit(b, { events: [created(4, 4)] })
        yield* receiver.requests(2)
        expect(subjects(receiver)).toEqual(["nodes/10", "nodes/4"])
      }).pipe(Effect.provide(store))
  )

  it.live("that keep events for which there is no room are disabled, and the other sinks get an event about it", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const owner = yield* claim
      const hanging = yield* Receiver.start
      hanging.answer = () => null
      const other = yield* Receiver.start
      const sinks = yield* running([sinkTo(hanging, { name: "slow" }), sinkTo(other, { name: "ops" })])
      yield* commit(owner, { events: [created(1, 1)] })
      yield* hanging.requests(1)
      yield* sinks.disableLagging("slow", "no room")
      yield* other.requests(2)
      const data = other.received.map(({ event }) => event.data)
      expect(data).toContainEqual({ sink: "slow", reason: "lagging", message: "no room" })
      expect((yield* sinks.status).find(({ name }) => name === "slow")).toMatchObject({ state: "disabled" })
    }).pipe(Effect.provide(store))
  )

  it.live("that are disabled at one moment are each reported", () =>
    Effect.gen(function* () {
      const store = yield* Store
      const owner = yield* claim
      const gone = yield* Receiver.start
      gone.answer = () => 410
      const other = yield* Receiver.start
      const slow = Store.of({
        ...store,
        claim: (name) => Effect.tap(store.claim(name), () => Effect.sleep("50 millis"))
      })
      const options = [sinkTo(gone, { name: "a" }), sinkTo(gone, { name: "b" }), sinkTo(other, { name: "ops" })]
      yield* Effect.provideService(running(options), Store, slow)
      yield* store.commit(owner, { events: [created(1, 1)] })
      yield* other.requests(3)
      const reported = other.received.filter(({ event }) => event.type === "berth.sink.disabled")
      expect(reported.map(({ event }) => event.data.sink).toSorted()).toEqual(["a", "b"])
    }).pipe(Effect.provide(store))
  )

  it.live("are not idle before they have read the first events of an account that came after them", () =>
    Effect.gen(function* () {
      const store = yield* Store
      const receiver = yield* Receiver.start
      const after: typeof store.after = (...args) => Effect.delay(store.after(...args), "50 millis")
      const sinks = yield* Effect.provideService(
        running([sinkTo(receiver, { name: "ops" })]),
        Store,
        Store.of({ ...store, after })
      )
      yield* store.commit(yield* claim, { events: [created(1, 1)] })
      yield* sinks.idle
      expect(receiver.received.length).toBe(1)
    }).pipe(Effect.provide(store))
  )

  it.live("whose receiver is down show why", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const owner = yield* claim
      const receiver = yield* Receiver.start
      receiver.answer = () => 503
      const sinks = yield* running([sinkTo(receiver, { name: "ops" })])
      yield* commit(owner, { events: [created(1, 1), created(2, 2), created(3, 3)] })
      const [sink] = yield* Effect.repeat(sinks.status, { until: ([sink]) => sink?.state === "down" })
      expect(sink).toMatchObject({ message: "the receiver answered 503", pending: 3 })
      yield* sinks.disable("ops")
      expect((yield* sinks.status)[0]).toMatchObject({ state: "disabled", message: "as requested" })
    }).pipe(Effect.provide(store))
  )

  it.live("whose receiver refuses every event are failing from the third failure in a row, until it accepts one", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const owner = yield* claim
      const receiver = yield* Receiver.start
      receiver.answer = () => 404
      const options = [sinkTo(receiver, { name: "ops" })]
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const sinks = yield* running(options)
          yield* commit(owner, { events: [created(1, 1), created(2, 2)] })
          yield* receiver.requests(2)
          yield* sinks.idle
          expect((yield* sinks.status)[0]).toMatchObject({ state: "retrying", message: "the receiver answered 404" })
          yield* commit(owner, { events: [created(3, 3)] })
          yield* receiver.requests(3)
          yield* sinks.idle
          return (yield* sinks.status)[0]!
        })
      )
      expect(first).toMatchObject({ state: "failing", message: "the receiver answered 404", pending: 3 })
      // The next process concludes this from the deliveries that are left.
      const sinks = yield* running(options)
      const again = Effect.repeat(sinks.status, { until: ([sink]) => sink?.state === "failing" })
      expect((yield* again)[0]!.failingSinceMillis).toBe(first.failingSinceMillis)
      receiver.answer = () => 204
      yield* commit(owner, { events: [created(4, 4)] })
      yield* receiver.requests(4)
      yield* sinks.idle
      expect((yield* sinks.status)[0]).toMatchObject({ state: "retrying", pending: 3 })
    }).pipe(Effect.provide(store))
  )

  it.live("get no event about their own trouble, which the other sinks get", () =>
    Effect.gen(function* () {
      const { commitOfDaemon } = yield* Store
      const [receiver, other] = [yield* Receiver.start, yield* Receiver.start]
      const sinks = yield* running([sinkTo(receiver, { name: "ops" }), sinkTo(other, { name: "other" })])
      const identity = { nodeId: null, incarnation: null, life: null, version: "1" }
      const ended = (name: string, version: string) => ({
        type: "berth.watch.trouble_ended" as const,
        identity: { ...identity, version },
        atMillis: 1,
        data: {
          trouble: "sink-down",
          about: { kind: "sink" as const, name },
          since: DateTime.makeUnsafe(1)
        }
      })
      yield* commitOfDaemon([ended("ops", "1"), ended("other", "2")])
      yield* receiver.requests(1)
      yield* other.requests(1)
      yield* sinks.idle
      const aboutOf = ({ received }: Receiver) => received.map(({ event }) => event.data.about.name)
      expect([aboutOf(receiver), aboutOf(other)]).toEqual([["other"], ["ops"]])
    }).pipe(Effect.provide(store))
  )

  it.live("to stdout write one event per line, in their order", () =>
    Effect.gen(function* () {
      const { commit } = yield* Store
      const owner = yield* claim
      const stdout = new PassThrough({ highWaterMark: 10_000_000 })
      const stdoutSink = { ...sinkTo(yield* Receiver.start, { name: "stdout" }), target: { _tag: "Stdout" } as const }
      const sinks = yield* running([stdoutSink], stdout)
      const facts = Array.from({ length: 1200 }, (_, index) => created(index + 1, index))
      const events = yield* commit(owner, { events: facts })
      stdout.setEncoding("utf8")
      yield* sinks.idle
      expect(String(stdout.read()).split("\n").slice(0, -1)).toEqual(events.map(({ body }) => body))
    }).pipe(Effect.provide(store))
  )
})
