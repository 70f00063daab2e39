import { compressingProxy } from "@berthkit/testing/compressingProxy"
import { expect, layer } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { maxStreams } from "../../src/control/events.ts"
import { TestServer } from "../../src/testing.ts"
import { control } from "../control/plane.ts"
import { errorsOf } from "../http/service.ts"
import { create, list } from "../injection/client.ts"
import { watchEvents } from "./events.ts"

layer(TestServer.layer())("the events of a server", (it) => {
  it.effect("report every request to every world as it is answered", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const [one, other] = [yield* makeWorld(), yield* makeWorld()]
      const events = yield* watchEvents()
      yield* create(one)
      yield* list(other)
      const received = yield* events.next(2)
      expect(received.map(({ data, event }) => [event, data.world, data.operation, data.status])).toEqual([
        ["request", one.id, "nodes.create", 202],
        ["request", other.id, "nodes.list", 200]
      ])
      const { world: _, ...data } = received[0]!.data
      expect([data]).toEqual(yield* one.journal)
    })
  )

  it.effect("arrive through a proxy that compresses what it may", () =>
    Effect.gen(function* () {
      const { baseUrl, makeWorld } = yield* TestServer
      const world = yield* makeWorld()
      const proxy = yield* compressingProxy(baseUrl)
      const events = yield* watchEvents(`?world=${world.id}`, undefined, proxy.url)
      yield* list(world)
      expect((yield* events.next(1)).map(({ data }) => data.operation)).toEqual(["nodes.list"])
    })
  )

  it.effect("can be those of one world", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const [one, other] = [yield* makeWorld(), yield* makeWorld()]
      const events = yield* watchEvents(`?world=${other.id}`)
      yield* create(one)
      yield* list(other)
      expect((yield* events.next(1)).map(({ data }) => data.world)).toEqual([other.id])
    })
  )

  it.effect("continue where a client left off, without a gap or a repetition", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      const first = yield* watchEvents(`?world=${world.id}`)
      yield* list(world)
      const [seen] = yield* first.next(1)
      yield* list(world)
      yield* list(world)
      const again = yield* watchEvents(`?world=${world.id}`, seen!.id)
      yield* list(world)
      expect((yield* again.next(3)).map(({ data }) => data.seq)).toEqual([2, 3, 4])
    })
  )

  it.effect("begin with the next request for a client that has seen none, also after many", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      for (let seq = 1; seq <= 130; seq++) yield* list(world)
      const events = yield* watchEvents(`?world=${world.id}`)
      const all = yield* watchEvents(`?world=${world.id}`, "0")
      yield* list(world)
      expect((yield* events.next(1)).map(({ data }) => data.seq)).toEqual([131])
      expect((yield* all.next(131)).map(({ data }) => data.seq)).toEqual(Array.from({ length: 131 }, (_, n) => n + 1))
    })
  )

  it.effect("begin, of all worlds, with some of the latest thousand", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const [quiet, busy] = [yield* makeWorld(), yield* makeWorld()]
      const events = yield* watchEvents()
      yield* list(quiet)
      const [first] = yield* events.next(1)
      for (let request = 0; request < 1000; request++) yield* list(busy)
      const received = yield* (yield* watchEvents("", first!.id)).next(1000)
      expect([received[0]!.data.world, received.at(-1)!.data.seq]).toEqual([busy.id, 1000])
      const all = yield* (yield* watchEvents("", "0")).next(1000)
      expect(all[0]!.id).toBe(received[0]!.id)
    })
  )
})

layer(TestServer.layer())("the streams of a server", (it) => {
  it.effect("are bounded in number: one more is 503 until another ends", () =>
    Effect.gen(function* () {
      const open = Effect.gen(function* () {
        const scope = yield* Scope.make()
        yield* Scope.provide(watchEvents(), scope)
        return Scope.close(scope, Exit.void)
      })
      const closings = yield* Effect.all(Array.from({ length: maxStreams }, () => open))
      expect(errorsOf(yield* control("GET", "/events"), 503)).toEqual({
        detail: [`The limit of ${maxStreams} event streams is reached: close one, or read the journals.`]
      })
      yield* closings[0]!
      // The server notices the end of a connection a moment later.
      let refused = 0
      while ((yield* control("HEAD", "/events")).status === 503) refused += 1
      expect(refused).toBeLessThan(1_000)
      yield* Effect.all(closings)
    })
  )
})
