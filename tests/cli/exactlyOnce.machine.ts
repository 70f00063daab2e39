/** A create makes one node, even if the process is stopped or killed. With a key, this holds even if the create is repeated. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { HttpService } from "@berthkit/testing/HttpService"
import type { Ended } from "@berthkit/testing/Program"
import { TestServer } from "@berthkit/server/testing"
import { DateTime, Effect, Schedule } from "effect"
import { parse } from "yaml"
import { inDialect, isToday } from "../account.ts"
import { berth, json, lines, run, settings, start } from "./berth.ts"
import { stateFolder } from "./stateFolder.ts"

const create = (name: string, ...more: ReadonlyArray<string>) => [
  "node",
  "create",
  "--name",
  name,
  "--plan",
  "C-2VCPU-8RAM-50DISK",
  "--image",
  "Ubuntu-22.04",
  "-o",
  "yaml",
  ...more
]

/** The nodes that exist, read from the service itself. */
const nodes = Effect.flatMap(TestServer, ({ control, id }) =>
  Effect.orDie(control.nodes.list({ params: { world: id }, query: {} }))
)

/** From now on, the service processes creates at once, but replies only after the command has given up. */
const lateReplies = Effect.flatMap(TestServer, ({ arm }) =>
  arm([{ fault: "latency", delay: "1 minute", scope: { operation: "nodes.create" } }])
)
const promptReplies = Effect.flatMap(TestServer, ({ arm }) => arm([]))

/** Starts a create, and waits until the service has made the node but has not replied yet. */
const startUntilMade = (args: ReadonlyArray<string>, state: string) =>
  Effect.gen(function* () {
    yield* lateReplies
    const before = (yield* nodes).length
    const running = yield* start(args, { env: { ...(yield* settings), XDG_STATE_HOME: state } })
    yield* Effect.repeat(nodes, { until: (now) => now.length > before, schedule: Schedule.spaced("20 millis") })
    yield* promptReplies
    return running
  })

/** The folders of the unsettled and of the settled creates of every account. */
const folders = (state: string) => {
  const accounts = join(state, "berth", "accounts")
  return readdirSync(accounts).flatMap((account) => {
    const creates = join(accounts, account, "creates")
    const settled = join(creates, "settled")
    // An API key without a place has a folder, too, but no creates.
    const open = existsSync(creates) ? [join(creates, "open")] : []
    return [...open, ...(existsSync(settled) ? readdirSync(settled).map((name) => join(settled, name)) : [])]
  })
}

/** The creates that the state folder records for the only account: all, or only those that have not ended. */
const recorded = (state: string, which: "all" | "open" = "all") =>
  folders(state)
    .flatMap((folder) => readdirSync(folder).map((name) => ({ name, file: join(folder, name) })))
    .filter(({ name }) => name.endsWith(".json"))
    .filter(({ file }) => {
      if (which === "all") return true
      const { fate, nodeId } = JSON.parse(readFileSync(file, "utf8")) as Record<"fate" | "nodeId", unknown>
      return nodeId === null && fate !== "reported"
    })
    .map(({ name }) => name)
    .toSorted()

const idOf = (ended: Ended) => (parse(ended.stdout) as { readonly id: number }).id

/** A name that a command line has to quote, if the dialect allows spaces in names. */
const spaced = isToday ? "web-1" : "web 1"

const service = TestServer.layer(inDialect({ clock: "real" }))

