import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { RunnerAddress, RunnerStorage, ShardId } from "effect/cluster"
import { inTurn } from "../../src/fleet/Placement.ts"

const self = RunnerAddress.make("self", 0)
const shard = (n: number) => ShardId.make("default", n)

/** The engine's storage. It notes each release, and the first release of a lock waits until `answer`. */
const slow = Effect.gen(function* () {
  const memory = Context.get(yield* Layer.build(RunnerStorage.layerMemory), RunnerStorage.RunnerStorage)
  const answer = yield* Deferred.make<void>()
  const released: Array<number | "all"> = []
  const storage: typeof memory = {
    ...memory,
    release: (_, { id }) =>
      Effect.andThen(
        Effect.sync(() => released.push(id)),
        Deferred.await(answer)
      ),
    releaseAll: () => Effect.sync(() => void released.push("all"))
  }
  return { answer: Deferred.succeed(answer, undefined), released, storage }
})

/** Starts the releases of locks, and lets each run until it waits. */
const releasing = (storage: RunnerStorage.RunnerStorage["Service"], ...ids: ReadonlyArray<number>) =>
  Effect.forEach(ids, (id) => Effect.forkChild(storage.release(self, shard(id)), { startImmediately: true }))

describe("the releases of the engine's locks", () => {
  it.effect("run one after the other", () =>
    Effect.gen(function* () {
      const { answer, released, storage } = yield* slow
      const fibers = yield* releasing(yield* inTurn(storage, () => false), 1, 2, 3)
      assert.deepStrictEqual(released, [1])
      yield* answer
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(released, [1, 2, 3])
    })
  )

  it.effect("that wait while all locks are released leave a lock alone that was taken again", () =>
    Effect.gen(function* () {
      const { answer, released, storage } = yield* slow
      const ordered = yield* inTurn(storage, () => false)
      const fibers = yield* releasing(ordered, 1, 2, 3)
      yield* ordered.releaseAll(self)
      yield* answer
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(released, [1, "all"])
      yield* ordered.release(self, shard(2))
      assert.deepStrictEqual(released, [1, "all", 2])
    })
  )

  it.effect("are a single one as the process ends", () =>
    Effect.gen(function* () {
      const { answer, released, storage } = yield* slow
      let isEnding = false
      const ordered = yield* inTurn(storage, () => isEnding)
      const fibers = yield* releasing(ordered, 1, 2, 3)
      isEnding = true
      yield* answer
      yield* Fiber.joinAll(fibers)
      yield* ordered.release(self, shard(4))
      assert.deepStrictEqual(released, [1, "all"])
    })
  )
})
