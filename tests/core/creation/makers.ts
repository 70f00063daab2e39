/**
 * Processes that make nodes under keys, for the tests that run several of them and kill some.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Program } from "@berth/testing/Program"
import type { TestWorld } from "@berth/server/testing"
import { Effect, Redacted } from "effect"

/** A rate limit that is never reached. */
export const plenty = { limit: 1_000_000, window: 3_600_000, algorithm: "fixed-window" } as const

/** How many nodes there are, by the service's own account. */
export const countAll = (world: TestWorld) =>
  Effect.orDie(Effect.map(world.control.worlds.get({ params: { world: world.id } }), ({ nodes }) => nodes))

/** Starts processes that make the same nodes in this world, each under a key of its own. */
export const makersIn = Effect.fnUntraced(function* (world: TestWorld, count: number) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "berth-intents-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const program = fileURLToPath(new URL("maker.ts", import.meta.url))
  const args = [world.baseUrl, Redacted.value(world.apiKey), Redacted.value(world.accessToken), folder, String(count)]
  return Program.start(() => Program.ofNode(program, args))
})
