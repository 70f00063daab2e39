/**
 * The daemon is killed again and again under load. Its receiver fails a third of the time, and loses a tenth of its answers. In the end the
 * receiver has exactly the events of the log, and the log matches what happened in the service.
 */
import { setTimeout } from "node:timers/promises"
import { startStopwatch } from "@berthkit/testing/stopwatch"
import { expect } from "@effect/vitest"
import { Effect, Fiber, Layer, Random } from "effect"
import { Nodes } from "@berthkit/core/client/Nodes"
import { TestServer } from "@berthkit/server/testing"
import { inDialect, clientOf } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { create } from "./polling.ts"
import { command, configured, eventsOf, receiver, wait } from "./Scene.ts"

const minNodes = 8
const maxNodes = 16

/** How long a process lives, from its start or from its ready line. */
const maxStartMillis = 1000
const maxLifeMillis = 2500

/** A service whose nodes change fast. */
export const fastService = Layer.provideMerge(
  Layer.unwrap(Effect.map(TestServer, (server) => clientOf(server))),
  TestServer.layer(
    inDialect({
      clock: "real",
      uniqueNames: false,
      rateLimit: { limit: 1_000_000 },
      provisioning: "500 millis",
      termination: "500 millis"
    })
  )
)

const service = Effect.map(TestServer, ({ control, id: world }) => ({
  /** The nodes as the control plane sees them. */
  nodes: Effect.orDie(control.nodes.list({ params: { world }, query: { count: 1000 } })),
  change: (id: number, status: "running" | "power-off") =>
    Effect.asVoid(Effect.orDie(control.nodes.change({ params: { world, id }, payload: { status } })))
}))

/** Changes a node every few milliseconds, without end. */
const load = Effect.gen(function* () {
  const { change, nodes } = yield* service
  for (let name = 1; ; name++) {
    const present = (yield* nodes).filter(({ status }) => status !== "terminate")
    const draw = yield* Random.next
    const isScarce = present.length < minNodes
    if (isScarce || (draw < 0.15 && present.length < maxNodes)) {
      yield* create(`load-${name}`)
    } else {
      const { id, status } = present[yield* Random.nextIntBetween(0, present.length - 1)]!
      if (draw < 0.25) yield* Effect.ignore(Nodes.use((client) => client.delete(id as never)))
      else if (status !== "created") yield* change(id, status === "running" ? "power-off" : "running")
    }
    yield* Effect.sleep("50 millis")
  }
})

/** Sends a request to the daemon over HTTP. */
const ask = (http: string, path: string, method = "GET"): Promise<any> =>
  fetch(`${http}${path}`, { method, headers: { "content-type": "application/json" } }).then((reply) => reply.json())

/**
 * Keeps making failed deliveries due, as long as the daemon lives. By itself, the daemon tries a sink that is down once a minute, and a
 * refused event after five minutes, which would take too long here.
 */
const retrying = async (daemon: Daemon): Promise<void> => {
  const { http } = await daemon.ready()
  for (;;) {
    await ask(http!, "/api/sinks/ops/retry", "POST")
    await setTimeout(500)
  }
}

/** Checks the log of each node: the chain of its statuses is whole and ends with the service's present status. */
const checkLog = (
  events: ReadonlyArray<any>,
  baseline: number,
  present: ReadonlyArray<{ id: number; status: string }>
) => {
  expect(baseline).toBe(0)
  const known = new Map<string, { status: string; isGone: boolean }>()
  for (const { data, subject, type } of events) {
    const node = known.get(subject)
    switch (type) {
      case "berth.node.created":
      case "berth.node.discovered":
        expect(node, `${subject} appears once`).toBe(undefined)
        known.set(subject, { status: data.after.status, isGone: false })
        break
      case "berth.node.status_changed":
        expect({ subject, status: node?.status }).toEqual({ subject, status: data.from })
        known.set(subject, { status: data.to, isGone: node!.isGone })
        break
      case "berth.node.deleted":
        expect(node, `${subject} is gone once`).toMatchObject({ isGone: false })
        known.set(subject, { status: "gone", isGone: true })
    }
  }
  const left = Array.from(known).filter(([, { isGone }]) => !isGone)
  expect(new Map(left.map(([subject, { status }]) => [subject, status]))).toEqual(
    new Map(present.map(({ id, status }) => [`nodes/${id}`, status]))
  )
}

