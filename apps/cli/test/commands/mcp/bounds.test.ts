import { createRequest } from "@berthkit/core/client/NodeOperations"
import { propose } from "../../../src/proposal/Proposal.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { makeBounds } from "../../../src/commands/mcp/bounds.ts"
import type { Kept } from "../../../src/proposal/ProposalStore.ts"

const create = (id: string, price: number): Kept => {
  const spec = { name: id, plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" }
  const change = { action: "create", id: null, name: id, outcome: "", maxPricePerHourInr: price } as const
  const proposal = propose(createRequest(spec), change)
  const terms = { order: { action: "create", spec }, proposal, about: null } as const
  return { id, account: "one", expiresMillis: 0, terms, answer: null, wasSent: false, result: null }
}

const passes = (effect: Effect.Effect<void, unknown>) => Result.isSuccess(Effect.runSync(Effect.result(effect)))

describe("the bounds of a server", () => {
  const first = create("first", 0.1)
  const second = create("second", 0.2)

  it("do not count a proposal against itself, when it is executed again", () => {
    const { ensureWithin, take } = makeBounds({
      allow: ["create"],
      maxCostInr: Option.some(0.25),
      maxCommitmentInr: Option.none(),
      maxNodes: Option.some(1)
    })
    take(first)
    assert.isTrue(passes(ensureWithin(first.terms, first.id)))
    assert.isFalse(passes(ensureWithin(second.terms, second.id)))
    take(first)
    assert.isTrue(passes(ensureWithin(first.terms, first.id)))
  })

  it("are exact sums of prices, and get back what made no node", () => {
    const { ensureWithin, giveBack, take } = makeBounds({
      allow: ["create"],
      maxCostInr: Option.some(0.3),
      maxCommitmentInr: Option.none(),
      maxNodes: Option.none()
    })
    take(first)
    assert.isTrue(passes(ensureWithin(second.terms)))
    take(second)
    assert.isFalse(passes(ensureWithin(first.terms)))
    giveBack(second)
    assert.isTrue(passes(ensureWithin(second.terms)))
  })
})
