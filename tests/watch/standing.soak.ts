/**
 * A daemon that is suspended for a while, as on a sleeping laptop. Afterwards it reports everything that happened in the meantime once,
 * marked as after a gap, and nothing else. The daemon keeps its store, and does not make up for missed requests.
 */
import { expect, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { Nodes } from "@berthkit/core/client/Nodes"
import { TestServer } from "@berthkit/server/testing"
import { Daemon } from "./Daemon.ts"
import { fastService } from "./killing.ts"
import { create } from "./polling.ts"
import { configured, eventsOf, receiver, until, wait } from "./Scene.ts"

const sweepMillis = 200

const requests = Effect.flatMap(TestServer, ({ control, id: world }) =>
  Effect.orDie(Effect.map(control.requests.read({ params: { world }, query: {} }), ({ requests }) => requests))
)

/** This is far longer than the threshold of 20 s. */
const stopMillis = 60_000

layer(fastService, { excludeTestServices: true })("a daemon that stands still", (it) => {
  it.effect("for a minute reports what happened meanwhile once, and nothing false", () =>
    Effect.gen(function* () {
      const ops = yield* receiver
      const config = yield* configured(ops.url, { hold: "1s" })
      const kept = yield* create("kept")
      const gone = yield* create("gone")
      const { control, id: world } = yield* TestServer
      const daemon = yield* Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"])
      yield* wait(() => daemon.baseline())
      // Wait until both nodes run and the sweeps are regular.
      yield* Effect.sleep("2 seconds")
      yield* until(() => ops.taken.length === eventsOf(daemon.program.printedOn.stdout).length)
      const before = ops.taken.length

      daemon.program.signal("SIGSTOP")
      yield* Nodes.use((nodes) => nodes.delete(gone))
      yield* Effect.sleep(stopMillis)
      const fresh = yield* create("fresh")
      yield* Effect.orDie(control.nodes.change({ params: { world, id: kept }, payload: { status: "power-off" } }))
      const refused = yield* Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"])
      expect((yield* wait(() => refused.finished())).stderr[0]).toContain(`process ${daemon.program.child.pid} runs on`)
      const last = (yield* requests).at(-1)!.seq
      const continued = yield* Clock.currentTimeMillis
      daemon.program.signal("SIGCONT")
      yield* wait(() => daemon.event("berth.node.deleted"))
      yield* Effect.sleep("1 second")
      const sweeps = ((yield* Clock.currentTimeMillis) - continued) / sweepMillis
      const asked = (yield* requests).filter(({ seq }) => seq > last)
      // Apart from sweeps, there are reads of the deleted node and polls of the new one.
      expect(asked.length).toBeLessThan(2 * sweeps + 20)

      yield* until(() => ops.taken.length === eventsOf(daemon.program.printedOn.stdout).length)
      const news = ops.taken.slice(before).toSorted((a, b) => (a.sequence < b.sequence ? -1 : 1))
      const firstOf = (id: number) => news.find(({ subject }) => subject === `nodes/${id}`)!
      expect([kept, gone, fresh].map((id) => firstOf(id).data.afterGap)).toEqual([true, true, true])
      const of = (id: number) => news.filter(({ subject }) => subject === `nodes/${id}`).map(({ type }) => type)
      expect(of(kept)).toEqual(["berth.node.status_changed"])
      expect(of(gone)).toEqual(["berth.node.deleted"])
      expect(of(fresh)[0]).toBe("berth.node.created")
      expect(news.every(({ type }) => type.startsWith("berth.node."))).toBe(true)
      daemon.program.signal("SIGTERM")
      expect((yield* wait(() => daemon.finished())).code).toBe(0)
    })
  )

  it.effect("stops its heartbeat when sweeps stop, though the process lives", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const monitor = yield* receiver
      const more = `heartbeat: { url: "${monitor.url}", every: 1s }`
      const daemon = yield* Daemon.start([
        "run",
        "--config",
        yield* configured("http://127.0.0.1:1/", { more }),
        "--requests-per-hour",
        "1000000"
      ])
      yield* wait(() => daemon.baseline())
      yield* until(() => monitor.taken.length >= 3)
      yield* arm([{ fault: "status", status: 503 }])
      yield* Effect.sleep("65 seconds")
      const beats = monitor.taken.length
      yield* Effect.sleep("5 seconds")
      expect(monitor.taken.length).toBe(beats)
      const { http } = yield* wait(() => daemon.ready())
      const statuses = yield* wait(() =>
        Promise.all(["/healthz", "/readyz"].map((path) => fetch(`${http}${path}`).then(({ status }) => status)))
      )
      expect(statuses).toEqual([200, 503])
      yield* arm([])
      yield* until(() => monitor.taken.length > beats)
    })
  )

  it.effect("in the middle of a request marks what it finds afterwards", () =>
    Effect.gen(function* () {
      const { arm, control, id: world } = yield* TestServer
      const id = yield* create("kept")
      const daemon = yield* Daemon.start([
        "run",
        "--config",
        yield* configured("http://127.0.0.1:1/"),
        "--requests-per-hour",
        "1000000"
      ])
      yield* wait(() => daemon.baseline())
      yield* Effect.sleep("2 seconds")
      yield* arm([{ fault: "latency", delay: "8 seconds" }])
      yield* Effect.sleep("2 seconds")
      daemon.program.signal("SIGSTOP")
      yield* Effect.sleep("30 seconds")
      yield* Effect.orDie(control.nodes.change({ params: { world, id }, payload: { status: "power-off" } }))
      yield* arm([])
      daemon.program.signal("SIGCONT")
      const event = eventsOf(yield* wait(() => daemon.program.printed(/^.*"to":"power-off".*\n/m)))[0]
      expect(event.data.afterGap).toBe(true)
    })
  )
})
