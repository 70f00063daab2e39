/** Several processes that use one key and share what they know through PostgreSQL, as processes on several machines do. */
import { fileURLToPath } from "node:url"
import { Postgres } from "@berthkit/testing/Postgres"
import { Program } from "@berthkit/testing/Program"
import { TestServer } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { inDialect, settingsOf } from "../../account.ts"
import { json, run } from "../../cli/berth.ts"
import { stateFolder } from "../../cli/stateFolder.ts"

const member = fileURLToPath(new URL("databaseMember.ts", import.meta.url))
const windowMillis = 20_000
const limit = 200
const pageSizes = [11, 12, 13] as const
const [killed, ...survivors] = pageSizes

type World = Effect.Success<ReturnType<TestServer["Service"]["makeWorld"]>>
type Journal = Effect.Success<World["journal"]>

/** The requests of each window. A window begins with the first request after the end of the previous window. */
const windowsOf = (journal: Journal): ReadonlyArray<Journal> => {
  const windows: Array<Array<Journal[number]>> = []
  for (const request of journal) {
    const [first] = windows.at(-1) ?? []
    if (first === undefined || Date.parse(request.at) - Date.parse(first.at) >= windowMillis) windows.push([request])
    else windows.at(-1)!.push(request)
  }
  return windows
}

/** Waits until this many windows after the first one have ended. */
const untilAfter = (world: World, count: number) =>
  Effect.repeat(world.journal, {
    until: (journal) => windowsOf(journal).length > count + 1,
    schedule: Schedule.spaced("200 millis")
  })

const bySurvivors = (window: Journal) =>
  window.filter(({ query }) => survivors.some((size) => query["per_page"] === String(size))).length

describe("three processes and berth that share a key through PostgreSQL", () => {
  for (const algorithm of ["fixed-window", "sliding-window", "token-bucket"] as const) {
    it.live(`stay together within a ${algorithm}, and have the share of one that is killed`, () =>
      Effect.gen(function* () {
        const server = yield* TestServer
        const postgres = yield* Postgres.scoped()
        const world = yield* server.makeWorld(
          inDialect({ clock: "real", rateLimit: { limit, window: windowMillis, algorithm } })
        )
        const account = [world.baseUrl, Redacted.value(world.apiKey), Redacted.value(world.accessToken)]
        const env = {
          ...settingsOf(world),
          XDG_STATE_HOME: yield* stateFolder,
          BERTH_STATE_URL: postgres.url()
        }
        const berth = (...args: ReadonlyArray<string>) => run([...args, "-o", "json"], { env })
        const others = Effect.map(berth("limits"), (ended) => {
          assert.strictEqual(ended.code, 0, ended.stderr)
          return json<{ readonly otherProcesses: number }>(ended).otherProcesses
        })

        const [first] = yield* Effect.forEach(pageSizes, (size) =>
          Program.start(() => Program.ofNode(member, [...account, postgres.url(), String(size)]))
        )
        yield* Effect.repeat(others, {
          until: (count) => count === pageSizes.length,
          schedule: Schedule.spaced("200 millis")
        })
        yield* untilAfter(world, 1)
        yield* Effect.promise(() => first!.kill())
        const killedAt = (yield* world.journal).length
        assert.strictEqual(yield* others, pageSizes.length, "until its lease ends")
        yield* Effect.repeat(others, {
          until: (count) => count === survivors.length,
          schedule: Schedule.spaced("200 millis")
        })
        const leaseEnded = windowsOf(yield* world.journal).length
        assert.strictEqual((yield* berth("node", "list")).code, 0)
        yield* untilAfter(world, leaseEnded)
        const windows = windowsOf(yield* world.journal)
        // Leave out the first window, which is the cold start, and the last one, which is not over.
        const [beside] = windows.slice(1).map(bySurvivors)
        const alone = bySurvivors(windows[leaseEnded]!)
        assert.isBelow(windows[1]!.at(-1)!.seq, killedAt + 1)
        assert.isAbove(alone, beside!)
        assert.isAtLeast(alone, (0.9 - (2.5 * survivors.length) / limit) * limit)
        const journal = yield* world.journal
        assert.isTrue(journal.some(({ query }) => query["per_page"] === String(killed)))
        assert.strictEqual(journal.filter(({ status }) => status === 429).length, 0, "429s of all processes together")
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
    )
  }
})
