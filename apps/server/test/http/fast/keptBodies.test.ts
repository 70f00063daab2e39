import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { nodeBody, pageBody } from "../../../src/http/fast/answerFast.ts"
import { listedNode, nodeAttributes } from "../../../src/http/records.ts"
import { defaultLifecycle } from "../../../src/lifecycle/NodeLife.ts"
import type { NodeRecord } from "../../../src/world/NodeRecord.ts"
import { createNode, deleteNode, listNodes } from "../../../src/world/nodes.ts"
import { populate } from "../../../src/world/scenario.ts"
import * as World from "../../../src/world/World.ts"
import { defaults } from "../../../src/world/WorldSettings.ts"

const makeWorld = (seed: number, fleet: number) => {
  const world = World.make({ ...defaults, seed, clock: "frozen" }, 0)
  populate(world, { fleet })
  return world
}

const pageText = (world: World.World, page: number, size: number) =>
  new TextDecoder().decode(pageBody(world, page, size, world.latest))

const shownNode = (world: World.World, node: NodeRecord) =>
  new TextDecoder().decode(nodeBody(world, node, world.latest))

const envelope = (data: unknown) => JSON.stringify({ message: "Success", code: 200, data, errors: {} })

/** Checks all pages and nodes. Each is requested often enough to be kept. */
const expectTrue = (world: World.World) => {
  for (let page = 1; ; page++) {
    const nodes = listNodes(world, page, 100)
    const data = nodes.map((node) => listedNode(world, node, world.latest))
    for (let time = 0; time < 3; time++) {
      expect(pageText(world, page, 100)).toBe(envelope(data))
    }
    for (const node of nodes) {
      const body = envelope(nodeAttributes(world, node, world.latest))
      for (let time = 0; time < 3; time++) expect(shownNode(world, node)).toBe(body)
    }
    if (nodes.length === 0) return
  }
}

describe("a node, or a page of nodes, in the fast path", () => {
  it("is that of their records to the letter, whatever the names and the time", () => {
    const world = World.make({ ...defaults, clock: "frozen" }, 0)
    const [offer] = world.catalogue.offers
    for (const [index, name] of ['"', "\\", "\u2028\n\t", "ночь 🌙", "\ud800", "a/b", "x".repeat(255)].entries()) {
      const createdAt = world.latest - index * 7_654_321_987
      const order = { name, plan: offer!.plan, imageId: offer!.image.id, backups: index % 2 === 0, skuId: null }
      expect(Result.isSuccess(createNode(world, order, createdAt))).toBe(true)
    }
    expectTrue(world)
  })

  it("shows the current state: before a delete, while the node terminates, and afterwards", () => {
    const world = makeWorld(1, 3)
    expectTrue(world)
    deleteNode(world, world.nodes.nextId - 1, world.latest)
    expectTrue(world)
    World.advance(world, 0, 10_000)
    expectTrue(world)
    expect(pageText(world, 1, 20)).not.toContain("terminate")
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
      expectTrue(world)
      for (const shown of nodes) seen.add(listedNode(world, shown, world.latest).status)
      World.advance(world, 0, 500)
    }
    expect([...seen].sort()).toEqual(["created", "power-off", "running", "terminate"])
  })

  it("belongs to its own world, and is right for more pages than are kept", () => {
    for (const world of [makeWorld(1, 5_000), makeWorld(2, 50), makeWorld(1, 50)]) expectTrue(world)
  })

  it("is that of its instant, also where nothing but the time has changed", () => {
    const world = World.make({ ...defaults, clock: "frozen" }, 0)
    const [offer] = world.catalogue.offers
    createNode(
      world,
      { name: "n", plan: offer!.plan, imageId: offer!.image.id, backups: false, skuId: null },
      world.latest
    )
    expectTrue(world)
    const createdAt = world.latest
    World.advance(world, 0, 1_000_000)
    expectTrue(world)
    // A request that arrived before other requests moved the clock.
    const [node] = listNodes(world, 1, 1)
    const created = envelope(nodeAttributes(world, node!, createdAt))
    expect(created).toContain('"status":"created"')
    expect(new TextDecoder().decode(nodeBody(world, node!, createdAt))).toBe(created)
  })

  it("is made once where it is asked for again and again", () => {
    const world = makeWorld(1, 30)
    const [node] = listNodes(world, 1, 1)
    for (const make of [() => nodeBody(world, node!, world.latest), () => pageBody(world, 1, 20, world.latest)]) {
      // A body is kept only after it was made twice.
      const [, , third, fourth] = [make(), make(), make(), make()]
      expect(fourth).toBe(third)
    }
  })

  it("is that of the world after a reset, and of one that took its place", () => {
    const world = makeWorld(1, 3)
    expectTrue(world)
    Object.assign(world, makeWorld(1, 2))
    expectTrue(world)
  })

  it("shows names and ids of any size that a snapshot may hold", () => {
    const world = makeWorld(1, 1)
    world.nodes.skipTo(2 ** 31 + 7)
    const [node] = listNodes(world, 1, 1)
    World.put(world, { ...node!, id: world.nodes.nextId, name: "n".repeat(200_000) })
    World.put(world, { ...node!, id: world.nodes.nextId, name: "ночь".repeat(50_000) })
    expectTrue(world)
  })
})
