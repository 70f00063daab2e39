/**
 * Programs on Bun, Deno and Node that share a state folder. One key makes one node, even if any of the programs is killed and another one
 * continues. Together the programs stay within the rate limit.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
import { TestServer, type TestWorld } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Random, Redacted, Schedule } from "effect"
import { countAll, plenty } from "../core/creation/makers.ts"
import { runtimes } from "./runtimes.ts"

const all = { ...runtimes, Node: [process.execPath] } as const
type Runtime = keyof typeof all
const names = Object.keys(all) as ReadonlyArray<Runtime>

const maker = fileURLToPath(new URL("../core/creation/maker.ts", import.meta.url))
const member = fileURLToPath(new URL("../core/allowance/member.ts", import.meta.url))

/** How many creates of a maker are under way at the same time. */
const atOnce = 4

/** Starts a program of the tests on a runtime. */
const on = (runtime: Runtime, program: string, args: ReadonlyArray<string>) => {
  const [command, ...before] = all[runtime]
  return new Program(command, [...before, program, ...args])
}

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-mixed-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const argsOf = ({ accessToken, apiKey, baseUrl }: TestWorld, ...more: ReadonlyArray<string>) => [
  baseUrl,
  Redacted.value(apiKey),
  Redacted.value(accessToken),
  ...more
]

/** A maker's report about a key. */
interface Made {
  readonly key: number
  readonly outcome: string
  readonly id: number
}

const madeBy = (stdout: string): ReadonlyArray<Made> =>
  stdout
    .trim()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))

describe.concurrent("a create that the service loses, and whose process is killed", () => {
  for (const first of names) {
    for (const second of names) {
      it(`on ${first} is not sent again by ${second}`, async () => {
        let posts = 0
        const posted = Promise.withResolvers<void>()
        await using service = await HttpService.listen((request, response) => {
          request.resume()
          if (request.method !== "POST") {
            response.end(JSON.stringify({ message: "Success", code: 200, data: [], errors: {} }))
            return
          }
          posts++
          posted.resolve()
        })
        const state = await mkdtemp(join(tmpdir(), "berth-mixed-"))
        try {
          const args = [service.url, "key", "token", state, "1"]
          await using killed = on(first, maker, args)
          await posted.promise
          await killed.kill()
          await using next = on(second, maker, args)
          const [made] = madeBy(await next.succeeded())
          assert.deepStrictEqual([made?.outcome, posts], ["OutcomeUnknown", 1])
        } finally {
          await rm(state, { recursive: true })
        }
      })
    }
  }
})

describe("makers on Bun, Deno and Node by turns", () => {
  it.live("make one node for each key, however many of them are killed", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const world = yield* server.makeWorld({ clock: "real", rateLimit: plenty })
      const count = 40
      const args = argsOf(world, yield* folder, String(count))
      for (const runtime of [...names, ...names]) {
        // Kill the maker once this many creates are answered and the service has processed those under way.
        const [before, answered] = [yield* countAll(world), yield* Random.nextIntBetween(0, 3)]
        yield* world.arm([
          { fault: "latency", delay: "1 hour", after: answered, times: atOnce, scope: { operation: "nodes.create" } }
        ])
        const process = yield* Program.start(() => on(runtime, maker, args))
        yield* Effect.repeat(countAll(world), {
          until: (now) => now === before + answered + atOnce,
          schedule: Schedule.spaced("10 millis")
        })
        yield* Effect.promise(() => process.kill())
        yield* world.arm([])
      }
      const last = yield* Program.start(() => on("Node", maker, args))
      const made = madeBy(yield* Effect.promise(() => last.succeeded()))
      assert.strictEqual(new Set(made.map(({ id }) => id)).size, count)
      assert.strictEqual(yield* countAll(world), count)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )
})

/** The shortest window in which processes of one machine get no 429, even if other programs run there (decision 0177). */
const windowMillis = 20_000
const limit = 100
/** How long each process sends requests: until some time in the second window. */
const askingMillis = 26_000

describe.concurrent("a process that begins when the allowance is used up", () => {
  for (const first of names) {
    for (const second of names) {
      it.live(`on ${second} reads that from ${first}, and gets no 429`, () =>
        Effect.gen(function* () {
          const server = yield* TestServer
          const world = yield* server.makeWorld({
            clock: "real",
            rateLimit: { limit: 60, window: 3_600_000, algorithm: "fixed-window" }
          })
          const args = argsOf(world, join(yield* folder, "allowance.json"), "3000")
          for (const runtime of [first, second]) {
            const program = yield* Program.start(() => on(runtime, member, args))
            yield* Effect.promise(() => program.succeeded())
          }
          const journal = yield* world.journal
          assert.isEmpty(journal.filter(({ status }) => status === 429))
          assert.isAbove(journal.length, 50)
        }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
      )
    }
  }
})

describe("processes that share an allowance", () => {
  it.live("on Bun, Deno and Node stay within it, also when one is killed", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const world = yield* server.makeWorld({
        clock: "real",
        rateLimit: { limit, window: windowMillis, algorithm: "fixed-window" }
      })
      const args = argsOf(world, join(yield* folder, "allowance.json"), String(askingMillis))
      const [first, ...rest] = yield* Effect.forEach([...names, ...names], (runtime) =>
        Program.start(() => on(runtime, member, args))
      )
      yield* Effect.repeat(world.journal, {
        until: (journal) => journal.length > 20,
        schedule: Schedule.spaced("50 millis")
      })
      yield* Effect.promise(() => first!.kill())
      yield* Effect.promise(() => Promise.all(rest.map((program) => program.succeeded())))
      const journal = yield* world.journal
      assert.isEmpty(journal.filter(({ status }) => status === 429))
      assert.isAbove(journal.length, limit, "they go on after the first window")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )
})
