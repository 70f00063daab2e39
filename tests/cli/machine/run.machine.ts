/**
 * Every way in which `berth run` can end. Its node is deleted, and no other node. `berth reap` deletes what a killed run leaves behind.
 * Uses real processes, and real terminals made by Linux's `script`.
 */
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Program } from "@berthkit/testing/Program"
import { TestServer, type TestServerOptions } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { firstStatus } from "../../account.ts"
import { json, run, settings, start } from "../berth.ts"
import { stateFolder } from "../stateFolder.ts"
import { binary, order, service as serviceOf, wordsOf } from "./ofRun.ts"

/** A service that allows two nodes with the same name: the run's node and a foreign node. */
const service = (options: TestServerOptions = {}) => serviceOf({ uniqueNames: false, ...options })

const sh = (script: string) => ["sh", "-c", script]
const forever = sh("echo started; exec sleep 300")

/** A user's environment, and a node that has the same name as the run's node but does not belong to the run. */
const user = Effect.gen(function* () {
  const env = { ...(yield* settings), XDG_STATE_HOME: yield* stateFolder }
  const { code, stderr } = yield* run(["node", "create", "job", ...order], { env })
  assert.strictEqual(code, 0, stderr)
  return env
})

/** The nodes that exist, read from the service itself, the oldest first. */
const nodes = Effect.flatMap(TestServer, ({ control, id }) =>
  Effect.map(Effect.orDie(control.nodes.list({ params: { world: id }, query: {} })), (found) =>
    found.toSorted((a, b) => a.id - b.id)
  )
)

const leasesIn = ({ XDG_STATE_HOME }: { readonly XDG_STATE_HOME: string }) => {
  const accounts = join(XDG_STATE_HOME, "berth", "accounts")
  return readdirSync(accounts)
    .map((account) => join(accounts, account, "records/lease"))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
}

/** Checks that the run's node is being deleted, the other node is not, and nothing is left of the lease. */
const ensureOnlyItsNodeIsDeleted = Effect.fnUntraced(function* (env: { readonly XDG_STATE_HOME: string }, made = 1) {
  const [other, ...own] = yield* nodes
  assert.notStrictEqual(other!.status, "terminate")
  assert.deepStrictEqual(
    own.map(({ name, status }) => [name, status]),
    Array.from({ length: made }, () => ["job", "terminate"])
  )
  assert.deepStrictEqual(leasesIn(env), [])
})

const untilMade = (count: number) =>
  Effect.repeat(nodes, { until: ({ length }) => length >= count, schedule: Schedule.spaced("50 millis") })

const untilDeleted = Effect.repeat(nodes, {
  until: ([, own]) => own?.status === "terminate",
  schedule: Schedule.spaced("50 millis")
})

type Running = Effect.Success<ReturnType<typeof start>>

interface Stage {
  readonly options: TestServerOptions
  readonly prepare: Effect.Effect<unknown, never, TestServer>
  readonly reached: (running: Running) => Effect.Effect<unknown, never, TestServer>
}

/** How far a run has come. */
const stages: Readonly<Record<string, Stage>> = {
  "while the reply to its create is on its way": {
    options: {},
    prepare: Effect.flatMap(TestServer, ({ arm }) =>
      arm([{ fault: "latency", delay: "10 minutes", scope: { operation: "nodes.create" } }])
    ),
    reached: () => untilMade(2)
  },
  "while its node does not run yet": {
    options: { provisioning: "1 hour" },
    prepare: Effect.void,
    reached: (running: Running) => running.untilStderr(`): ${firstStatus} (`)
  },
  "while its command runs": {
    options: {},
    prepare: Effect.void,
    reached: (running: Running) => running.untilStdout("started")
  }
}

/** The signals that end a run, with their exit codes. */
const ends = [
  [["SIGINT"], 130],
  [["SIGTERM"], 143],
  [["SIGHUP"], 129],
  [["SIGINT", "SIGINT"], 130]
] as const

