/** A daemon whose store fails: the disk is full (a small file system in memory), or the file is overwritten. Needs Linux and root. */
import { closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestServer } from "@berthkit/server/testing"
import { inDialect, clientOf } from "../../account.ts"
import { Daemon } from "../Daemon.ts"
import { fastService } from "../killing.ts"
import { create } from "../polling.ts"
import { configured, receiver, until, wait } from "../Scene.ts"
import { diskOf, fill, free } from "./disk.ts"

const requests = Effect.flatMap(TestServer, ({ control, id: world }) =>
  Effect.orDie(
    Effect.map(control.requests.read({ params: { world }, query: {} }), (found) => found.requests.at(-1)!.seq)
  )
)

/** Overwrites a range of a file with bytes that no database has. */
const spoil = (path: string, from: number) => {
  const size = statSync(path).size
  const file = openSync(path, "r+")
  if (size > from) writeSync(file, Buffer.alloc(size - from, 0xaa), 0, size - from, from)
  closeSync(file)
}

layer(fastService, { excludeTestServices: true })("a daemon whose store fails", (it) => {
  it.effect("on a full disk says so, polls nothing, delivers known events, and continues once there is room", () =>
    Effect.gen(function* () {
      const ops = yield* receiver
      const path = yield* diskOf(2)
      const config = yield* configured(ops.url, { store: join(path, "watch.db") })
      const daemon = yield* Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"])
      yield* wait(() => daemon.baseline())
      yield* create("before")
      yield* until(() => ops.taken.length >= 2)
      // The receiver is down, so this event is still pending.
      ops.state.answer = () => 503
      fill(path)
      yield* create("while")
      yield* wait(() =>
        daemon.program.printed(/^berth-watch: store-failing: .*The disk of the store is full: .*\n/m, "stderr")
      )
      const asked = yield* requests
      yield* Effect.sleep("3 seconds")
      // The read of the plans is the only request; nothing is asked about nodes.
      expect((yield* requests) - asked).toBeLessThanOrEqual(1)
      ops.state.answer = () => 204

      free(path)
      yield* until(() =>
        ops.taken.some(({ data, type }) => type === "berth.node.created" && data.after.name === "while")
      )
      yield* wait(() => daemon.program.printed(/^berth-watch: store-failing is over; it began at .*\n/m, "stderr"))
      expect(daemon.program.printedOn.stderr.match(/The disk of the store is full/g)).toHaveLength(1)

      fill(path)
      yield* create("after")
      yield* wait(() => daemon.program.printed(/(The disk of the store is full[^]*){2}/, "stderr"))
      daemon.program.signal("SIGTERM")
      expect((yield* wait(() => daemon.finished())).code).toBe(0)
      free(path)
      const next = yield* Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"])
      yield* until(() =>
        ops.taken.some(({ data, type }) => type === "berth.node.created" && data.after.name === "after")
      )
      // Only events of the same node come in order. An event of another node may be due again only in five seconds.
      yield* until(() => {
        const sequences = new Set(ops.taken.map(({ sequence }) => Number(sequence)))
        return sequences.size === Math.max(...sequences)
      })
      next.program.signal("SIGTERM")
      expect((yield* wait(() => next.finished())).code).toBe(0)
    })
  )
})

layer(
  Layer.provideMerge(
    Layer.unwrap(Effect.map(TestServer, (server) => clientOf(server))),
    TestServer.layer(inDialect({ clock: "real", scenario: { fleet: 5000 }, rateLimit: { limit: 1_000_000 } }))
  ),
  { excludeTestServices: true }
)("a daemon whose store is overwritten while it runs", (it) => {
  it.effect("reports that once it meets it and ends with 1, and none begins anew on it", () =>
    Effect.gen(function* () {
      const ops = yield* receiver
      const config = yield* configured(ops.url, { interval: "2s" })
      const store = join(dirname(config), "watch.db")
      const daemon = yield* Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"])
      yield* wait(() => daemon.baseline())
      yield* until(() => ops.taken.length === 1)
      for (const file of [store, `${store}-wal`]) spoil(file, 0)
      const { control, id: world } = yield* TestServer
      const nodes = yield* Effect.orDie(control.nodes.list({ params: { world }, query: { count: 1000 } }))
      // SQLite has some pages in memory, and notices the damage only when it reads another page.
      for (const { id } of nodes.filter((_, index) => index % 20 === 0)) {
        yield* Effect.orDie(control.nodes.change({ params: { world, id }, payload: { status: "power-off" } }))
      }
      const { code, stderr } = yield* wait(() => daemon.finished())
      expect(stderr.slice(1)).toEqual([
        expect.stringMatching(/^berth-watch: The store is damaged: /),
        "Restore a backup. The daemon never starts over with an empty store by itself."
      ])
      expect(code).toBe(1)
      const left = readFileSync(store)
      const next = yield* Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"])
      const refused = yield* wait(() => next.finished())
      expect(refused).toMatchObject({ code: 1, stdout: [] })
      expect(refused.stderr[0]).toMatch(/^berth-watch: The store is damaged: /)
      expect(readFileSync(store).equals(left)).toBe(true)
    })
  )
})
