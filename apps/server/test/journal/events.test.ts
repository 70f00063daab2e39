import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
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

  it.effect("go on where a client left off, without a gap and without a repetition", () =>
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
})
