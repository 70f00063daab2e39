/** The node of an earlier create whose process ended together with its machine, so that its locks belong to another boot. */
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { layer, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { reconciliationKey } from "../../src/client/creation/Creator.ts"
import { layerDirectory } from "../../src/client/creation/IntentFolder.ts"
import { nameOf } from "../../src/client/creation/KeyLock.ts"
import { nodeOfCreate } from "../../src/client/nodeOfCreate.ts"
import { Nodes } from "../../src/client/Nodes.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-node-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const order = { name: "web", plan: "P", image: "I" }
const date = "Thu, 01 Jan 2026 00:00:00 GMT"

/** A service that makes a node, and never answers the create. Reports that the create has arrived. */
const service = (arrived: Deferred.Deferred<void>) => {
  const nodes: Array<Record<string, unknown>> = []
  return layer(({ method, path, query }) => {
    if (method === "POST") {
      nodes.push({ id: 101, name: "web", plan: "P", status: "running", created_at: "2026-01-01T00:00:00.000000Z" })
      return Effect.andThen(Deferred.succeed(arrived, undefined), Effect.never)
    }
    if (/nodes\/\d+\/$/.test(path)) return ok(nodes[0], { date })
    return ok(query["page_no"] === "1" ? nodes : [], { date })
  })
}

/** Lets virtual time pass, and the file system answer in between: fast while `isWaiting`, and then slower than the deadline of the search. */
const untilDone = <A, E>(fiber: Fiber.Fiber<A, E>, isWaiting: () => boolean) =>
  Effect.gen(function* () {
    while (fiber.pollUnsafe() === undefined) {
      yield* Effect.promise(async () => {
        for (let turn = 0; turn < 40; turn++) await stat(tmpdir())
      })
      yield* TestClock.adjust(isWaiting() ? "1 second" : "10 millis")
    }
    return yield* Fiber.join(fiber)
  })

describe("the node of a create whose machine was restarted", () => {
  for (const [what, locks] of [
    ["of its key", ["job"]],
    // A process that was looking for the node had both locks.
    ["of its key and of the reconciliation", ["job", reconciliationKey]]
  ] as const) {
    it.effect(`is found although the lock ${what} is of another boot`, () =>
      Effect.gen(function* () {
        const path = yield* folder
        const arrived = yield* Deferred.make<void>()
        const client = Layer.provideMerge(service(arrived), layerDirectory(path))
        yield* Effect.gen(function* () {
          const create = yield* Effect.forkChild(Nodes.use((nodes) => nodes.create(order, { key: "job" })))
          yield* Deferred.await(arrived)
          yield* Fiber.interrupt(create)
          const owner = { machine: "another boot", namespace: "", pid: 1, startTime: "", id: "x" }
          const files = locks.map((name) => join(path, "open", `${name}.lock`, nameOf(owner)))
          yield* Effect.promise(async () => {
            for (const file of files) {
              await mkdir(dirname(file))
              await writeFile(file, "")
            }
          })
          const search = yield* Effect.forkChild(nodeOfCreate(order, "job"))
          const found = yield* untilDone(search, () => files.some((file) => existsSync(file)))
          assert.strictEqual(found?.id, 101)
        }).pipe(Effect.provide(client))
      }).pipe(Effect.scoped)
    )
  }
})
