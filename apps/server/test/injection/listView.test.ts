import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { pagesOf } from "../../src/injection/listView.ts"
import { goneAt } from "../../src/lifecycle/NodeLife.ts"
import type { NodeRecord } from "../../src/world/NodeRecord.ts"
import { toEnd } from "../../src/world/Steps.ts"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"

const minute = 60_000

/** A world with a node for each instant of creation; every `goneEvery`th is gone by now. */
const worldOf = (instants: ReadonlyArray<number>, goneEvery: number): World.World => {
  const world = World.make({ ...defaults, clock: "frozen" }, 0)
  const [plan] = world.catalogue.plans
  const start = world.latest
  for (const [index, instant] of instants.entries()) {
    World.put(world, {
      id: world.nodes.nextId,
      name: `node-${index}`,
      plan: plan!,
      imageId: 1,
      createdAt: start + instant,
      deletedAt: goneEvery > 0 && index % goneEvery === 0 ? start + Math.max(instant, minute / 2) : null,
      commitment: null,
      backups: false,
      locked: false
    })
  }
  World.advance(world, 0, minute)
  return world
}

/** The list of an earlier instant, found among every node there is or was. */
const pastIds = (world: World.World, asOf: number): ReadonlyArray<number> => {
  const { lifecycle, seed } = world.settings
  return [...world.nodes.all(), ...world.gone]
    .filter((node) => node.createdAt <= asOf && goneAt(seed, lifecycle, node) > asOf)
    .map(({ id }) => id)
    .sort((a, b) => a - b)
}

describe("a page of a list of the past", () => {
  it("has the nodes of its instant, those that went since then too, wherever the list begins", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(minute), { minLength: 1, maxLength: 1_200 }),
        fc.constantFrom(0, 5, 6, 7),
        fc.nat(minute),
        fc.integer({ min: -300, max: 300 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 100 }),
        fc.boolean(),
        (instants, goneEvery, age, shift, pageNumber, size, isPrepared) => {
          const world = worldOf(instants, goneEvery)
          const asOf = world.latest - age - 1
          if (isPrepared) toEnd(world.nodes.prepareMadeBy(asOf, world.latest))
          const ids = pastIds(world, asOf)
          const turn = ids.length === 0 ? 0 : ((shift % ids.length) + ids.length) % ids.length
          const { page } = pagesOf(world, `/nodes/?page_no=${pageNumber}&per_page=${size}`)
          expect(page({ asOf, shift }).nodes.map(({ id }) => id)).toEqual(
            [...ids.slice(turn), ...ids.slice(0, turn)].slice((pageNumber - 1) * size, pageNumber * size)
          )
        }
      ),
      { numRuns: 100 }
    )
  })

  it("reads few of many nodes, in whatever order they were made", () => {
    for (const instantOf of [(index: number) => index, (index: number) => (index * 7919) % 50_000]) {
      const world = worldOf([], 0)
      let reads = 0
      const record = worldOf([0], 0).nodes.slice(0, 1)[0]!
      for (let index = 0; index < 50_000; index++) {
        const node = { ...record, id: world.nodes.nextId }
        const createdAt = world.latest - 50_000 + instantOf(index)
        Object.defineProperty(node, "createdAt", { get: () => (reads++, createdAt) })
        world.nodes.add(node as NodeRecord)
      }
      const view = { asOf: world.latest - 20_000, shift: 3 }
      toEnd(world.nodes.prepareMadeBy(view.asOf, world.latest))
      reads = 0
      const { page } = pagesOf(world, "/nodes/?page_no=200&per_page=100")
      expect(page(view).nodes.length).toBe(100)
      expect(reads).toBeLessThan(2_000)
    }
  })

  it("is prepared in steps of at most 16 384 nodes", () => {
    const world = worldOf(
      Array.from({ length: 50_000 }, (_, index) => (index * 7919) % 50_000),
      0
    )
    let steps = 0
    for (const _step of world.nodes.prepareMadeBy(world.latest - minute + 20_000, world.latest)) steps += 1
    expect(steps).toBe(3)
  })
})
