import { Program } from "@berth/testing/Program"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Random } from "effect"
import { PassThrough } from "node:stream"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beginning } from "../../src/events/Cursor.ts"
import { Sinks } from "../../src/deliver/Sinks.ts"
import { Stdout } from "../../src/deliver/Stdout.ts"
import { Store } from "../../src/store/Store.ts"
import { Receiver, sinkTo } from "./Receiver.ts"

/** Each starts a process. */
const kills = 5
const nodes = 20

/** A daemon without a poller: it commits events of some nodes, and delivers them to the receiver at `url`. */
const daemon = (store: string, url: string) => `
  import { PassThrough } from "node:stream"
  import { Effect, Layer } from "effect"
  import { Sinks } from "./src/deliver/Sinks.ts"
  import { Stdout } from "./src/deliver/Stdout.ts"
  import { Store } from "./src/store/Store.ts"
  import { sinkTo } from "./test/deliver/Receiver.ts"
  import { changed } from "./test/store/facts.ts"
  const committing = Effect.gen(function* () {
    const { claim, commit } = yield* Store
    const { known, owner } = yield* claim("a")
    for (let version = known.seq + 1; ; version++) {
      yield* commit(owner, { events: [changed(version % ${nodes} + 1, version, "running", "power-off", version)] })
      console.log(version)
      yield* Effect.sleep("5 millis")
    }
  })
  const program = Effect.gen(function* () {
    yield* Effect.raceFirst((yield* Sinks).run, committing)
  })
  const layer = Sinks.layer([sinkTo({ url: ${JSON.stringify(url)} }, { name: "ops" })]).pipe(
    Layer.provide(Stdout.layerOf(new PassThrough())),
    Layer.provideMerge(Store.layerFile(${JSON.stringify(store)}))
  )
  await Effect.runPromise(Effect.provide(program, layer))`

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-kill-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

describe("a daemon that is killed at any instant", () => {
  it.live(
    "has delivered every event in the end, in the order of each node, to a receiver that fails and loses answers",
    () =>
      Effect.gen(function* () {
        const store = join(yield* folder, "watch.db")
        const receiver = yield* Receiver.start
        const seen = new Set<string>()
        // Every third event is refused at first; of every tenth the answer is lost: it was received, and comes again.
        receiver.answer = ({ id, sequence }, index) => {
          const isFirst = !seen.has(id)
          seen.add(id)
          if (isFirst && Number(sequence) % 3 === 0) return 400
          return index % 10 === 7 ? null : 200
        }
        const cwd = join(import.meta.dirname, "../..")
        for (let kill = 0; kill < kills; kill++) {
          const program = yield* Program.start(() => Program.ofSource(daemon(store, receiver.url), { cwd }))
          const lines = yield* Random.nextIntBetween(1, 60)
          yield* Effect.promise(() => program.printed(new RegExp(`(\\d+\\n){${lines}}`)))
          const { stderr } = yield* Effect.promise(() => program.kill())
          expect(stderr).toBe("")
        }
        receiver.answer = () => 200
        yield* Effect.gen(function* () {
          const { after, backlog, retry } = yield* Store
          // Those that were refused are due in some minutes.
          yield* retry("ops")
          const context = yield* Layer.build(
            Sinks.layer([sinkTo(receiver, { name: "ops" })]).pipe(Layer.provide(Stdout.layerOf(new PassThrough())))
          )
          const sinks = Context.get(context, Sinks)
          yield* Effect.forkScoped(sinks.run)
          yield* sinks.idle
          expect(yield* backlog("ops")).toEqual({ unread: 0, pending: 0, dead: 0 })
          const events = yield* after(beginning, 99_999)
          expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
          const received = receiver.received.map(({ id }) => id)
          expect(new Set(received)).toEqual(new Set(events.map(({ id }) => id)))
          expect(received.length).toBeGreaterThan(events.length)
          for (let node = 1; node <= nodes; node++) {
            const ofNode = receiver.received.filter(({ event }) => event.subject === `nodes/${node}`)
            const seqs = ofNode.map(({ event }) => Number(event.sequence))
            const first = seqs.filter((seq, index) => seqs.indexOf(seq) === index)
            expect(first).toEqual(first.toSorted((a, b) => a - b))
          }
        }).pipe(Effect.provide(Store.layerFile(store)), Effect.scoped)
      }).pipe(Random.withSeed("kill")),
    120_000
  )
})
