/**
 * A program is busy beyond the deadline of a call whose reply arrived in time. The client must not report the node as lost. The test
 * advances the client's time, so that no machine is too slow for the deadline.
 */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Berth from "../../../src/client/Berth.ts"
import * as FetchTransport from "../../../src/client/transport/FetchTransport.ts"
import * as HttpTransport from "../../../src/client/transport/HttpTransport.ts"
import { RawApi } from "../../../src/client/RawApi.ts"
import * as NodeTransport from "../../../src/client/transport/NodeTransport.ts"

/**
 * A service on its own thread, because ours is busy. It reports that a request has arrived, answers when told to, and counts its answers in
 * memory, which our thread can read while busy.
 */
const service = `
  const { parentPort, workerData } = require("node:worker_threads")
  const counts = new Int32Array(workerData)
  let asked = 0
  const server = require("node:http").createServer((request, response) => {
    if (request.url.includes("/silent/")) return
    parentPort.postMessage(++asked)
    Atomics.wait(counts, 0, 0)
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify({ message: "Success", code: 200, data: {}, errors: {} }), () => {
      Atomics.add(counts, 1, 1)
      Atomics.notify(counts, 1)
    })
  })
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port))
`

const running = Effect.acquireRelease(
  Effect.promise(async () => {
    const counts = new Int32Array(new SharedArrayBuffer(8))
    const worker = new Worker(service, { eval: true, workerData: counts.buffer })
    const [port] = (await once(worker, "message")) as [number]
    /** Holds the answer to the next request back until `letGo`. */
    const hold = () => void Atomics.store(counts, 0, 0)
    const letGo = () => {
      Atomics.store(counts, 0, 1)
      Atomics.notify(counts, 0)
    }
    /**
     * Blocks this thread until this many answers are on their way. It gives up after a minute, because no time limit of a test ends a
     * blocked thread.
     */
    const blockUntil = (answers: number) => {
      for (let count = 0; (count = Atomics.load(counts, 1)) < answers;) {
        if (Atomics.wait(counts, 1, count, 60_000) === "timed-out") return
      }
    }
    return { worker, port, hold, letGo, blockUntil }
  }),
  ({ letGo, worker }) =>
    Effect.andThen(
      Effect.sync(letGo),
      Effect.promise(() => worker.terminate())
    )
)

/** The clock of a client, which only `pass` advances. Sleeps that are over by then end like timers, in the same turn of the loop. */
const handClock = () => {
  let passedMillis = 0
  const sleeps = new Set<{ readonly atMillis: number; readonly end: () => void }>()
  const stopped: Clock.Clock = {
    currentTimeMillisUnsafe: () => passedMillis,
    currentTimeMillis: Effect.sync(() => stopped.currentTimeMillisUnsafe()),
    currentTimeNanosUnsafe: () => BigInt(passedMillis) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => stopped.currentTimeNanosUnsafe()),
    monotonicTimeNanosUnsafe: () => stopped.currentTimeNanosUnsafe(),
    monotonicTimeNanos: Effect.sync(() => stopped.monotonicTimeNanosUnsafe()),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const sleep = { atMillis: passedMillis + Duration.toMillis(duration), end: () => resume(Effect.void) }
        sleeps.add(sleep)
        return Effect.sync(() => void sleeps.delete(sleep))
      })
  }
  const pass = (millis: number) => {
    passedMillis += millis
    for (const sleep of sleeps) if (sleep.atMillis <= passedMillis && sleeps.delete(sleep)) sleep.end()
  }
  return { stopped, pass }
}

/** Runs a function with the timers, which come before replies in a turn of the loop. */
// oxlint-disable-next-line no-restricted-globals -- It does not wait for time to pass, only for the turn of timers.
const beforeReplies = (run: () => void) => void setTimeout(run)

const transports = {
  fetch: FetchTransport.layer,
  "node:http": NodeTransport.layer,
  HttpClient: Layer.provide(HttpTransport.layer, FetchHttpClient.layer)
}

describe("a reply that came before the deadline and is read after it", () => {
  for (const [name, transport] of Object.entries(transports)) {
    it.live(`over ${name} decides the outcome of the call`, () =>
      Effect.gen(function* () {
        const { blockUntil, hold, letGo, port, worker } = yield* running
        const { pass, stopped } = handClock()
        const credentials = { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
        const options = { baseUrl: `http://127.0.0.1:${port}`, credentials }
        const services = yield* Effect.provideService(
          Layer.build(Berth.layerOver(options, transport)),
          Clock.Clock,
          stopped
        )
        const request = (path: string, deadline: number) =>
          RawApi.use((raw) => raw.request({ method: "GET", path }, { deadline })).pipe(
            Effect.provideContext(services),
            Effect.provideService(Clock.Clock, stopped)
          )
        letGo()
        yield* request("/nodes/", 10_000)
        hold()
        const asked = new Promise<void>((resolve) => {
          worker.on("message", (count) => count === 2 && resolve())
        })
        const silent = yield* Effect.forkChild(Effect.flip(request("/silent/", 500)))
        const call = yield* Effect.forkChild(request("/nodes/", 500))
        yield* Effect.promise(() => asked)
        beforeReplies(() => {
          letGo()
          blockUntil(2)
          pass(700)
        })
        assert.strictEqual((yield* Fiber.join(call)).status, 200)
        assert.strictEqual((yield* Fiber.join(silent)).reason._tag, "TimedOut")
      }).pipe(Effect.scoped)
    )
  }
})
