import { assert, describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import type { CommitmentSetting } from "../../src/lifecycle/CommitmentTerm.ts"
import { setCommitment } from "../../src/world/commitments.ts"
import { createNode, deleteNode, getNode, listNodes } from "../../src/world/nodes.ts"
import { populate } from "../../src/world/scenario.ts"
import * as World from "../../src/world/World.ts"
import { defaults, type WorldSettings } from "../../src/world/WorldSettings.ts"

const dayMillis = 86_400_000

const frozen = (over: Partial<WorldSettings> = {}) => World.make({ ...defaults, clock: "frozen", ...over }, 0)

const committedPlan = (world: World.World) => world.catalogue.plans.find(({ committed }) => committed.length > 0)!

const orderFor = (world: World.World, name: string) => {
  const plan = committedPlan(world)
  const { image } = world.catalogue.offers.find((offer) => offer.plan === plan)!
  return { name, plan, imageId: image.id, backups: false, skuId: null }
}

const create = (world: World.World, name: string) =>
  Result.getOrThrow(createNode(world, orderFor(world, name), world.latest))

const advance = (world: World.World, byMillis: number) => World.advance(world, 0, byMillis)

const refusalOf = <A, E>(result: Result.Result<A, E>): E => {
  assert(Result.isFailure(result))
  return result.failure
}

describe("a world", () => {
  it("shows a node through its life and then knows it no longer", () => {
    const world = frozen()
    const { id } = create(world, "web")
    const phaseNow = () => {
      const found = getNode(world, id)
      return Result.isSuccess(found) ? World.phase(world, found.success, world.latest) : "unknown"
    }
    expect(phaseNow()).toBe("created")
    advance(world, 2_000)
    expect(phaseNow()).toBe("running")
    deleteNode(world, id, world.latest)
    expect(phaseNow()).toBe("terminate")
    expect(listNodes(world, 1, 20).map((node) => node.id)).toEqual([id])
    advance(world, 2_000)
    expect(phaseNow()).toBe("unknown")
    expect(listNodes(world, 1, 20)).toEqual([])
    expect(refusalOf(deleteNode(world, id, world.latest))).toEqual({ _tag: "NodeUnknown", id })
  })

  it("takes a second delete for the first: it does not begin the termination anew (A11)", () => {
    const world = frozen()
    const { id } = create(world, "web")
    deleteNode(world, id, world.latest)
    advance(world, 1_500)
    expect(Result.isSuccess(deleteNode(world, id, world.latest))).toBe(true)
    advance(world, 500)
    expect(refusalOf(getNode(world, id))).toEqual({ _tag: "NodeUnknown", id })
  })

  it("refuses to delete or commit a locked node", () => {
    const world = frozen()
    const node = create(world, "web")
    World.put(world, { ...node, locked: true })
    expect(refusalOf(deleteNode(world, node.id, world.latest))).toEqual({ _tag: "NodeLocked", id: node.id })
    expect(
      refusalOf(setCommitment(world, { nodeId: node.id, setting: "hourly_billing", skuId: undefined }, world.latest))
    ).toEqual({
      _tag: "NodeLocked",
      id: node.id
    })
  })

  it("lets names repeat, unless it asks for unique ones; a name is free again when its node is gone", () => {
    const lax = frozen()
    expect(create(lax, "web").id).not.toBe(create(lax, "web").id)
    const strict = frozen({ uniqueNames: true })
    const { id } = create(strict, "web")
    const again = () => createNode(strict, orderFor(strict, "web"), strict.latest)
    expect(refusalOf(again())).toEqual({ _tag: "NameTaken", name: "web", holder: id })
    deleteNode(strict, id, strict.latest)
    expect(refusalOf(again())).toMatchObject({ _tag: "NameTaken" })
    advance(strict, 2_000)
    expect(Result.isSuccess(again())).toBe(true)
  })

  it("ends a node by itself when its commitment ends under auto_terminate", () => {
    const world = frozen()
    const { id } = create(world, "web")
    const { days, skuId } = committedPlan(world).committed[0]!
    setCommitment(world, { nodeId: id, setting: "auto_terminate", skuId }, world.latest)
    advance(world, days * dayMillis - 1)
    expect(World.phase(world, Result.getOrThrow(getNode(world, id)), world.latest)).toBe("running")
    advance(world, 1)
    expect(World.phase(world, Result.getOrThrow(getNode(world, id)), world.latest)).toBe("terminate")
    advance(world, 2_000)
    expect(listNodes(world, 1, 20)).toEqual([])
  })

  it("keeps a node whose auto_terminate was taken back in time", () => {
    const world = frozen()
    const { id } = create(world, "web")
    const { days, skuId } = committedPlan(world).committed[0]!
    setCommitment(world, { nodeId: id, setting: "auto_terminate", skuId }, world.latest)
    setCommitment(world, { nodeId: id, setting: "hourly_billing", skuId: undefined }, world.latest)
    advance(world, 10 * days * dayMillis)
    expect(World.phase(world, Result.getOrThrow(getNode(world, id)), world.latest)).toBe("running")
  })

  it("needs a plan to renew what is not committed, and only takes a plan of the node's own (A17)", () => {
    const world = frozen()
    const { id } = create(world, "web")
    const set = (setting: CommitmentSetting, skuId?: number) =>
      setCommitment(world, { nodeId: id, setting, skuId }, world.latest)
    for (const skuId of [undefined, 0]) {
      expect(refusalOf(set("auto_renew", skuId))).toMatchObject({
        _tag: "Invalid",
        problems: { skuId: [expect.stringContaining("no commitment to renew")] }
      })
    }
    expect(refusalOf(set("auto_renew", 99_999_999))).toMatchObject({
      _tag: "Invalid",
      problems: { skuId: [expect.stringContaining("no committed_sku_id")] }
    })
    expect(Result.getOrThrow(set("auto_terminate", 0))).toBeNull()
    const { skuId } = committedPlan(world).committed[0]!
    expect(Result.getOrThrow(set("auto_renew", skuId))).toBe(skuId)
    expect(Result.getOrThrow(set("auto_renew"))).toBe(skuId)
  })

  it("takes no new setting for a node that is being terminated", () => {
    const world = frozen()
    const { id } = create(world, "web")
    deleteNode(world, id, world.latest)
    expect(
      refusalOf(setCommitment(world, { nodeId: id, setting: "hourly_billing", skuId: undefined }, world.latest))
    ).toEqual({
      _tag: "NodeTerminating",
      id
    })
  })

  it("never goes back in time when the real clock does", () => {
    const world = World.make({ ...defaults, clock: "real" }, 10_000)
    expect([World.enter(world, 20_000), World.enter(world, 15_000), World.enter(world, 20_001)]).toEqual([
      20_000, 20_000, 20_001
    ])
  })

  it("begins with the nodes of its scenario, running already", () => {
    for (const [scenario, count] of [
      ["empty", 0],
      ["small", 5],
      [{ fleet: 250 }, 250]
    ] as const) {
      const world = frozen()
      populate(world, scenario)
      expect(world.nodes.size).toBe(count)
      const phases = listNodes(world, 1, 100).map((node) => World.phase(world, node, world.latest))
      expect(new Set(phases)).toEqual(new Set(count === 0 ? [] : ["running"]))
    }
  })

  it("lists exactly the nodes whose life is not over, ascending, after any history", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("create" as const), at: fc.constant(0) }),
      fc.record({ kind: fc.constant("delete" as const), at: fc.nat(40) }),
      fc.record({ kind: fc.constant("end" as const), at: fc.nat(40) }),
      fc.record({ kind: fc.constant("keep" as const), at: fc.nat(40) }),
      fc.record({ kind: fc.constant("advance" as const), at: fc.oneof(fc.nat(3_000), fc.nat(40 * dayMillis)) })
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const world = frozen()
        const { skuId } = committedPlan(world).committed[0]!
        const ids: Array<number> = []
        for (const { at, kind } of steps) {
          const id = ids[at % Math.max(1, ids.length)] ?? -1
          if (kind === "create") ids.push(create(world, "n").id)
          if (kind === "delete") deleteNode(world, id, world.latest)
          if (kind === "end") {
            setCommitment(world, { nodeId: id, setting: "auto_terminate", skuId }, world.latest)
          }
          if (kind === "keep")
            setCommitment(world, { nodeId: id, setting: "hourly_billing", skuId: undefined }, world.latest)
          if (kind === "advance") advance(world, at)
        }
        const listed = listNodes(world, 1, 100)
        expect(listed.map(({ id }) => id)).toEqual(ids.filter((id) => Result.isSuccess(getNode(world, id))))
        expect(listed.map((node) => World.phase(world, node, world.latest))).not.toContain("gone")
        expect(new Set(ids).size).toBe(ids.length)
      })
    )
  })
})