for (const [stage, { options, prepare, reached }] of Object.entries(stages)) {
  describe(`a run that is ended ${stage}`, () => {
    it.live.each(ends)("by %j deletes its node and no other, and exits with %i", ([signals, code]) =>
      Effect.gen(function* () {
        const env = yield* user
        yield* prepare
        const running = yield* start(wordsOf(forever), { env })
        yield* reached(running)
        for (const signal of signals) yield* running.kill(signal)
        const ended = yield* running.ended
        assert.strictEqual(ended.code, code, ended.stderr)
        assert.include(ended.stderr, "Deleted node")
        yield* ensureOnlyItsNodeIsDeleted(env)
      }).pipe(Effect.scoped, Effect.provide(service(options)))
    )

    it.live("by SIGKILL leaves a lease, by which a reap deletes its node and no other", () =>
      Effect.gen(function* () {
        const env = yield* user
        yield* prepare
        const running = yield* start(wordsOf(forever), { env })
        yield* reached(running)
        const early = yield* run(["reap", "-o", "json"], { env })
        assert.deepStrictEqual([early.code, json(early)], [0, []], "a run that lives is not touched")
        yield* running.kill("SIGKILL")
        yield* Effect.flatMap(TestServer, ({ arm }) => arm([]))
        const ended = yield* run(["reap", "-o", "json"], { env })
        const [, own] = yield* nodes
        assert.deepStrictEqual(
          [
            ended.code,
            json<ReadonlyArray<{ id: number; outcome: string }>>(ended).map(({ id, outcome }) => [id, outcome])
          ],
          [0, [[own!.id, "deleted"]]],
          ended.stderr
        )
        yield* ensureOnlyItsNodeIsDeleted(env)
      }).pipe(Effect.scoped, Effect.provide(service(options)))
    )
  })
}

