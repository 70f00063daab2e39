/**
 * Names cost few requests, and the index that saves them changes no answer.
 */
import { createHash } from "node:crypto"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeId } from "@berthkit/core/domain/Node"
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { TestServer, type TestWorld } from "@berthkit/server/testing"
import { Effect } from "effect"
import * as fc from "fast-check"
import { inDialect, settingsOf } from "../account.ts"
import { json } from "./berth.ts"
import { invoke } from "./invoke.ts"

/** A cache folder for one test. */
const cacheFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-cache-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** The index file of the one account in a cache folder. */
const indexFile = async (cache: string) => {
  const accounts = join(cache, "berth", "accounts")
  const [account = ""] = await readdir(accounts)
  return join(accounts, account, "nodes.json")
}

const plan = "C-2VCPU-8RAM-50DISK"

/** Makes nodes by plain requests, which leave the index as it is. */
const make = (world: TestWorld, name: string, count = 1) =>
  Effect.gen(function* () {
    const body = JSON.stringify({ name, region: "ncr", plan, image: "Ubuntu-22.04" })
    for (let made = 0; made < count; made++) {
      const { code, stderr } = yield* invoke(["api", "POST", "/nodes/", "-d", body], { env: settingsOf(world) })
      assert.strictEqual(code, 0, stderr)
    }
  })

/** Every node of a world, read through its control plane. */
const nodesOf = Effect.fnUntraced(function* ({ control, id: world }: TestWorld) {
  const all: Array<{ readonly id: number; readonly name: string }> = []
  for (let count = -1; count < all.length;) {
    count = all.length
    all.push(...(yield* Effect.orDie(control.nodes.list({ params: { world }, query: { skip: count } }))))
  }
  return all
})

/** Deletes nodes, and lets them disappear. */
const erase = Effect.fnUntraced(function* (world: TestWorld, ids: ReadonlyArray<number>) {
  for (const id of ids) {
    const params = { world: world.id, id: NodeId.make(id) }
    yield* Effect.orDie(world.control.nodes.change({ params, payload: { status: "terminate" } }))
  }
  yield* world.advance("1 day")
})

/** Runs a command, and counts its requests. */
const counted = Effect.fnUntraced(function* (
  world: TestWorld,
  env: Record<string, string>,
  args: ReadonlyArray<string>
) {
  const { control, id } = world
  const last = Effect.orDie(
    Effect.map(control.requests.read({ params: { world: id }, query: {} }), ({ requests }) => requests.at(-1)?.seq ?? 0)
  )
  const before = yield* last
  const ended = yield* invoke(args, { env: { ...settingsOf(world), ...env } })
  return { ...ended, requests: (yield* last) - before }
})

