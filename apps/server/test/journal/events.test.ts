import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { create, list } from "../injection/client.ts"

interface Received {
  readonly id: string
  readonly event: string
  readonly data: any
}

/** Watches the events: gives what reads the next ones until it has `count`. */
const watch = (query = "", lastEventId?: string) =>
  Effect.gen(function* () {
    const { baseUrl } = yield* TestServer
    const controller = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (controller) => Effect.sync(() => controller.abort())
    )
    const headers: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId }
    const response = yield* Effect.promise(() =>
      fetch(`${baseUrl}/_mock/events${query}`, { headers, signal: controller.signal })
    )
    expect(response.headers.get("content-type")).toBe("text/event-stream")
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    const more = Effect.promise(async () => {
      text += (await reader.read()).value ?? ""
    })
    // The opening comment: from here on nothing is missed.
    while (!text.includes("\n\n")) yield* more
    text = text.slice(text.indexOf("\n\n") + 2)
    return (count: number): Effect.Effect<ReadonlyArray<Received>> =>
      Effect.gen(function* () {
        const blocks = () =>
          text
            .split("\n\n")
            .slice(0, -1)
            .filter((block) => !block.startsWith(":"))
        while (blocks().length < count) yield* more
        return blocks().map((block) => {
          const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2)))
          return { id: fields["id"], event: fields["event"], data: JSON.parse(fields["data"]) }
        })
      })
  })

layer(TestServer.layer())("the events of a server", (it) => {
  it.effect("report every request to every world as it is answered", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const [one, other] = [yield* makeWorld(), yield* makeWorld()]
      const events = yield* watch()
      yield* create(one)
      yield* list(other)
      const received = yield* events(2)
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
      const events = yield* watch(`?world=${other.id}`)
      yield* create(one)
      yield* list(other)
      expect((yield* events(1)).map(({ data }) => data.world)).toEqual([other.id])
    })
  )

  it.effect("go on where a client left off, without a gap and without a repetition", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      const first = yield* watch(`?world=${world.id}`)
      yield* list(world)
      const [seen] = yield* first(1)
      yield* list(world)
      yield* list(world)
      const again = yield* watch(`?world=${world.id}`, seen!.id)
      yield* list(world)
      expect((yield* again(3)).map(({ data }) => data.seq)).toEqual([2, 3, 4])
    })
  )
})