describe("the command of a run", () => {
  it.live.each([
    ["exit 0", 0],
    ["exit 7", 7],
    ["kill -TERM $$", 143],
    ["kill -KILL $$", 137]
  ] as const)("gives the exit code: %s is %i", ([script, code]) =>
    Effect.gen(function* () {
      const env = yield* user
      const ended = yield* run(wordsOf(sh(script)), { env })
      assert.deepStrictEqual([ended.code, ended.stdout], [code, ""], ended.stderr)
      yield* ensureOnlyItsNodeIsDeleted(env)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("knows its node, and no credential of berth", () =>
    Effect.gen(function* () {
      const env = { ...(yield* user), BERTH_STATE_URL: undefined, BERTH_WATCH_TOKEN: "token-of-the-daemon" }
      const { stdout } = yield* run(wordsOf(["env"]), { env })
      const [, own] = yield* nodes
      const lines = stdout.split("\n")
      assert.include(lines, `BERTH_NODE_ID=${own!.id}`)
      assert.isTrue(lines.some((line) => /^BERTH_NODE_IP=\d+\.\d+\.\d+\.\d+$/.test(line)))
      for (const secret of [env.BERTH_API_KEY, env.BERTH_ACCESS_TOKEN, env.BERTH_WATCH_TOKEN])
        assert.notInclude(stdout, secret)
      assert.notMatch(stdout, /^BERTH_(?:API_KEY|ACCESS_TOKEN)=/m)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("that does not exist makes no node", () =>
    Effect.gen(function* () {
      const env = yield* user
      const { code, stderr } = yield* run(wordsOf(["no-such-program"]), { env })
      assert.strictEqual(code, 2)
      assert.match(stderr, /^error: no-such-program cannot be run: .+\.\nhint: .+\n$/)
      assert.lengthOf(yield* nodes, 1)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("that ignores signals is killed before its node goes", () =>
    Effect.gen(function* () {
      const env = yield* user
      const running = yield* start(wordsOf(sh('trap "" INT TERM; echo started; while :; do sleep 0.1; done')), { env })
      yield* running.untilStdout("started")
      yield* running.kill("SIGTERM")
      assert.strictEqual((yield* running.ended).code, 143)
      yield* ensureOnlyItsNodeIsDeleted(env)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("is stopped when --ttl is over", () =>
    Effect.gen(function* () {
      const env = yield* user
      const { code, stderr } = yield* run(wordsOf(forever, "--ttl", "5s"), { env })
      assert.strictEqual(code, 7)
      assert.match(stderr, /error: The command was stopped, and node \d+ is deleted: --ttl is 5 seconds\.\nhint: /)
      yield* ensureOnlyItsNodeIsDeleted(env)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("a node that never runs", () => {
  it.live("is deleted, and the command is not started", () =>
    Effect.gen(function* () {
      const env = yield* user
      const { code, stderr, stdout } = yield* run(wordsOf(forever, "--timeout", "2s"), { env })
      assert.deepStrictEqual([code, stdout], [7, ""])
      assert.match(stderr, /error: .+ The command was not started, and berth deletes the node\.\nhint: .+\n$/)
      yield* ensureOnlyItsNodeIsDeleted(env)
    }).pipe(Effect.scoped, Effect.provide(service({ provisioning: "1 hour" })))
  )
})

describe("a run at a terminal", () => {
  const atTerminal = Effect.fnUntraced(function* (
    env: Record<string, string>,
    command: ReadonlyArray<string>,
    redirected = ""
  ) {
    const quoted = [process.execPath, binary, ...wordsOf(command)].map((word) => `'${word}'`).join(" ")
    const terminal = yield* Program.start(
      () =>
        new Program(
          "script",
          ["--quiet", "--return", "--flush", "--command", `exec ${quoted} ${redirected}`, "/dev/null"],
          {
            env: { ...env, TERM: "xterm" },
            isInputOpen: true
          }
        )
    )
    yield* Effect.promise(() => terminal.printed("started"))
    return terminal
  })

  it.live.each([["\u0003"], ["\u0003\u0003"]])("that gets %j deletes its node and exits with 130", ([typed]) =>
    Effect.gen(function* () {
      const env = yield* user
      const terminal = yield* atTerminal(env, forever)
      yield* Effect.sync(() => terminal.child.stdin.write(typed))
      assert.strictEqual((yield* Effect.promise(() => terminal.ended)).code, 130)
      yield* ensureOnlyItsNodeIsDeleted(env)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("passes no Ctrl-C on that the command has had already, although its stdin is not the terminal", () =>
    Effect.gen(function* () {
      const env = yield* user
      // While the program starts, two signals count as one. So it prints `started` only after a while.
      const script = `
        process.on("SIGINT", () => console.log("interrupted"))
        setTimeout(() => console.log("started"), 700)
        setTimeout(() => {}, 2500)
      `
      const terminal = yield* atTerminal(env, [process.execPath, "-e", script], "< /dev/null")
      yield* Effect.sync(() => terminal.child.stdin.write("\u0003"))
      const { code, stdout } = yield* Effect.promise(() => terminal.ended)
      assert.deepStrictEqual([code, stdout.split("interrupted").length - 1], [130, 1], stdout)
      yield* ensureOnlyItsNodeIsDeleted(env)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("whose terminal is closed deletes its node", () =>
    Effect.gen(function* () {
      const env = yield* user
      const terminal = yield* atTerminal(env, forever)
      terminal.signal("SIGKILL")
      yield* untilDeleted
      yield* Effect.repeat(
        Effect.sync(() => leasesIn(env)),
        { until: ({ length }) => length === 0, schedule: Schedule.spaced("50 millis") }
      )
      yield* ensureOnlyItsNodeIsDeleted(env)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("run --reuse", () => {
  const printsId = sh('echo "$BERTH_NODE_ID"; exit 3')

  it.live("takes the node that an earlier one kept, which a reap leaves alone until its hour is over", () =>
    Effect.gen(function* () {
      const env = yield* user
      const first = yield* run(wordsOf(printsId, "--reuse"), { env })
      const again = yield* run(wordsOf(printsId, "--reuse"), { env })
      assert.deepStrictEqual([first.code, again.code], [3, 3])
      assert.strictEqual(again.stdout, first.stdout)
      assert.include(again.stderr, "Took node")
      const other = yield* run(wordsOf(printsId, "--reuse", "--tag", "x"), { env })
      assert.notStrictEqual(other.stdout, first.stdout, "another order gets a node of its own")
      assert.deepStrictEqual(json(yield* run(["reap", "-o", "json"], { env })), [])
      assert.lengthOf(
        (yield* nodes).filter(({ status }) => status === "terminate"),
        0
      )
      const reaped = json<ReadonlyArray<{ id: number }>>(yield* run(["reap", "--within", "1h", "-o", "json"], { env }))
      assert.lengthOf(reaped, 2)
      yield* ensureOnlyItsNodeIsDeleted(env, 2)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("that is ended by a signal keeps no node", () =>
    Effect.gen(function* () {
      const env = yield* user
      const running = yield* start(wordsOf(forever, "--reuse"), { env })
      yield* running.untilStdout("started")
      yield* running.kill("SIGTERM")
      assert.strictEqual((yield* running.ended).code, 143)
      yield* ensureOnlyItsNodeIsDeleted(env)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("a lease that cannot be read", () => {
  it.live("is left alone and named, fails a reap, and keeps no other lease from being ended", () =>
    Effect.gen(function* () {
      const env = yield* user
      const kill = Effect.gen(function* () {
        const running = yield* start(wordsOf(forever), { env })
        yield* running.untilStdout("started")
        yield* running.kill("SIGKILL")
      })
      yield* kill
      const [damaged] = leasesIn(env)
      writeFileSync(damaged!, "{")
      yield* kill
      const { code, stderr, stdout } = yield* run(["reap", "-o", "json"], { env })
      const own = (yield* nodes).filter(({ status }) => status === "terminate")
      assert.deepStrictEqual(
        [code, json<ReadonlyArray<{ id: number }>>({ code, stderr, stdout }).map(({ id }) => id)],
        [10, own.map(({ id }) => id)]
      )
      assert.lengthOf(own, 1)
      assert.include(JSON.parse(stderr).error.message, `${damaged} is not a lease that this berth can read`)
      assert.deepStrictEqual(leasesIn(env), [damaged])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("a node that the service deletes late or only in part", () => {
  it.live("stays leased if its delete fails, so that a reap deletes it later", () =>
    Effect.gen(function* () {
      const env = yield* user
      yield* Effect.flatMap(TestServer, ({ arm }) =>
        arm([{ fault: "status", status: 403, scope: { operation: "nodes.delete" } }])
      )
      const running = yield* start(wordsOf(forever), { env })
      yield* running.untilStdout("started")
      yield* running.kill("SIGTERM")
      const ended = yield* running.ended
      assert.strictEqual(ended.code, 143)
      assert.match(ended.stderr, /error: Node job \(\d+\) was not deleted, and is billed: .+\.\nhint: .+ berth reap\n$/)
      assert.isNotEmpty(leasesIn(env))
      yield* Effect.flatMap(TestServer, ({ arm }) => arm([]))
      assert.strictEqual((yield* run(["reap"], { env })).code, 0)
      yield* ensureOnlyItsNodeIsDeleted(env)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("a run that is ended before its create has made anything", () => {
  it.live("says that it looks for the node, and what to do while the outcome is unknown", () =>
    Effect.gen(function* () {
      const { arm, journal } = yield* TestServer
      const env = yield* user
      yield* arm([{ fault: "hang", scope: { operation: "nodes.create" } }])
      const running = yield* start(wordsOf(["true"]), { env })
      yield* Effect.repeat(journal, {
        until: (requests) => requests.filter(({ method }) => method === "POST").length === 2,
        schedule: Schedule.spaced("20 millis")
      })
      yield* running.kill("SIGINT")
      const { code, stderr } = yield* running.ended
      assert.strictEqual(code, 130)
      assert.match(
        stderr,
        /Deleting the node of this run …\n(?:.+ \(\d+ s\)\n)*error: .+ If node job is there, it is billed\.\nhint: Run berth reap in eleven/
      )
      assert.lengthOf(leasesIn(env), 1)
      const dry = yield* run(["reap", "--dry-run"], { env })
      assert.include(dry.stderr, "job: it is not known whether the create made a node; berth reap finds out.")
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("the next run", () => {
  it.live("deletes what a killed one left behind", () =>
    Effect.gen(function* () {
      const env = yield* user
      const running = yield* start(wordsOf(forever), { env })
      yield* running.untilStdout("started")
      yield* running.kill("SIGKILL")
      const { code, stderr } = yield* run(wordsOf(["true"]), { env })
      assert.strictEqual(code, 0)
      assert.match(stderr, /Deleted node \d+ \(job\), which an earlier run left behind\./)
      yield* ensureOnlyItsNodeIsDeleted(env, 2)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})
