import { mkdtemp, readFile, rm, stat, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { IndexStore } from "../../src/nodeIndex/IndexStore.ts"
import * as NodeIndex from "../../src/nodeIndex/NodeIndex.ts"
import { indexOfList, someNode } from "./someNode.ts"

const listOf = (count: number) => Array.from({ length: count }, (_, i) => someNode(i + 1))

/** A cache folder, in which the folder of an account is made. */
const cache = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-index-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** A store of a command that begins now. */
const storeIn = (folder: string | undefined) =>
  Effect.provide(Effect.service(IndexStore), IndexStore.layer(Option.fromUndefinedOr(folder)))

const account = (folder: string) => join(folder, "accounts", "hash")
const file = (folder: string) => join(account(folder), "nodes.json")

describe("the index of an account", () => {
  it.live("is there for the next command, in a file for the user alone", () =>
    Effect.gen(function* () {
      const folder = yield* cache
      const index = indexOfList(listOf(3))
      const store = yield* storeIn(account(folder))
      assert.deepStrictEqual(yield* store.load, NodeIndex.empty)
      yield* store.save(index)
      assert.deepStrictEqual(yield* (yield* storeIn(account(folder))).load, index)
      for (const [path, mode] of [
        [file(folder), 0o600],
        [account(folder), 0o700]
      ] as const) {
        assert.strictEqual((yield* Effect.promise(() => stat(path))).mode & 0o777, mode)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is read once by a command, which goes on with what it saved", () =>
    Effect.gen(function* () {
      const folder = yield* cache
      const store = yield* storeIn(account(folder))
      const [first, second] = [indexOfList(listOf(3)), indexOfList(listOf(5))]
      yield* store.save(first)
      yield* (yield* storeIn(account(folder))).save(second)
      assert.deepStrictEqual(yield* store.load, first)
      // Nothing has changed: the file of the other command stays.
      yield* store.save(yield* store.load)
      const reading = yield* storeIn(account(folder))
      const read = yield* reading.load
      yield* (yield* storeIn(account(folder))).save(first)
      assert.strictEqual(yield* reading.load, read)
      yield* (yield* storeIn(account(folder))).save(second)
      assert.deepStrictEqual(yield* (yield* storeIn(account(folder))).load, second)
      yield* store.saveText(NodeIndex.encode(indexOfList(listOf(7))))
      assert.strictEqual((yield* store.load).length, 7)
    }).pipe(Effect.scoped)
  )

  it.live("is empty where its file is damaged, and is that of the command alone where there is no folder", () =>
    Effect.gen(function* () {
      const folder = yield* cache
      yield* (yield* storeIn(account(folder))).save(indexOfList(listOf(3)))
      yield* Effect.promise(async () => writeFile(file(folder), (await readFile(file(folder), "utf8")).slice(0, -9)))
      assert.deepStrictEqual(yield* (yield* storeIn(account(folder))).load, NodeIndex.empty)

      const store = yield* storeIn(undefined)
      assert.isFalse(store.isKept)
      assert.isFalse(yield* store.isFresh)
      yield* store.save(indexOfList(listOf(3)))
      assert.strictEqual((yield* store.load).length, 3)
    }).pipe(Effect.scoped)
  )

  it.live("is fresh for an hour, and not where its time is yet to come", () =>
    Effect.gen(function* () {
      const folder = yield* cache
      const store = yield* storeIn(account(folder))
      assert.isFalse(yield* store.isFresh)
      yield* store.save(indexOfList(listOf(3)))
      const { mtimeMs } = yield* Effect.promise(() => stat(file(folder)))
      for (const [ageSeconds, isFresh] of [
        [5, true],
        [3500, true],
        [3700, false],
        [-600, false]
      ] as const) {
        const at = mtimeMs / 1000 - ageSeconds
        yield* Effect.promise(() => utimes(file(folder), at, at))
        assert.strictEqual(yield* store.isFresh, isFresh, String(ageSeconds))
      }
    }).pipe(Effect.scoped)
  )

  it.live("is not kept where it is too long", () =>
    Effect.gen(function* () {
      const folder = yield* cache
      const store = yield* storeIn(account(folder))
      yield* store.save(indexOfList(listOf(3)))
      yield* store.saveText(" ".repeat(16 * 1024 * 1024 + 1))
      assert.strictEqual((yield* (yield* storeIn(account(folder))).load).length, 3)
    }).pipe(Effect.scoped)
  )
})
