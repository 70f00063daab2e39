/** Several processes that use one key and share what they know through a file. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { Program } from "@berthkit/testing/Program"
import { TestServer } from "@berthkit/server/testing"

const member = fileURLToPath(new URL("member.ts", import.meta.url))
/** The shortest window in which processes of one machine get no 429, even if other programs run there (decision 0177). */
const windowMillis = 20_000
/** How long each process sends requests: until some time in the second window. */
const askingMillis = 26_000
const limit = 100

describe("eight processes that share a key through a file", () => {
  for (const algorithm of ["fixed-window", "token-bucket"] as const) {
    it.live(`stay together within a ${algorithm}, also when one is killed and the file is cut off`, () =>
      Effect.gen(function* () {
        const server = yield* TestServer
        const world = yield* server.makeWorld({
          clock: "real",
          rateLimit: { limit, window: windowMillis, algorithm }
        })
        const directory = yield* Effect.acquireRelease(
          Effect.promise(() => mkdtemp(join(tmpdir(), "berth-allowance-"))),
          (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
        )
        const file = join(directory, "allowance.json")
        yield* Effect.promise(() => writeFile(file, '{"version":1,"writ'))
        const args = [
          world.baseUrl,
          Redacted.value(world.apiKey),
          Redacted.value(world.accessToken),
          file,
          String(askingMillis)
        ]
        const [first, ...rest] = yield* Effect.replicateEffect(
          Program.start(() => Program.ofNode(member, args)),
          8
        )
        // Kill the first process after the first replies.
        yield* Effect.repeat(world.journal, {
          until: (journal) => journal.length > 20,
          schedule: Schedule.spaced("50 millis")
        })
        yield* Effect.promise(() => first!.kill())
        yield* Effect.promise(() => Promise.all(rest.map((member) => member.succeeded())))
        const journal = yield* world.journal
        const refused = journal.filter(({ status }) => status === 429)
        assert.strictEqual(refused.length, 0, "429s of all processes together")
        assert.isAbove(journal.length, limit, "they go on after the first window")
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
    )
  }
})
