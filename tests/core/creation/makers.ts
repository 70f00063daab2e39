/** Processes that make nodes with keys, for tests that run several of these processes and kill some. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import type { TestWorld } from "@berthkit/server/testing"
import { Effect, Redacted, Schedule, type Scope } from "effect"

/** A rate limit that is never reached. */
export const plenty = { limit: 1_000_000, window: 3_600_000, algorithm: "fixed-window" } as const

/** How many nodes exist according to the service. */
export const countAll = (world: TestWorld) =>
  Effect.orDie(Effect.map(world.control.worlds.get({ params: { world: world.id } }), ({ nodes }) => nodes))

/** How many creates of a process are under way at the same time. */
const atOnce = 4

/**
 * Kills a process after the world has sent it a number of replies, while it still waits for others. The service has already processed those
 * other requests: a request that had not arrived would rightly end as `OutcomeUnknown`, which takes minutes.
 */
export const killAfter = Effect.fnUntraced(function* (
  world: TestWorld,
  start: Effect.Effect<Program, never, Scope.Scope>,
  answered: number
) {
  yield* world.arm([
    { fault: "latency", delay: "1 hour", after: answered, times: atOnce, scope: { operation: "nodes.create" } }
  ])
  const process = yield* start
  yield* Effect.repeat(countAll(world), {
    until: (count) => count === answered + atOnce,
    schedule: Schedule.spaced("10 millis")
  })
  yield* Effect.promise(() => process.kill())
  yield* world.arm([])
})

/** Starts processes that make the same nodes in this world, each node with its own key. */
export const makersIn = Effect.fnUntraced(function* (world: TestWorld, count: number) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "berth-intents-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const program = fileURLToPath(new URL("maker.ts", import.meta.url))
  const args = [
    world.baseUrl,
    Redacted.value(world.apiKey),
    Redacted.value(world.accessToken),
    folder,
    String(count),
    String(atOnce)
  ]
  return Program.start(() => Program.ofNode(program, args))
})
