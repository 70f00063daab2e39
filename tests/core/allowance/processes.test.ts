/**
 * Several processes on one key, sharing what they know through a file.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { TestServer } from "@berth/server/testing"

const member = fileURLToPath(new URL("member.ts", import.meta.url))
const windowMillis = 5000
const limit = 100

describe("eight processes that share a key through a file", () => {
  for (const algorithm of ["fixed-window", "token-bucket"] as const) {
    it.live(
      `keep together within a ${algorithm}, also when one is killed and the file is cut off`,
      () =>
        Effect.gen(function* () {
          const server = yield* TestServer
          const world = yield* server.makeWorld({
            clock: "real",
            allowance: { limit, windowMs: windowMillis, algorithm }
          })
          const directory = yield* Effect.acquireRelease(
            Effect.promise(() => mkdtemp(join(tmpdir(), "berth-allowance-"))),
            (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
          )
          const file = join(directory, "allowance.json")
          yield* Effect.promise(() => writeFile(file, '{"version":1,"writ'))
          const args = [world.baseUrl, Redacted.value(world.apiKey), Redacted.value(world.accessToken), file, "11000"]
          const processes = Array.from({ length: 8 }, () =>
            spawn(process.execPath, [member, ...args], { stdio: "inherit" })
          )
          const ended = processes.map((process) => once(process, "exit"))
          // The first one is killed as soon as anybody has been answered.
          yield* Effect.repeat(world.journal, {
            until: (journal) => journal.length > 20,
            schedule: Schedule.spaced("50 millis")
          })
          processes[0]!.kill("SIGKILL")
          yield* Effect.promise(() => Promise.all(ended))
          const journal = yield* world.journal
          const refused = journal.filter(({ status }) => status === 429)
          assert.strictEqual(refused.length, 0, "429s of all processes together")
          assert.isAbove(journal.length, limit, "they go on after the first window")
        }).pipe(Effect.scoped, Effect.provide(TestServer.layer())),
      60_000
    )
  }
})
