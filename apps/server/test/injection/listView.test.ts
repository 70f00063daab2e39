import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { pagesOf } from "../../src/injection/listView.ts"
import { goneAt } from "../../src/lifecycle/NodeLife.ts"
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

/** The list of an earlier instant, found among all present and former nodes. */
const pastIds = (world: World.World, asOf: number): ReadonlyArray<number> => {
  const { lifecycle, seed } = world.settings
  return [...world.nodes.all(), ...world.gone]
    .filter((node) => node.createdAt <= asOf && goneAt(seed, lifecycle, node) > asOf)
    .map(({ id }) => id)
    .sort((a, b) => a - b)
}

describe("a page of a list of the past", () => {
  it("has the nodes of its instant, including those deleted since, wherever the list begins", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(minute), { minLength: 1, maxLength: 1_200 }),
        fc.constantFrom(0, 5, 6, 7),
        fc.nat(minute),
        fc.integer({ min: -300, max: 300 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 100 }),
        (instants, goneEvery, age, shift, pageNumber, size) => {
          const world = worldOf(instants, goneEvery)
          const asOf = world.latest - age - 1
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
})
