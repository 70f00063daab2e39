import { describe, expect, it } from "@effect/vitest"
import { Journal, maxJournalBytes, Journals, maxEndedWorlds } from "../../src/journal/Journals.ts"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { entryOf } from "./entries.ts"

const makeWorlds = (count: number) =>
  Array.from({ length: count }, (_, index) => World.make({ ...defaults, clock: "frozen" }, 0, `w${index + 1}`))

const keptSeqs = (journals: Journals, world: World.World) =>
  journals
    .of(world)
    .journal.entries()
    .map(({ seq }) => seq)

const kibibyte = "x".repeat(1024 - 256)

describe("the bytes of a journal", () => {
  it("are bounded: long requests push out the oldest before the thousandth", () => {
    const journal = new Journal()
    for (let request = 0; request < 900; request++) journal.record(entryOf({ url: "x".repeat(8_000) }), request)
    const kept = journal.entries().map(({ seq }) => seq)
    expect(kept.at(-1)).toBe(900)
    expect(kept.length).toBe(Math.floor(maxJournalBytes / 8_256))
    expect(journal.bytes).toBeLessThanOrEqual(maxJournalBytes)
    journal.clear()
    expect([journal.bytes, journal.kept, journal.count, journal.entries()]).toEqual([0, 0, 900, []])
  })

  it("of all worlds are bounded together: the world that has been quiet longest gives way", () => {
    const journals = new Journals(10 * 1024)
    const [quiet, busy, other] = makeWorlds(3) as [World.World, World.World, World.World]
    const record = (world: World.World, times: number) => {
      for (let request = 0; request < times; request++) journals.record(world, entryOf({ url: kibibyte }))
    }
    record(quiet, 6)
    record(busy, 4)
    expect([keptSeqs(journals, quiet).length, keptSeqs(journals, busy).length, journals.bytes]).toEqual([6, 4, 10_240])
    record(other, 1)
    expect([keptSeqs(journals, quiet), keptSeqs(journals, busy).length]).toEqual([[4, 5, 6], 4])
    record(other, 7)
    expect([keptSeqs(journals, quiet), keptSeqs(journals, busy).length, keptSeqs(journals, other).length]).toEqual([
      [],
      2,
      8
    ])
    record(quiet, 1)
    expect([keptSeqs(journals, quiet), journals.bytes <= 10_240]).toEqual([[7], true])
    for (const world of [quiet, busy, other]) journals.forget(world)
    expect(journals.bytes).toBe(0)
  })

  it("of ended worlds shrink first, in the order in which the worlds ended, down to the share of each", () => {
    // Ended worlds may use a quarter of it, and each of them a twentieth of that quarter, which is enough for two requests.
    const journals = new Journals(160 * 1024)
    const [first, second, living] = makeWorlds(3) as [World.World, World.World, World.World]
    const record = (world: World.World, times: number) => {
      for (let request = 0; request < times; request++) journals.record(world, entryOf({ url: kibibyte }))
    }
    const kept = () => journals.allEnded().map(({ journal }) => journal.entries().map(({ seq }) => seq))
    for (const [world, times] of [
      [living, 100],
      [first, 5],
      [second, 5]
    ] as const) {
      record(world, times)
    }
    journals.end(first, 0, "deleted")
    journals.end(second, 0, "idle")
    record(living, 50)
    expect(kept()).toEqual([
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4, 5]
    ])
    // Beyond the bound, a 64th is removed at once, which is two and a half requests.
    record(living, 1)
    expect(kept()).toEqual([
      [4, 5],
      [2, 3, 4, 5]
    ])
    expect(keptSeqs(journals, living).length).toBe(151)
    record(living, 10)
    expect(kept()).toEqual([
      [4, 5],
      [4, 5]
    ])
    record(living, 10_000)
    expect([kept(), keptSeqs(journals, living).at(-1)]).toEqual([
      [
        [4, 5],
        [4, 5]
      ],
      10_161
    ])
    expect(journals.bytes).toBeLessThanOrEqual(160 * 1024)
  })

  it("of the last twenty ended worlds keep their last request, whatever the others do", () => {
    const journals = new Journals(64 * 1024)
    const worlds = makeWorlds(maxEndedWorlds + 5)
    const busy = World.make({ ...defaults, clock: "frozen" }, 0, "busy")
    for (const world of worlds) {
      for (let request = 0; request < 10; request++) journals.record(world, entryOf({ url: kibibyte }))
      journals.end(world, 0, "deleted")
      for (let request = 0; request < 100; request++) journals.record(busy, entryOf({ url: kibibyte }))
    }
    expect(journals.allEnded().map(({ id }) => id)).toEqual(worlds.slice(5).map(({ id }) => id))
    for (const { journal } of journals.allEnded()) expect(journal.entries().at(-1)?.seq).toBe(10)
    expect(keptSeqs(journals, busy).length).toBeGreaterThan(20)
    expect(journals.bytes).toBeLessThanOrEqual(64 * 1024)
  })

  it("stay bounded when many worlds are at work at once, and each has its latest request", () => {
    const journals = new Journals(1024 * 1024)
    const worlds = makeWorlds(100)
    for (let round = 0; round < 100; round++) {
      for (const world of worlds) journals.record(world, entryOf({ url: kibibyte }))
    }
    const kept = worlds.map((world) => keptSeqs(journals, world))
    expect(journals.bytes).toBeLessThanOrEqual(1024 * 1024)
    expect(kept.flat().length).toBeGreaterThan(1000)
    for (const seqs of kept) expect(seqs.at(-1)).toBe(100)
  })
})

describe("the journals of worlds that have ended", () => {
  it("are kept for the last twenty, as they were", () => {
    const journals = new Journals()
    const worlds = makeWorlds(maxEndedWorlds + 5)
    for (const world of worlds) {
      journals.record(world, entryOf())
      journals.end(world, 7, "idle")
      // This request comes too late: it was answered after the end.
      journals.record(world, entryOf())
    }
    expect(journals.allEnded().map(({ id }) => id)).toEqual(worlds.slice(5).map(({ id }) => id))
    expect(journals.ofEnded("w5")).toBeUndefined()
    expect(journals.ofEnded("w6")).toMatchObject({ seed: 1, ended: { at: 7, reason: "idle" } })
    for (const { journal } of journals.allEnded()) expect(journal.count).toBe(1)
    expect(journals.bytes).toBe(maxEndedWorlds * 257)
  })
})
