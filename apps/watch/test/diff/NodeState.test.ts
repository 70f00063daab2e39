import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { compareIncarnation, incarnationOf, NodeState, NodeStateJson } from "../../src/diff/NodeState.ts"
import { Standing } from "../../src/diff/Standing.ts"
import { aNode } from "./aNode.ts"

describe("the durable state", () => {
  it.effect("of a node is the same after it was written as JSON and read again", () =>
    Effect.gen(function* () {
      const states = yield* Arbitrary.sampleEffect(Arbitrary.schema(NodeState), { count: 200, seed: 7 })
      const same = Schema.toEquivalence(NodeState)
      for (const sampled of states) {
        const state = { ...sampled, node: { ...sampled.node, extra: { plan_id: 7 } } }
        expect(same(Schema.decodeSync(NodeStateJson)(Schema.encodeSync(NodeStateJson)(state)), state)).toBe(true)
      }
    })
  )

  it.effect("of an account is the same after it was written as JSON and read again", () =>
    Effect.gen(function* () {
      const json = Schema.fromJsonString(Schema.toCodecJson(Standing))
      for (const standing of yield* Arbitrary.sampleEffect(Arbitrary.schema(Standing), { count: 200, seed: 7 })) {
        expect(Schema.decodeSync(json)(Schema.encodeSync(json)(standing))).toEqual(standing)
      }
    })
  )
})

describe("an incarnation", () => {
  it("is the second in which the service accepted the node, whatever fractions a record leaves out", () => {
    expect(incarnationOf(aNode({ id: 1, createdAtMillis: 5432 }))).toBe(5)
    expect(compareIncarnation(aNode({ id: 1, createdAtMillis: 5000 }), 5432)).toBe("same")
    expect(compareIncarnation(aNode({ id: 1, createdAtMillis: 6432 }), 5432)).toBe("newer")
    expect(compareIncarnation(aNode({ id: 1, createdAtMillis: 4432 }), 5432)).toBe("older")
  })
})
