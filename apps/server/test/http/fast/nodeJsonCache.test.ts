import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { nodeJson, pageJson } from "../../../src/http/fast/nodeJsonCache.ts"
import { listedNode, nodeAttributes } from "../../../src/http/records.ts"
import { defaultLifecycle } from "../../../src/lifecycle/Lifecycle.ts"
import { createNode, deleteNode, listNodes } from "../../../src/world/nodes.ts"
import { populate } from "../../../src/world/scenario.ts"
import * as World from "../../../src/world/World.ts"
import { defaults } from "../../../src/world/WorldSettings.ts"

const makeWorld = (seed: number, fleet: number) => {
  const world = World.make({ ...defaults, seed, clock: "frozen" }, 0)
  populate(world, { fleet })
  return world
}

const expectTrue = (world: World.World) => {
  const now = world.latest
  for (let page = 1; ; page++) {
    const nodes = listNodes(world, page, 100)
    expect(pageJson(world, nodes, now)).toBe(JSON.stringify(nodes.map((node) => listedNode(world, node, now))))
    for (const node of nodes) expect(nodeJson(world, node, now)).toBe(JSON.stringify(nodeAttributes(world, node, now)))
    if (nodes.length === 0) return
  }
}

describe("the cached JSON of nodes", () => {
  it("is that of their records to the letter, whatever the names and the time", () => {
    const world = World.make({ ...defaults, clock: "frozen" }, 0)
    const [offer] = world.catalogue.offers
    for (const [index, name] of ['"', "\\", "\u2028\n\t", "ночь 🌙", "\ud800", "a/b", "x".repeat(255)].entries()) {
      const createdAt = world.latest - index * 7_654_321_987
      const order = { name, plan: offer!.plan, imageId: offer!.image.id, backups: index % 2 === 0, skuId: null }
      expect(Result.isSuccess(createNode(world, order, createdAt))).toBe(true)
    }
    expectTrue(world)
    expectTrue(world)
  })

  it("shows what is true now: before a delete, while the node terminates, and after", () => {
    const world = makeWorld(1, 3)
    expectTrue(world)
    deleteNode(world, world.nodes.nextId - 1, world.latest)
    expectTrue(world)
    World.advance(world, 0, 10_000)
    expectTrue(world)
    expect(pageJson(world, listNodes(world, 1, 20), world.latest)).not.toContain("terminate")
  })

  it("changes with the lifecycle, node by node, and when a test forces a status", () => {
    const lifecycle = {
      ...defaultLifecycle,
      provisioningMillis: 1_000,
      provisioningJitterMillis: 3_000,
      terminationJitterMillis: 3_000,
      outcomes: { runs: 1, stuck: 1, powersOff: 1, vanishes: 1 },
      outcomeAfterMillis: 2_000,
      outcomeAfterJitterMillis: 4_000
    }
    const world = World.make({ ...defaults, clock: "frozen", lifecycle }, 0)
    const [offer] = world.catalogue.offers
    const seen = new Set<string>()
    for (let step = 0; step < 120; step++) {
      const order = { name: `n-${step}`, plan: offer!.plan, imageId: offer!.image.id, backups: false, skuId: null }
      createNode(world, order, world.latest)
      const nodes = listNodes(world, 1, 100)
      const node = nodes[(step * 7) % nodes.length]!
      if (step % 3 === 0) deleteNode(world, node.id, world.latest)
      else if (step % 4 === 0) World.put(world, { ...node, forced: "power-off", locked: true })
      // More than once, so that what is kept is asked for.
      for (let time = 0; time < 3; time++) expectTrue(world)
      for (const shown of nodes) seen.add(listedNode(world, shown, world.latest).status)
      World.advance(world, 0, 500)
    }
    expect([...seen].sort()).toEqual(["created", "power-off", "running", "terminate"])
  })

  it("belongs to its own world, and is right for more nodes than are cached", () => {
    for (const world of [makeWorld(1, 5_000), makeWorld(2, 50), makeWorld(1, 50)]) {
      expectTrue(world)
      expectTrue(world)
    }
  })
})
