import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { recordsOf } from "@berthkit/core/client/RecordFolder"
import { Effect } from "effect"
import { readLeases } from "../../src/daemon/leases.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "leases-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const place = (accounts: string) => ({ accounts, origin: "", id: "one", key: undefined })

describe("leases", () => {
  it.effect("are read from their files; unusable lines are left out, and the last of several counts", () =>
    Effect.gen(function* () {
      const accounts = yield* folder
      const path = join(accounts, "one/records/lease")
      mkdirSync(path, { recursive: true, mode: 0o700 })
      const write = (name: string, text: string) => writeFileSync(join(path, name), text)
      const hour = 3_600_000
      const at = (wallMillis: number) => ({ wallMillis, bootMillis: 0, bootClock: "this boot" })
      const lease = (id: number | null, ttlMillis: number, more: object = {}) =>
        JSON.stringify({
          version: 1,
          key: "k",
          node: id === null ? null : { id, name: "web", createdMillis: 5 },
          begunAt: at(1000),
          takenAt: at(2000),
          ttlMillis,
          keptSince: null,
          ...more
        })
      write("a.json", lease(7, 1000))
      write("b.json", lease(7, 3000))
      write("kept.json", lease(8, 1000, { keptSince: at(hour + 5000) }))
      write("later.json", lease(9, 1000, { version: 2 }))
      write("without.json", lease(null, 1000))
      write("damaged.json", lease(9, 1000).slice(0, 20))
      write("text.json", lease(9, 1000, { ttlMillis: "1000" }))
      write("d.json.new", lease(9, 1000))
      mkdirSync(join(path, "folder.json"))
      write("elsewhere.json", lease(10, 1000, { takenAt: { ...at(2000), bootClock: "another" } }))
      const read = yield* readLeases(recordsOf(place(accounts)), "this boot")
      expect(Array.from(read, ([id, { endMillis, toleranceMillis }]) => [id, endMillis, toleranceMillis])).toEqual([
        [7, 5000, 0],
        [10, 3000, 900_000],
        [8, 1000 + 2 * hour, 0]
      ])
      // If the boot is unknown, so is whether a clock is the same.
      expect((yield* readLeases(recordsOf(place(accounts)), null)).get(7)?.toleranceMillis).toBe(900_000)
    }).pipe(Effect.scoped)
  )

  it.effect("are none where there is no folder", () =>
    Effect.map(readLeases(recordsOf(place(join(tmpdir(), "no-such-folder"))), null), (leases) =>
      expect(leases.size).toBe(0)
    )
  )
})
