import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { makeCatalogue } from "../../src/world/catalogue.ts"
import { privateAddress, publicAddress } from "../../src/http/records.ts"
import type { NodeRecord } from "../../src/world/NodeRecord.ts"
import { NodeTable } from "../../src/world/NodeTable.ts"

const [plan] = makeCatalogue(1).plans

const record = (id: number): NodeRecord => ({
  id,
  name: `node-${id}`,
  plan: plan!,
  imageId: 1,
  createdAt: 0,
  deletedAt: null,
  commitment: null,
  backups: false,
  locked: false
})

describe("the table of nodes", () => {
  it("finds any page of a hundred thousand nodes, also when most of them are gone", () => {
    const table = new NodeTable(1)
    for (let id = 1; id <= 100_000; id++) table.add(record(id))
    // Remove them all at once, as a world removes nodes whose time has come. One by one, each removal would move all nodes after it.
    const all = Array.from({ length: 100_000 }, (_, index) => index + 1)
    table.removeAll(new Set(all.filter((id) => id % 3 !== 0 || (id > 20_000 && id < 75_000))))
    const ids = [...table.all()].map(({ id }) => id)
    expect(table.size).toBe(ids.length)
    for (let skip = 0; skip <= ids.length + 20; skip += 997) {
      expect(table.slice(skip, 20).map(({ id }) => id)).toEqual(ids.slice(skip, skip + 20))
    }
  })

  it("pages like a sorted array, whatever was added and removed", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant("add") }, fc.nat(2_000)), { maxLength: 2_000 }),
        fc.nat(1_500),
        fc.integer({ min: 1, max: 100 }),
        (steps, skip, count) => {
          const table = new NodeTable(500)
          const ids: Array<number> = []
          for (const step of steps) {
            if (step === "add") {
              ids.push(table.nextId)
              table.add(record(table.nextId))
            } else {
              table.remove(500 + step)
              const at = ids.indexOf(500 + step)
              if (at >= 0) ids.splice(at, 1)
            }
          }
          expect(table.size).toBe(ids.length)
          expect(table.slice(skip, count).map(({ id }) => id)).toEqual(ids.slice(skip, skip + count))
          expect(ids.every((id) => table.get(id)?.id === id)).toBe(true)
        }
      ),
      { numRuns: 60 }
    )
  })

  it("built again from the nodes it has, with the ids between them passed over, is the same table", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(3_000), { maxLength: 200 }).map((ids) => ids.sort((a, b) => a - b)),
        fc.nat(600),
        fc.nat(200),
        (offsets, more, skip) => {
          const table = new NodeTable(500)
          for (const offset of offsets) {
            table.skipTo(500 + offset)
            table.add(record(500 + offset))
          }
          const ids = offsets.map((offset) => 500 + offset)
          table.skipTo((ids.at(-1) ?? 500) + 1 + more)
          ids.push(table.nextId)
          table.add(record(table.nextId))
          expect(ids.at(-1)).toBe((ids.at(-2) ?? 500) + 1 + more)
          expect(Array.from(table.all(), ({ id }) => id)).toEqual(ids)
          expect(table.size).toBe(ids.length)
          expect(table.slice(skip, 50).map(({ id }) => id)).toEqual(ids.slice(skip, skip + 50))
          for (const id of ids) table.remove(id)
          expect([table.size, table.slice(0, 1)]).toEqual([0, []])
        }
      )
    )
  })

  it("stays a sorted array if ids return and records change", () => {
    const step = fc.record({ id: fc.nat(1_500), kind: fc.constantFrom("put", "put", "remove") })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), fc.array(fc.nat(1_500)), (steps, last) => {
        const table = new NodeTable(500)
        const model = new Map<number, NodeRecord>()
        const apply = ({ id: offset, kind }: (typeof steps)[number], name: string) => {
          const id = 500 + offset
          if (kind === "remove") {
            table.remove(id)
            return void model.delete(id)
          }
          const node = { ...record(id), name, createdAt: (7 * id + name.length) % 5 }
          if (model.has(id)) table.replace(node)
          else if (id < table.nextId) table.restore(node)
          else {
            table.skipTo(id)
            table.add(node)
          }
          model.set(id, node)
        }
        steps.forEach((one, index) => apply(one, `n${index}`))
        const sorted = () => [...model.values()].sort((a, b) => a.id - b.id)
        expect(table.all()).toEqual(sorted())
        for (let id = 490; id < 2_020; id++) expect(table.get(id)).toBe(model.get(id))
        const ids = new Set(last.map((offset) => 500 + offset))
        const { version } = table
        table.removeAll(ids)
        expect(table.all()).toEqual(sorted().filter(({ id }) => !ids.has(id)))
        expect(table.version === version).toBe(sorted().every(({ id }) => !ids.has(id)))
      }),
      { numRuns: 40 }
    )
  })

  it("never hands out an id again, also when all nodes are gone", () => {
    const table = new NodeTable(1)
    for (let i = 0; i < 1_100; i++) table.add(record(table.nextId))
    for (let id = 1; id <= 1_100; id++) table.remove(id)
    expect([table.size, table.nextId, table.slice(0, 10)]).toEqual([0, 1_101, []])
    table.add(record(1_101))
    expect(table.slice(0, 10).map(({ id }) => id)).toEqual([1_101])
  })

  it("knows no node at ids before its first, past its last, or between two", () => {
    const table = new NodeTable(10)
    table.add(record(10))
    expect([9, 0, -5, 11, 10.5, 1e15].map((id) => table.get(id))).toEqual(Array.from({ length: 6 }, () => undefined))
  })
})

describe("addresses", () => {
  it("are different for all nodes of a world, and follow from the seed", () => {
    const ids = Array.from({ length: 50_000 }, (_, index) => 10_000 + index)
    expect(new Set(ids.map((id) => publicAddress(1, id))).size).toBe(ids.length)
    expect(new Set(ids.map((id) => privateAddress(1, id))).size).toBe(ids.length)
    expect(publicAddress(1, 5)).toBe(publicAddress(1, 5))
    expect(publicAddress(1, 5)).not.toBe(publicAddress(2, 5))
  })

  it("are from ranges that no router of the internet forwards", () => {
    for (let id = 1; id < 2_000; id++) {
      const [first, second] = publicAddress(1, id).split(".").map(Number)
      expect(first === 100 && second! >= 64 && second! < 128).toBe(true)
      expect(privateAddress(1, id)).toMatch(/^10\.\d{1,3}\.\d{1,3}\.\d{1,3}$/)
    }
  })
})
