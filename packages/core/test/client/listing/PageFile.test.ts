import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as PageFile from "../../../src/client/listing/PageFile.ts"
import { capped, readList, upTo } from "./readList.ts"

/** A file in a folder that does not exist yet. */
const place = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-pages-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "account", "pages.json")
)

/** How many requests a list of so many nodes takes in a new client. */
const requestsOf = (path: string, count: number, cap = 100) =>
  Effect.map(readList(capped(upTo(count), cap), PageFile.make(path)), ({ ids, requests }) => {
    assert.lengthOf(ids, count)
    return requests
  })

const memory = { 100: { longest: 40, upTo: 39, listsLeft: 3 } }
const held = JSON.stringify({ version: 1, pages: memory })

/** Writes this text into the file. */
const placeWith = (text: string) =>
  Effect.tap(place, (path) =>
    Effect.sync(() => {
      mkdirSync(join(path, ".."), { mode: 0o700 })
      writeFileSync(path, text, { mode: 0o600 })
    })
  )

describe("what lists showed of the pages of an account", () => {
  it.effect("is known to the next process, and counted down by all", () =>
    Effect.gen(function* () {
      const path = yield* place
      assert.strictEqual(yield* requestsOf(path, 150), 2)
      const costs = yield* Effect.forEach(upTo(11), () => requestsOf(path, 40))
      assert.deepStrictEqual(costs, [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1])
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.strictEqual(statSync(join(path, "..")).mode & 0o777, 0o700)
    })
  )

  it.effect("is written only when it has something new", () =>
    Effect.gen(function* () {
      const path = yield* place
      yield* requestsOf(path, 150)
      const before = statSync(path, { bigint: true })
      yield* requestsOf(path, 150)
      yield* requestsOf(path, 1000)
      assert.strictEqual(statSync(path, { bigint: true }).mtimeNs, before.mtimeNs)
    })
  )

  for (const [what, text] of [
    ["is damaged", '{"version":1,"pages":{"100":{"longest":40'],
    ["is empty", ""],
    ["holds another thing", "[1,2]"],
    ["holds what cannot be", JSON.stringify({ version: 1, pages: { 100: { longest: 1e9, upTo: 1e9, listsLeft: 9 } } })]
  ] as const) {
    it.effect(`is learned again where the file ${what}`, () =>
      Effect.gen(function* () {
        const path = yield* placeWith(text)
        assert.deepStrictEqual(yield* PageFile.make(path).load, {})
        assert.isAbove(yield* requestsOf(path, 30, 20), 1)
        assert.strictEqual(JSON.parse(readFileSync(path, "utf8")).pages["100"].longest, 20)
      })
    )
  }

  it.effect("of a later Berth is not touched and not relied on", () =>
    Effect.gen(function* () {
      const text = JSON.stringify({ version: 2, pages: memory })
      const path = yield* placeWith(text)
      assert.isAbove(yield* requestsOf(path, 30), 1)
      assert.strictEqual(readFileSync(path, "utf8"), text)
    })
  )

  it.effect("is not read or written through a link", () =>
    Effect.gen(function* () {
      const path = yield* placeWith(held)
      const link = join(path, "..", "link.json")
      symlinkSync(path, link)
      assert.isAbove(yield* requestsOf(link, 30, 20), 1)
      assert.strictEqual(readFileSync(path, "utf8"), held)
    })
  )

  it.effect("is not relied on in a folder that others may write to", () =>
    Effect.gen(function* () {
      const path = yield* placeWith(held)
      chmodSync(join(path, ".."), 0o777)
      assert.isAbove(yield* requestsOf(path, 30, 20), 1)
      assert.strictEqual(readFileSync(path, "utf8"), held)
    })
  )

  it.effect("without a file costs requests and nothing else", () =>
    Effect.gen(function* () {
      const path = yield* placeWith("")
      const below = join(path, "pages.json")
      assert.strictEqual(yield* requestsOf(below, 150), 2)
      assert.strictEqual(yield* requestsOf(below, 40), 2)
    })
  )
})
