/**
 * A silence in a real daemon that is killed and reloaded during the silence. The receiver gets no silenced event until the silence ends,
 * and then each event once, with the events of each node in order.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import { TestServer } from "@berthkit/server/testing"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Daemon } from "../Daemon.ts"
import { fastService } from "../killing.ts"
import { create } from "../polling.ts"
import { command, configured, receiver, until, wait } from "../Scene.ts"

const namesIn = (events: ReadonlyArray<any>) =>
  events.flatMap(({ data, type }) => (type.startsWith("berth.node.") ? [(data.after ?? data.before).name] : []))

layer(fastService, { excludeTestServices: true })("a daemon that is killed in the middle of a silence", (it) => {
  it.effect("holds the covered events until the end, and then hands each over once", () =>
    Effect.gen(function* () {
      const { control, id: world } = yield* TestServer
      const ops = yield* receiver
      const config = yield* configured(ops.url)
      const start = Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"])
      const silence = (...args: ReadonlyArray<string>) =>
        Effect.map(command(["silence", ...args, "--config", config]), ({ code, stderr, stdout }) => {
          expect([code, stderr]).toEqual([0, []])
          return stdout.map((line) => JSON.parse(line))
        })
      const log = Effect.map(command(["events", "--config", config]), ({ stdout }) =>
        stdout.map((line) => JSON.parse(line))
      )
      /** Waits until the log has all events about these nodes so far, that is until each node runs. */
      const running = (...names: ReadonlyArray<string>) =>
        Effect.repeat(log, {
          until: (events) =>
            names.every((name) =>
              events.some(({ data }) => data.after?.name === name && data.after.status === "running")
            )
        })

      const first = yield* start
      yield* wait(() => first.baseline())
      const [added] = yield* silence("add", "--nodes", "web-*", "--for", "1h", "--reason", "new disks")
      yield* silence("add", "--nodes", "gone-*", "--for", "1h", "--reason", "trial", "--then", "drop")
      yield* create("web-1")
      yield* create("gone-1")
      yield* create("db-1")
      yield* running("web-1", "gone-1", "db-1")
      yield* until(() => namesIn(ops.taken).includes("db-1"))
      yield* wait(() => first.program.kill("SIGKILL"))

      // Changes while no daemon runs are silenced as well, because the time when the next daemon sees them counts.
      yield* create("web-2")
      const second = yield* start
      yield* running("web-2")
      const web1 = (yield* Effect.orDie(control.nodes.list({ params: { world }, query: { count: 1000 } }))).find(
        ({ name }) => name === "web-1"
      )!
      yield* Nodes.use((client) => client.delete(web1.id as never))
      yield* Effect.repeat(log, {
        until: (events) =>
          events.some(({ data, type }) => type === "berth.node.deleted" && data.before.name === "web-1")
      })
      second.program.signal("SIGHUP")
      yield* create("db-2")
      yield* running("db-2")
      yield* until(() => namesIn(ops.taken).includes("db-2"))
      expect(namesIn(ops.taken).filter((name) => !name.startsWith("db-"))).toEqual([])
      yield* wait(() => second.program.kill("SIGKILL"))

      // First without a daemon, from the store; then from the daemon.
      const listed = yield* silence("list")
      expect(listed).toMatchObject([
        { id: added.id, state: "active", held: expect.any(Number) },
        { state: "active", held: expect.any(Number), dropped: 0 }
      ])
      const ended = yield* silence("end", added.id)
      expect(ended).toMatchObject([{ state: "over", then: "deliver", held: listed[0].held }])
      const third = yield* start
      yield* wait(() => third.ready())
      yield* silence("end", listed[1].id)
      const events = yield* log
      const expected = events.filter((event) => !namesIn([event]).some((name) => name.startsWith("gone-")))
      yield* until(() => ops.idsTaken().length >= expected.length)
      third.program.signal("SIGTERM")
      expect((yield* wait(() => third.finished())).code).toBe(0)

      expect(ops.taken.map(({ id }) => id).toSorted()).toEqual(expected.map(({ id }) => id).toSorted())
      const of = (all: ReadonlyArray<any>, subject: string) => all.filter((event) => event.subject === subject)
      for (const { subject } of expected) {
        expect(of(ops.taken, subject).map(({ id }) => id)).toEqual(of(expected, subject).map(({ id }) => id))
      }
      const silenced = ops.taken.filter(({ data }) => data.silenced !== undefined)
      expect(silenced.map((event) => namesIn([event])[0]).every((name) => name.startsWith("web-"))).toBe(true)
      expect(silenced).toHaveLength(listed[0].held)
      expect(silenced[0].data.silenced).toEqual([{ id: added.id, reason: "new disks" }])
      const [over, dropped] = yield* silence("list")
      expect([over.held, dropped.dropped]).toEqual([0, listed[1].held])
      expect(dropped.dropped).toBe(events.length - expected.length)
    })
  )
})