describe("node create --key", () => {
  it.live("killed between the request and its reply and run again makes one node", () =>
    Effect.gen(function* () {
      const state = yield* stateFolder
      const running = yield* startUntilMade(create("web", "--key", "job-1"), state)
      yield* running.kill("SIGKILL")
      yield* running.ended
      const again = yield* berth(create("web", "--key", "job-1"), { env: { XDG_STATE_HOME: state } })
      assert.strictEqual(again.code, 0)
      assert.deepStrictEqual(
        (yield* nodes).map(({ id }) => id as number),
        [idOf(again)]
      )
      assert.include(again.stderr, `Created node ${idOf(again)} earlier with the same key.`)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("repeated after it ended returns the same node, and makes none if that node is gone", () =>
    Effect.gen(function* () {
      const env = { XDG_STATE_HOME: yield* stateFolder }
      const [first, again] = [
        yield* berth(create("web", "--key", "job-1"), { env }),
        yield* berth(create("web", "--key", "job-1"), { env })
      ]
      assert.strictEqual(idOf(again), idOf(first))
      assert.lengthOf(yield* nodes, 1)
      yield* berth(["node", "delete", "web", "--yes", "--wait"], { env })
      const late = yield* berth(create("web", "--key", "job-1"), { env })
      assert.deepStrictEqual([late.code, late.stdout], [5, ""])
      assert.include(
        late.stderr,
        `error: This --idempotency-key cannot be used: it made node ${idOf(first)}, which is gone`
      )
      assert.isEmpty(yield* nodes)
      assert.strictEqual((yield* berth(create("web", "--key", "job-2"), { env })).code, 0)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real", termination: "50 millis" }))))
  )

  it.live("run twice at once makes one node, and both return it", () =>
    Effect.gen(function* () {
      const env = { XDG_STATE_HOME: yield* stateFolder }
      const run = berth(create("web", "--key", "job-1"), { env })
      const [one, other] = yield* Effect.all([run, run], { concurrency: 2 })
      assert.strictEqual(idOf(one), idOf(other))
      assert.lengthOf(yield* nodes, 1)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("with the key of another create is refused", () =>
    Effect.gen(function* () {
      const env = { XDG_STATE_HOME: yield* stateFolder }
      yield* berth(create("web", "--key", "job-1"), { env })
      const { code, stderr, stdout } = yield* berth(create("store", "--key", "job-1"), { env })
      assert.deepStrictEqual([code, stdout], [5, ""])
      assert.include(
        stderr,
        "error: This --idempotency-key cannot be used: it belongs to another create, of web on C-2"
      )
      assert.include(stderr, "hint: Use another --idempotency-key for a new create.")
      assert.lengthOf(yield* nodes, 1)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  for (const [what, spoil] of [
    ["state folder that cannot be made", (state: string) => writeFileSync(join(state, "berth"), "")],
    [
      "damaged record of the key",
      (state: string) => {
        for (const folder of folders(state)) writeFileSync(join(folder, "job-1.json"), "{")
      }
    ]
  ] as const) {
    it.live(`exits 10 for a ${what}, sends nothing, and names the flag`, () =>
      Effect.gen(function* () {
        const state = yield* stateFolder
        const env = { XDG_STATE_HOME: state }
        if (what === "damaged record of the key") {
          yield* berth(create("store", "--idempotency-key", "job-0"), { env })
        }
        const before = (yield* nodes).length
        yield* Effect.sync(() => spoil(state))
        const args = create("web", "--idempotency-key", "job-1").map((word) => (word === "yaml" ? "json" : word))
        const { code, stderr, stdout } = yield* berth(args, { env })
        assert.deepStrictEqual([code, stdout], [10, ""])
        const { error } = JSON.parse(lines(stderr).at(-1)!)
        assert.strictEqual(error.code, "StateUnavailable")
        assert.include(error.hint, "--idempotency-key")
        assert.include(error.details.path, join(state, "berth"))
        assert.lengthOf(yield* nodes, before)
      }).pipe(Effect.scoped, Effect.provide(service))
    )
  }

  it.live("with --dry-run uses the key for nothing", () =>
    Effect.gen(function* () {
      const state = yield* stateFolder
      yield* berth(create("store", "--key", "job-1", "--dry-run"), { env: { XDG_STATE_HOME: state } })
      assert.deepStrictEqual(recorded(state), [])
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("node create --count with a key", () => {
  it.live("makes each node once, and run again with a larger count makes the missing ones", () =>
    Effect.gen(function* () {
      const env = { XDG_STATE_HOME: yield* stateFolder }
      const make = (count: number) =>
        Effect.map(
          berth(create("web", "--key", "job", "--count", String(count), "--yes", "-o", "json"), { env }),
          (ended) => json<ReadonlyArray<{ readonly id: number; readonly name: string }>>(ended)
        )
      const first = yield* make(2)
      const again = yield* make(2)
      const more = yield* make(3)
      assert.deepStrictEqual(
        more.map(({ name }) => name),
        ["web-1", "web-2", "web-3"]
      )
      const ids = (made: ReadonlyArray<{ readonly id: number }>) => made.map(({ id }) => id)
      assert.deepStrictEqual(ids(again), ids(first))
      assert.deepStrictEqual(ids(more).slice(0, 2), ids(first))
      assert.lengthOf(yield* nodes, 3)
      assert.deepStrictEqual(recorded(env.XDG_STATE_HOME), ["job-1.json", "job-2.json", "job-3.json"])
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("node create", () => {
  it.live("leaves nothing open behind", () =>
    Effect.gen(function* () {
      const state = yield* stateFolder
      yield* berth(create("web"), { env: { XDG_STATE_HOME: state } })
      assert.lengthOf(yield* nodes, 1)
      assert.deepStrictEqual(recorded(state, "open"), [])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("that was killed is reported by the next one, once", () =>
    Effect.gen(function* () {
      const state = yield* stateFolder
      const running = yield* startUntilMade(create(spaced), state)
      yield* running.kill("SIGKILL")
      yield* running.ended
      assert.lengthOf(recorded(state), 1)
      // Its stderr contains only an error, so the report waits for a run that can show it.
      const silent = yield* berth(create("build", "-o", "json"), { env: { XDG_STATE_HOME: state } })
      assert.deepStrictEqual([silent.code, silent.stderr], [0, ""])
      const notes = yield* Effect.forEach(["store", "cache"], (name) =>
        Effect.map(berth(create(name), { env: { XDG_STATE_HOME: state } }), ({ stderr }) =>
          lines(stderr).filter((line) => line.includes("An earlier create"))
        )
      )
      assert.deepStrictEqual(
        notes.map(({ length }) => length),
        [1, 0]
      )
      assert.match(
        notes[0]![0]!,
        isToday
          ? /^An earlier create of web-1 was interrupted \(\S+Z\)\. Check whether it exists: berth node list --name web-1$/
          : /^An earlier create of web 1 was interrupted \(\S+Z\)\. Check whether it exists: berth node list --name 'web 1'$/
      )
      assert.deepStrictEqual(recorded(state, "open"), [])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("six at once whose replies are all lost: each node is one run's, and the others exit 8", () =>
    Effect.gen(function* () {
      const state = yield* stateFolder
      const made: Array<{ readonly id: number; readonly name: string; readonly created_at: string }> = []
      let posts = 0
      const { url } = yield* HttpService.start((request, response) => {
        request.resume()
        if (request.method === "POST") {
          // The service carries out every other create.
          if (posts++ % 2 === 0) {
            made.push({ id: 101 + made.length, name: "web", created_at: DateTime.formatIso(DateTime.nowUnsafe()) })
          }
          request.socket.destroy()
          return
        }
        const path = new URL(request.url!, url)
        const id = /nodes\/(\d+)\/$/.exec(path.pathname)?.[1]
        const listed = path.searchParams.get("page_no") === "1" ? made : []
        const data = id === undefined ? listed : made.find((node) => String(node.id) === id)
        response.end(JSON.stringify({ message: "Success", code: 200, data, errors: {} }))
      })
      const env = { BERTH_BASE_URL: url, BERTH_API_KEY: "key", BERTH_ACCESS_TOKEN: "token", XDG_STATE_HOME: state }
      const runs = yield* Effect.forEach(
        Array.from({ length: 6 }),
        () => run([...create("web", "--force", "--yes"), "-o", "json"], { env }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(posts, 6)
      assert.deepStrictEqual(runs.map(({ code }) => code).toSorted(), [0, 0, 0, 8, 8, 8])
      const ids = runs.filter(({ code }) => code === 0).map((ended) => json<{ readonly id: number }>(ended).id)
      assert.deepStrictEqual(ids.toSorted(), [101, 102, 103])
    }).pipe(Effect.scoped)
  )

  it.live("on Ctrl-C reports that the node may exist and how to find out, and exits 130", () =>
    Effect.gen(function* () {
      const state = yield* stateFolder
      for (const [name, key, hint] of [
        ["web", [], "Check whether it exists: berth node list --name web"],
        ["store", ["--key", "job-1"], "Run the same command again to finish."]
      ] as const) {
        const running = yield* startUntilMade([...create(name, ...key), "-o", "json"], state)
        yield* running.kill("SIGINT")
        const { code, stderr, stdout } = yield* running.ended
        assert.deepStrictEqual([code, stdout], [130, ""])
        const { error } = JSON.parse(lines(stderr).at(-1)!)
        assert.deepStrictEqual([error.code, error.hint], ["Interrupted", hint])
      }
      assert.deepStrictEqual(recorded(state, "open"), ["job-1.json"])
      const finished = yield* berth(create("store", "--key", "job-1"), { env: { XDG_STATE_HOME: state } })
      assert.strictEqual(finished.code, 0)
      assert.lengthOf(yield* nodes, 2)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})
