/**
 * A program that is busy beyond the deadline of a call, whose reply came in time: a node that was made is not reported lost.
 */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Berth from "../../../src/client/Berth.ts"
import * as FetchTransport from "../../../src/client/transport/FetchTransport.ts"
import * as HttpTransport from "../../../src/client/transport/HttpTransport.ts"
import { RawApi } from "../../../src/client/RawApi.ts"
import * as NodeTransport from "../../../src/client/transport/NodeTransport.ts"

/** A service that reports when a request has come and answers 50 ms later, on a thread of its own, because ours is busy. */
const service = `
  const { parentPort } = require("node:worker_threads")
  let asked = 0
  const server = require("node:http").createServer((request, response) => {
    if (request.url.includes("/silent/")) return
    parentPort.postMessage(++asked)
    setTimeout(() => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify({ message: "Success", code: 200, data: {}, errors: {} }))
    }, 50)
  })
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port))
`

const running = Effect.acquireRelease(
  Effect.promise(async () => {
    const worker = new Worker(service, { eval: true })
    const [port] = (await once(worker, "message")) as [number]
    return { worker, port }
  }),
  ({ worker }) => Effect.promise(() => worker.terminate())
)

const busyUntil = (instant: number) => {
  while (performance.now() < instant);
}

const transports = {
  fetch: FetchTransport.layer,
  "node:http": NodeTransport.layer,
  HttpClient: Layer.provide(HttpTransport.layer, FetchHttpClient.layer)
}

describe("a reply that came before the deadline and is read after it", () => {
  for (const [name, transport] of Object.entries(transports)) {
    it.live(`over ${name} decides the outcome of the call`, () =>
      Effect.gen(function* () {
        const { port, worker } = yield* running
        const credentials = { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
        const options = { baseUrl: `http://127.0.0.1:${port}`, credentials }
        const services = yield* Layer.build(Berth.layerOver(options, transport))
        const request = (path: string, deadline: number) =>
          Effect.provideContext(
            RawApi.use((raw) => raw.request({ method: "GET", path }, { deadline })),
            services
          )
        yield* request("/nodes/", 10_000)
        const asked = new Promise<void>((resolve) => {
          worker.on("message", (count) => count === 2 && resolve())
        })
        const silent = yield* Effect.forkChild(Effect.flip(request("/silent/", 500)))
        const startedAt = performance.now()
        const call = yield* Effect.forkChild(request("/nodes/", 500))
        yield* Effect.promise(() => asked)
        busyUntil(startedAt + 700)
        assert.strictEqual((yield* Fiber.join(call)).status, 200)
        assert.strictEqual((yield* Fiber.join(silent)).reason._tag, "TimedOut")
      }).pipe(Effect.scoped)
    )
  }
})