const orderOf = (events: ReadonlyArray<any>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const order = new Map<string, Array<string>>()
  for (const { id, subject = "account" } of events) {
    const ids = order.get(subject) ?? []
    if (!ids.includes(id)) ids.push(id)
    order.set(subject, ids)
  }
  return order
}

export const killing = Effect.fnUntraced(function* (kills: number) {
  const random = yield* Random.Random
  const ops = yield* receiver
  const config = yield* configured(ops.url, { hold: "1s" })
  const flaky = () => {
    if (random.nextDoubleUnsafe() < 1 / 3) return 503
    return random.nextDoubleUnsafe() < 0.1 ? "cut" : 204
  }
  const run = Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000", "--fast-interval", "100ms"])

  // The service has no nodes yet, so the log has the whole life of each node.
  const first = yield* run
  const baseline = eventsOf(yield* wait(() => first.baseline()))[0].data.count
  yield* wait(() => first.program.kill("SIGKILL"))

  ops.state.answer = flaky
  const loading = yield* Effect.forkChild(load)
  for (let kill = 0; kill < kills; kill++) {
    yield* Effect.scoped(
      Effect.gen(function* () {
        const daemon = yield* run
        // This ends with the daemon.
        retrying(daemon).catch(() => {})
        const isStarting = (yield* Random.next) < 0.2
        if (!isStarting) yield* wait(() => daemon.ready())
        yield* Effect.sleep(yield* Random.nextIntBetween(0, isStarting ? maxStartMillis : maxLifeMillis))
        // Now and then the daemon gets SIGTERM instead, at any time.
        const isAsked = !isStarting && (yield* Random.next) < 0.15
        const stopwatch = startStopwatch()
        const { code, stderr } = yield* wait(() => daemon.program.kill(isAsked ? "SIGTERM" : "SIGKILL"))
        expect(code).toBe(isAsked ? 0 : "SIGKILL")
        stopwatch.expectBelow(10_000)
        expect(
          stderr
            .replace(/^\{.*\n/, "")
            .replaceAll(
              /^berth-watch: ((service|sink)-\w+ \(\w+\)|sweeps-late \(\w+\)|list-not-believed \(\w+\)|stopped before).*\n/gm,
              ""
            )
        ).toBe("")
      })
    )
  }
  expect(loading.pollUnsafe(), "the load goes on").toBe(undefined)
  yield* Fiber.interrupt(loading)

  ops.state.answer = () => 204
  const last = yield* run
  retrying(last).catch(() => {})
  const { http } = yield* wait(() => last.ready())
  const { nodes } = yield* service
  // Wait until, for two seconds, no sweep has found anything new, the account is trusted, and everything is delivered.
  let lastCursor = ""
  for (let quiet = 0; quiet < 20; yield* Effect.sleep("100 millis")) {
    const { accounts, cursor, sinks } = yield* wait(() => ask(http!, "/api/status"))
    const isDone = sinks.every(({ deadLetters, lag, waiting }: any) => lag + waiting + deadLetters === 0)
    const isWell = accounts[0].state === "watching" && (yield* nodes).every(({ status }) => status !== "terminate")
    quiet = isDone && isWell && cursor === lastCursor ? quiet + 1 : 0
    lastCursor = cursor
  }
  last.program.signal("SIGTERM")
  expect((yield* wait(() => last.finished())).code).toBe(0)

  const log = (yield* command(["events", "--config", config, "--account", "acme"])).stdout.map((line) =>
    JSON.parse(line)
  )
  expect(log.map(({ sequence }) => Number(sequence))).toEqual(log.map((_, index) => index + 1))
  expect(new Set(log.map(({ id }) => id)).size).toBe(log.length)
  expect(new Set(ops.idsTaken())).toEqual(new Set(log.map(({ id }) => id)))
  expect(orderOf(ops.taken)).toEqual(orderOf(log))
  checkLog(log, baseline, yield* nodes)
  return { events: log.length, taken: ops.taken.length }
})
