/** Tests the end of the daemon, and its work after it was suspended. */
import { request } from "node:http"
import { startStopwatch } from "@berthkit/testing/stopwatch"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "@berthkit/server/testing"
import { Daemon } from "./Daemon.ts"
import { fastService } from "./killing.ts"
import { create } from "./polling.ts"
import { configured, receiver, until, wait } from "./Scene.ts"

/** A client that keeps following the events. */
const follow = (http: string) =>
  Effect.acquireRelease(
    Effect.promise<{ readonly isOpen: () => boolean; readonly close: () => void }>(
      () =>
        new Promise((resolve, reject) => {
          let isOpen = true
          const sent = request(`${http}/events`, (response) => {
            response
              .on("close", () => (isOpen = false))
              .on("error", () => {})
              .resume()
            resolve({ isOpen: () => isOpen, close: () => void sent.destroy() })
          })
          sent.on("error", reject).end()
        })
    ),
    ({ close }) => Effect.sync(close)
  )

/** A client that waits for the result of a test event. */
const test = (http: string) =>
  Effect.acquireRelease(
    Effect.sync(() => request(`${http}/api/sinks/ops/test`, { method: "POST" }).on("error", () => {})),
    (sent) => Effect.sync(() => void sent.destroy())
  ).pipe(Effect.tap((sent) => Effect.sync(() => sent.end())))

layer(fastService, { excludeTestServices: true })("a daemon that is asked to stop", (it) => {
  it.effect(
    "ends with 0 within 10 s before a receiver and a service that never answer, with a stream and a request open",
    () =>
      Effect.gen(function* () {
        const ops = yield* receiver
        const daemon = yield* Daemon.start([
          "run",
          "--config",
          yield* configured(ops.url),
          "--requests-per-hour",
          "1000000"
        ])
        yield* wait(() => daemon.baseline())
        yield* until(() => ops.taken.length === 1)
        const { http } = yield* wait(() => daemon.ready())
        const stream = yield* follow(http!)
        let hanging = 0
        ops.state.answer = () => (hanging++, "hang")
        yield* create("web")
        yield* until(() => hanging > 0)
        yield* TestServer.use(({ arm }) => arm([{ fault: "latency", delay: "1 hour" }]))
        const before = hanging
        yield* test(http!)
        yield* until(() => hanging > before)
        yield* Effect.sleep("500 millis")
        const stopwatch = startStopwatch()
        daemon.program.signal("SIGTERM")
        const { code, stderr } = yield* wait(() => daemon.finished())
        expect(code).toBe(0)
        stopwatch.expectBelow(10_000)
        expect(stderr.slice(1)).toEqual(["berth-watch: stopped before the last events were delivered."])
        expect(stream.isOpen()).toBe(false)
        yield* TestServer.use(({ arm }) => arm([]))
      })
  )

  it.effect("ends once, within 10 s, if it was reading its config anew before a receiver that never answers", () =>
    Effect.gen(function* () {
      const ops = yield* receiver
      const daemon = yield* Daemon.start(["run", "--config", yield* configured(ops.url)])
      yield* wait(() => daemon.baseline())
      yield* until(() => ops.taken.length === 1)
      let hanging = 0
      ops.state.answer = () => (hanging++, "hang")
      yield* create("web")
      yield* until(() => hanging > 0)
      daemon.program.signal("SIGHUP")
      // The daemon waits longer than this for the receiver.
      yield* Effect.sleep("1 second")
      const stopwatch = startStopwatch()
      daemon.program.signal("SIGTERM")
      const { code, stderr } = yield* wait(() => daemon.finished())
      expect(code).toBe(0)
      stopwatch.expectBelow(10_000)
      expect(stderr.slice(1)).toEqual(["berth-watch: stopped before the last events were delivered."])
    })
  )
})
