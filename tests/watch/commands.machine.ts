/**
 * The commands about a store give the same answers over HTTP, if a daemon runs on the store, and from the store itself, if no daemon runs.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { TestServer } from "@berthkit/server/testing"
import { inDialect, clientOf } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { create } from "./polling.ts"
import { becomes, command, configured, receiver, until, wait } from "./Scene.ts"

const service = Layer.provideMerge(
  Layer.unwrap(Effect.map(TestServer, (server) => clientOf(server))),
  TestServer.layer(inDialect({ clock: "real", rateLimit: { limit: 1_000_000 }, provisioning: "1 hour" }))
)

const statusOf = (stdout: ReadonlyArray<string>) => JSON.parse(stdout.join("\n"))

layer(service, { excludeTestServices: true })("a command about a store", (it) => {
  it.effect("answers the same while a daemon runs and when none does", () =>
    Effect.gen(function* () {
      const ops = yield* receiver
      const config = yield* configured(ops.url, { more: "token: { env: BERTH_WATCH_TOKEN }" })
      const env = { BERTH_WATCH_TOKEN: "open-sesame-open-sesame" }
      const daemon = yield* Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"], env)
      yield* wait(() => daemon.event("berth.watch.baseline"))
      const id = yield* create("web")
      yield* wait(() => daemon.event("berth.node.created"))
      yield* becomes(id, "running")
      yield* wait(() => daemon.event("berth.node.status_changed"))
      yield* until(() => ops.taken.length === 3)
      const ask = (...args: ReadonlyArray<string>) => command([...args, "--config", config], env)
      const answers = Effect.all({
        events: ask("events"),
        changes: ask("events", "--type", "berth.node.*", "--after", "2"),
        causes: ask("events", "--cause", "unknown"),
        nodes: ask("nodes"),
        sinks: ask("sinks"),
        unknown: ask("sinks", "enable", "opps"),
        enabled: ask("sinks", "enable", "ops"),
        retried: ask("sinks", "retry", "ops"),
        tested: ask("sinks", "test", "ops"),
        untested: ask("sinks", "test", "log"),
        invalid: ask("replay", "--sink", "ops", "--after", "999")
      })
      const status = statusOf((yield* ask("status")).stdout)
      const { http } = yield* wait(() => daemon.ready())
      expect(status.daemon).toEqual({ pid: daemon.program.child.pid, http })
      const running = yield* answers
      expect(running.events.stdout).toHaveLength(3)
      expect(running.nodes.stdout).toHaveLength(1)
      expect([running.unknown.code, running.tested.code, running.untested.code, running.invalid.code]).toEqual([
        4, 0, 2, 2
      ])

      const denied = yield* command(["status", "--store", join(config, "../watch.db")])
      expect(denied).toMatchObject({
        code: 3,
        stderr: [
          `berth-watch: The daemon at ${http} asks for its token.`,
          "Add --config FILE, or set BERTH_WATCH_TOKEN."
        ]
      })

      daemon.program.signal("SIGTERM")
      expect((yield* wait(() => daemon.finished())).code).toBe(0)
      expect(yield* answers).toEqual(running)
      const atRest = statusOf((yield* ask("status")).stdout)
      expect(atRest).toMatchObject({ daemon: null, cursor: status.cursor, sinks: status.sinks })
      const { account, nodes } = status.accounts[0]
      expect(atRest.accounts).toEqual([expect.objectContaining({ account, nodes, state: "stopped" })])
    })
  )

  it.effect("changes a sink of a running daemon, which uses the change at once", () =>
    Effect.gen(function* () {
      const ops = yield* receiver
      ops.state.answer = () => 410
      const config = yield* configured(ops.url)
      const daemon = yield* Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"])
      // The other sink gets the event about the first one.
      yield* wait(() => daemon.event("berth.sink.disabled"))
      expect(ops.taken).toEqual([])
      ops.state.answer = () => 204
      expect((yield* command(["sinks", "enable", "ops", "--config", config])).code).toBe(0)
      yield* until(() => ops.idsTaken().length === 2)
      const before = ops.taken.length
      expect((yield* command(["replay", "--sink", "ops", "--after", "", "--config", config])).code).toBe(0)
      yield* until(() => ops.taken.length >= before + 2)
      expect(ops.idsTaken()).toHaveLength(2)
    })
  )

  it.effect("reads the store of a daemon without HTTP, or one that stands still, and changes nothing there", () =>
    Effect.gen(function* () {
      const ops = yield* receiver
      const config = yield* configured(ops.url)
      const daemon = yield* Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"])
      yield* wait(() => daemon.event("berth.watch.baseline"))
      daemon.program.signal("SIGSTOP")
      const pid = daemon.program.child.pid
      const { http } = yield* wait(() => daemon.ready())
      const status = statusOf((yield* command(["status", "--config", config])).stdout)
      expect(status.daemon).toEqual({ pid, http })
      expect(status.accounts).toMatchObject([{ account: "acme", state: "watching" }])
      expect((yield* command(["events", "--config", config])).stdout).toHaveLength(1)
      expect(yield* command(["sinks", "retry", "ops", "--config", config])).toMatchObject({
        code: 2,
        stderr: [expect.stringContaining(`process ${pid} runs on`), expect.anything()]
      })
      daemon.program.signal("SIGCONT")
    })
  )
})