describe("a name among 10 000 nodes", () => {
  it.live("takes at most 3 requests with an index, also of a new node of that name and of a name that is gone", () =>
    Effect.gen(function* () {
      const world = yield* TestServer
      const env = { XDG_CACHE_HOME: yield* cacheFolder }
      const nodes = yield* nodesOf(world)
      const [first, middle, last] = [nodes[3]!, nodes[5000]!, nodes.at(-1)!]
      const get = (node: string) => counted(world, env, ["node", "get", node, "-o", "json"])
      const cold = yield* get(middle.name)
      assert.strictEqual(json<{ id: number }>(cold).id, middle.id)
      assert.isAbove(cold.requests, 100)
      for (const { id, name } of [first, middle, last]) {
        const warm = yield* get(name)
        assert.strictEqual(json<{ id: number }>(warm).id, id)
        assert.isAtMost(warm.requests, 3)
      }
      assert.deepStrictEqual((yield* get(middle.name)).stdout, cold.stdout)
      for (const args of [["node", "wait", middle.name], ...byName.map((command) => command(middle.name))]) {
        const warm = yield* counted(world, env, [...args, "-o", "json"])
        assert.strictEqual(warm.code, 0, warm.stderr)
        assert.isAtMost(warm.requests, 3, args.join(" "))
      }
      // A delete is one request more than finding the node.
      const deleted = yield* counted(world, env, ["node", "delete", nodes[77]!.name, "--yes", "-o", "json"])
      assert.deepStrictEqual([deleted.code, deleted.requests], [0, 3])

      yield* make(world, "fresh", 49)
      yield* make(world, middle.name)
      const twin = yield* get(middle.name)
      assert.strictEqual(twin.code, 2)
      assert.include(twin.stderr, `${middle.id} (`)
      assert.isAtMost(twin.requests, 3)

      yield* erase(
        world,
        nodes.slice(9000, 9050).map(({ id }) => id)
      )
      const gone = yield* get(nodes[9001]!.name)
      assert.strictEqual(gone.code, 4)
      assert.isAtMost(gone.requests, 3)
      const still = yield* get(last.name)
      assert.strictEqual(json<{ id: number }>(still).id, last.id)
      assert.isAtMost(still.requests, 3)
    }).pipe(
      Effect.scoped,
      Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 10_000 }, rateLimit: { limit: 100_000 } })))
    )
  )

  it.live("by its id shows what only the list has in at most 9 requests without an index", () =>
    Effect.gen(function* () {
      const world = yield* TestServer
      const nodes = yield* nodesOf(world)
      for (const at of [0, 1234, 9999]) {
        const env = { XDG_CACHE_HOME: yield* cacheFolder }
        const { id } = nodes[at]!
        const byId = yield* counted(world, env, ["node", "get", String(id), "-o", "json"])
        assert.isAtMost(byId.requests, 9)
        const { memoryMib, plan, region } = json<Record<string, unknown>>(byId)
        assert.isAbove(Number(memoryMib), 0)
        assert.match(String(plan), /VCPU/)
        assert.strictEqual(region, "ncr")
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 10_000 } }))))
  )
})

/** Commands that find a node by what names it, and change nothing. */
const byName = [
  (node: string) => ["node", "get", node],
  (node: string) => ["node", "delete", node, "--dry-run"],
  (node: string) => ["node", "ip", node],
  (node: string) => ["commitment", "set", node, "auto_terminate", "--dry-run"]
] as const

type Happening = { readonly kind: "make" | "delete" | "stale" | "broken"; readonly at: number }

const happening: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constantFrom("make", "delete", "stale", "broken"),
  at: fc.nat(1000)
})

/** A node in the text of an index. */
type Row = [id: number, name: string, plan: string, image: string, memoryMib: number, region: string, created: number]

/** The text of an index with other nodes, and the checksum of that. */
const forged = (text: string, change: (rows: Array<Row>) => void): string => {
  const content: [number, object, Array<Row>] = JSON.parse(text.split("\n")[1]!)
  change(content[2])
  const body = JSON.stringify(content)
  return `${createHash("sha256").update(body).digest("hex").slice(0, 32)}\n${body}\n`
}

describe("an index of 140 nodes", () => {
  it.live("that has other nodes under the ids changes no answer", () =>
    Effect.gen(function* () {
      const world = yield* TestServer
      const nodes = yield* nodesOf(world)
      const env = { XDG_CACHE_HOME: yield* cacheFolder }
      yield* counted(world, env, ["node", "get", "*", "-o", "id"])
      const path = yield* Effect.promise(() => indexFile(env.XDG_CACHE_HOME))
      const sound = yield* Effect.promise(() => readFile(path, "utf8"))
      for (const text of [
        forged(sound, (rows) => {
          rows[3]![1] = nodes[70]!.name
          rows[70]![1] = nodes[3]!.name
        }),
        forged(sound, (rows) => {
          rows[3]![6] = 0
        }),
        forged(sound, (rows) => {
          rows[90]![1] = nodes[3]!.name
        })
      ]) {
        yield* Effect.promise(() => writeFile(path, text))
        const found = yield* counted(world, env, ["node", "get", nodes[3]!.name, "-o", "json"])
        assert.strictEqual(json<{ id: number }>(found).id, nodes[3]!.id, found.stderr)
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 140 } }))))
  )

  it.live("costs a pattern no more requests than the list does", () =>
    Effect.gen(function* () {
      const world = yield* TestServer
      const env = { XDG_CACHE_HOME: yield* cacheFolder }
      const pattern = ["node", "delete", "fleet-1*", "--dry-run", "-o", "id"]
      const cold = yield* counted(world, env, pattern)
      const warm = yield* counted(world, env, pattern)
      assert.isAbove(cold.stdout.split("\n").length, 20)
      assert.strictEqual(warm.stdout, cold.stdout)
      assert.isAtMost(warm.requests, cold.requests)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 140 } }))))
  )

  it.live("is that of the account as a name was found last", () =>
    Effect.gen(function* () {
      const world = yield* TestServer
      const env = { XDG_CACHE_HOME: yield* cacheFolder }
      yield* counted(world, env, ["node", "get", "*", "-o", "id"])
      yield* make(world, "fresh", 60)
      const get = (name: string) => counted(world, env, ["node", "get", name, "-o", "json"])
      yield* get("none")
      // What was read of the end of the list then is not read again.
      const { requests } = yield* get("none")
      assert.isAtMost(requests, 2)
      // A node that is known from its id alone is found once, by its name too.
      yield* make(world, "newest")
      const newest = (yield* nodesOf(world)).at(-1)!
      const byId = yield* counted(world, env, ["node", "get", String(newest.id), "-o", "json"])
      const named = yield* get("newest")
      assert.deepStrictEqual([named.code, named.stdout], [0, byId.stdout], named.stderr)
    }).pipe(
      Effect.scoped,
      Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 140 }, rateLimit: { limit: 10_000 } })))
    )
  )
})

