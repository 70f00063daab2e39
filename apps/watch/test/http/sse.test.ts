import { type IncomingMessage, request as nodeRequest } from "node:http"
import { compressingProxy } from "@berthkit/testing/compressingProxy"
import { startStopwatch } from "@berthkit/testing/stopwatch"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Queue, Scope } from "effect"
import { serve } from "../../src/http/HttpInterface.ts"
import { ask, served } from "./http.ts"
import { makeMemoryDaemon } from "./memoryDaemon.ts"

/** The lines of a stream in the order in which they arrive. The connection ends with the scope. */
const follow = Effect.fnUntraced(function* (url: string, headers: Readonly<Record<string, string>> = {}) {
  const blocks = yield* Queue.unbounded<string>()
  const response = yield* Effect.acquireRelease(
    Effect.callback<IncomingMessage>((resume) => {
      nodeRequest(url, { headers }, (response) => resume(Effect.succeed(response))).end()
    }),
    (response) => Effect.sync(() => response.destroy())
  )
  let rest = ""
  response.setEncoding("utf8")
  response.on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n\n")
    rest = parts.pop()!
    Queue.offerAllUnsafe(blocks, parts)
  })
  response.on("error", () => {})
  const opening = yield* Queue.take(blocks)
  return { response, opening, next: Queue.take(blocks) }
})

const blockOf = ({ cursor, event }: { cursor: string; event: object }) =>
  `id: ${cursor}\ndata: ${JSON.stringify(event)}`

describe("the stream of events", () => {
  it.live("begins now, gives each event as it is committed, and the cursor to come back with before any", () =>
    Effect.gen(function* () {
      const { append, url } = yield* served()
      append({ type: "berth.watch.baseline" })
      const { next, opening, response } = yield* follow(`${url}/events`)
      expect([response.headers["content-type"], opening]).toEqual(["text/event-stream", "retry: 1000\nid: 1"])
      for (const id of [1, 2]) {
        const logged = append({ type: "berth.node.created", subject: `nodes/${id}` })
        expect(yield* next).toBe(blockOf(logged))
      }
    })
  )

  it.live("arrives through a proxy that compresses what it may", () =>
    Effect.gen(function* () {
      const { append, url } = yield* served()
      const proxy = yield* compressingProxy(url)
      const { next, response } = yield* follow(`${proxy.url}/events`)
      expect(response.headers["content-encoding"]).toBe(undefined)
      const logged = append({ type: "berth.node.created", subject: "nodes/1" })
      expect(yield* next).toBe(blockOf(logged))
    })
  )

  it.live("continues after Last-Event-ID, which overrides the address, and misses no event of a long log", () =>
    Effect.gen(function* () {
      const { append, state, url } = yield* served()
      for (let id = 1; id <= 350; id++) append({ type: "berth.node.changed", subject: `nodes/${id}` })
      const { next } = yield* follow(`${url}/events?after=`, { "last-event-id": "20" })
      for (const logged of state.events.slice(20)) expect(yield* next).toBe(blockOf(logged))
    })
  )

  it.live("passes on the events that match its filter, and moves the cursor past the others", () =>
    Effect.gen(function* () {
      const { append, url } = yield* served()
      const { next } = yield* follow(`${url}/events?type=berth.node.*&node=7`)
      append({ type: "berth.watch.degraded" })
      expect(yield* next).toBe("id: 1")
      append({ type: "berth.node.created", subject: "nodes/8" })
      const seven = append({ type: "berth.node.created", subject: "nodes/7" })
      // Because of the event before it, an update of the cursor may come first.
      const first = yield* next
      expect(first === "id: 2" ? yield* next : first).toBe(blockOf(seven))
    })
  )

  it.live("reads nothing for a client that does not read, and serves others meanwhile", () =>
    Effect.gen(function* () {
      const { append, state, url } = yield* served()
      const data = { filler: "x".repeat(100_000) }
      for (let count = 0; count < 2000; count++) append({ type: "berth.node.changed", data })
      const stuck = yield* follow(`${url}/events?after=`)
      stuck.response.pause()
      const { next } = yield* follow(`${url}/events`)
      for (let count = 0; count < 20; count++) {
        const logged = append({ type: "berth.node.changed" })
        expect(yield* next).toBe(blockOf(logged))
      }
      // Reading everything would take 20 reads of 100 events, which are 200 MB.
      const { reads } = state
      append({ type: "berth.node.changed" })
      yield* next
      expect(reads).toBeLessThan(60)
      expect(state.reads - reads).toBeLessThan(4)
    })
  )

  it.live("ends at once with the daemon, which waits for no client", () =>
    Effect.gen(function* () {
      const { layer } = makeMemoryDaemon()
      const scope = yield* Scope.make()
      const url = yield* serve({ host: "127.0.0.1", port: 0 }).pipe(Effect.provide(layer), Scope.provide(scope))
      const { response } = yield* follow(`${url}/events`)
      const ended = Effect.callback<void>((resume) => void response.once("close", () => resume(Effect.void)))
      const stopwatch = startStopwatch()
      yield* Effect.all([ended, Scope.close(scope, Exit.void)], { concurrency: 2 })
      stopwatch.expectBelow(800)
    })
  )

  it.live("refuses a cursor that is none before it begins", () =>
    Effect.gen(function* () {
      const { url } = yield* served()
      const reply = yield* ask(`${url}/events`, { headers: { "last-event-id": "nonsense" } })
      expect([reply.status, reply.json.message]).toEqual([400, "nonsense is no cursor."])
    })
  )

  it.live("is not given to more than a hundred clients at once, and to the next as soon as one leaves", () =>
    Effect.gen(function* () {
      const { url } = yield* served()
      for (let count = 0; count < 99; count++) yield* follow(`${url}/events`)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* follow(`${url}/events`)
          expect((yield* ask(`${url}/events`)).status).toBe(503)
        })
      )
      // The server notices the end of the connection within some turns of the event loop.
      const again = Effect.map(ask(`${url}/events`, { method: "HEAD" }), ({ status }) => status)
      expect(yield* Effect.repeat(again, { until: (status) => status === 200 })).toBe(200)
    })
  )
})
