import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { catalogue } from "../../src/injection/catalogue.ts"
import { operations } from "@berthkit/profile/operations"
import { TestServer } from "../../src/testing.ts"
import { BerthApi } from "@berthkit/core/api/BerthApi"
import { run } from "../cli/berthServer.ts"
import { proofs, provenWithTheClock } from "./proofs.ts"

layer(TestServer.layer())("each fault is seen on a socket while it is armed, and not when it is disarmed", (it) => {
  for (const { armed, fault, honest, view } of proofs) {
    it.effect(fault.fault, () =>
      Effect.gen(function* () {
        const world = yield* (yield* TestServer).makeWorld({ scenario: "small" })
        yield* world.arm([fault])
        expect(yield* view(world)).toEqual(armed)
        const firings = (yield* world.journal).filter(({ faults }) => faults.includes(fault.fault))
        expect(firings.length).toBeGreaterThan(0)
        yield* world.arm([])
        expect(yield* view(world)).toEqual(honest)
        expect((yield* world.journal).filter(({ faults }) => faults.length > 0)).toEqual(firings)
      })
    )
  }
})

describe("the catalogue", () => {
  const names = catalogue.map(({ name }) => name)

  it("has a proof of every fault, and of nothing else", () => {
    const proven = [...proofs.map(({ fault }) => fault.fault), ...provenWithTheClock]
    expect([...proven].sort()).toEqual([...names].sort())
    expect(new Set(names).size).toBe(names.length)
  })

  it.live("is what berth-server faults lists", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* run(["faults"])
      expect([code, stderr]).toEqual([0, ""])
      const listed = [...stdout.split("For every fault")[0]!.matchAll(/^ {2}(\S+) {2,}\S/gm)].map(([, name]) => name)
      expect(listed).toEqual(names)
    })
  )

  it("names the operations of the interface", () => {
    const all = Object.values(BerthApi.groups).flatMap((group) =>
      Object.keys(group.endpoints).map((name) => `${group.identifier}.${name}`)
    )
    expect([...operations].sort()).toEqual(all.sort())
  })
})
