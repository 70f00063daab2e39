import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { nodeText, pageText } from "../../src/http/nodeTexts.ts"
import { listedNode, nodeAttributes } from "../../src/http/records.ts"
import { createNode, deleteNode, listNodes } from "../../src/world/nodes.ts"
import { populate } from "../../src/world/scenario.ts"
import * as World from "../../src/world/World.ts"

const makeWorld = (seed: number, fleet: number) => {
  const world = World.make({ ...World.defaults, seed, clock: "frozen" }, 0)
  populate(world, { fleet })
  return world
}

const expectTrue = (world: World.World) => {
  const now = world.latest
  for (let page = 1; ; page++) {
    const nodes = listNodes(world, page, 100)
    expect(pageText(world, nodes, now)).toBe(JSON.stringify(nodes.map((node) => listedNode(world, node, now))))
    for (const node of nodes) expect(nodeText(world, node, now)).toBe(JSON.stringify(nodeAttributes(world, node, now)))
    if (nodes.length === 0) return
  }
}

describe("the texts of nodes", () => {
  it("are those of their records to the letter, whatever the names and the time", () => {
    const world = World.make({ ...World.defaults, clock: "frozen" }, 0)
    const [offer] = world.catalogue.offers
    for (const [index, name] of ['"', "\\", "\u2028\n\t", "ночь 🌙", "\ud800", "a/b", "x".repeat(255)].entries()) {
      const createdAt = world.latest - index * 7_654_321_987
      const order = { name, plan: offer!.plan, imageId: offer!.image.id, backups: index % 2 === 0, skuId: null }
      expect(Result.isSuccess(createNode(world, order, createdAt))).toBe(true)
    }
    expectTrue(world)
    expectTrue(world)
  })

  it("say what is true now: before a delete, while the node terminates, and after", () => {
    const world = makeWorld(1, 3)
    expectTrue(world)
    deleteNode(world, world.nodes.nextId - 1, world.latest)
    expectTrue(world)
    World.advance(world, 0, 10_000)
    expectTrue(world)
    expect(pageText(world, listNodes(world, 1, 20), world.latest)).not.toContain("terminate")
  })

  it("are of their own world, and right for more nodes than are kept", () => {
    for (const world of [makeWorld(1, 5_000), makeWorld(2, 50), makeWorld(1, 50)]) {
      expectTrue(world)
      expectTrue(world)
    }
  })
})