describe("the index", () => {
  it.live("changes no answer, whatever was created and deleted, also when it is stale or damaged", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const run = (history: ReadonlyArray<Happening>) =>
        Effect.gen(function* () {
          const world = yield* makeWorld(inDialect({ scenario: { fleet: 140 }, rateLimit: { limit: 100_000 } }))
          const cache = yield* cacheFolder
          const ask = (env: Record<string, string>, node: string, command: (typeof byName)[number] = byName[0]) =>
            Effect.map(
              invoke([...command(node), "-o", "json"], { env: { ...settingsOf(world), ...env } }),
              ({ code, stderr, stdout }) => ({
                command: command(node),
                code,
                stdout,
                // A spelling that may be meant is a guess: the index may hold one that is gone.
                stderr: stderr.replace(/"attempts":\[[^\]]*\]/, "").replace(/; did you mean [^"]*\?"/, '."')
              })
            )
          const withIndex = { XDG_CACHE_HOME: cache }
          yield* ask(withIndex, "*")
          const path = yield* Effect.promise(() => indexFile(cache))
          const stale = yield* Effect.promise(() => readFile(path, "utf8"))
          const names = (yield* nodesOf(world)).map(({ name }) => name)
          for (const { at, kind } of history) {
            const nodes = yield* nodesOf(world)
            const some = nodes[at % Math.max(1, nodes.length)]
            const name = names[at % names.length]!
            if (kind === "make") yield* make(world, at % 3 === 0 ? "9" : name, 1 + (at % 4))
            if (kind === "delete" && some) {
              yield* erase(
                world,
                nodes.slice(at % nodes.length, (at % nodes.length) + 1 + (at % 60)).map(({ id }) => id)
              )
            }
            if (kind === "stale") yield* Effect.promise(() => writeFile(path, stale))
            if (kind === "broken") {
              const text = yield* Effect.promise(() => readFile(path, "utf8"))
              yield* Effect.promise(() => writeFile(path, text.slice(0, (at * 997) % text.length) + text.slice(at % 7)))
            }
            const asked = [name, some?.name ?? "none", String(some?.id ?? 1), `${name.slice(0, -1)}*`, "9", "name:9"]
            for (const [index, node] of asked.entries()) {
              const command = byName[(at + index) % byName.length]
              assert.deepStrictEqual(
                yield* ask(withIndex, node, command),
                yield* ask({}, node, command),
                JSON.stringify(history)
              )
            }
          }
        }).pipe(Effect.scoped)
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(fc.array(happening, { minLength: 1, maxLength: 5 }), (history) =>
            Effect.runPromise(run(history))
          ),
          { numRuns: isSoak ? 10 : 3 }
        )
      )
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ termination: "1 minute" }))))
  )
})
