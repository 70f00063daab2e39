import { assert, describe, it } from "@effect/vitest"
import { exactPrice, unknownPrice } from "@berthkit/core/domain/Price"
import { type Proposal, questionOf } from "../../src/proposal/Proposal.ts"

const proposal = (change: Partial<Proposal>): Proposal => ({
  action: "create",
  id: null,
  name: "web",
  request: { method: "POST", path: "/nodes/", body: { plan: "P", image: "I" } },
  ...exactPrice(2, 1460),
  committedPriceInr: null,
  foreignCommittedPrice: null,
  foreignPrice: null,
  minimumBillingInr: null,
  outcome: "billed by the hour until deleted",
  ...change
})

const deletion = proposal({
  action: "delete",
  id: 1,
  name: "a",
  request: { method: "DELETE", path: "/nodes/1/", body: null },
  ...unknownPrice,
  outcome: "its disk is deleted too"
})

const commitment = proposal({
  action: "set-commitment",
  id: 1,
  name: "a",
  outcome: "at its end the node is terminated"
})

describe("the question before a change", () => {
  it.each<[string, ReadonlyArray<Proposal>]>([
    ["Delete node a (1)? Its disk is deleted too.", [deletion]],
    ["Delete these 2 nodes? Their disks are deleted too.", [deletion, { ...deletion, id: 2 }]],
    ["Create node web on P from I? ₹2.00 per hour, ₹1460.00 per month.", [proposal({})]],
    ["Create node web on P from I? Price not known.", [proposal(unknownPrice)]],
    [
      "Create node web on P from I? ₹2.00 per hour, ₹1460.00 per month, minimum charge ₹48.00.",
      [proposal({ minimumBillingInr: 48 })]
    ],
    [
      "Create these 2 nodes on P from I? Together: ₹4.00 per hour, ₹2920.00 per month, minimum charge ₹96.00.",
      [proposal({ name: "w-1", minimumBillingInr: 48 }), proposal({ name: "w-2", minimumBillingInr: 48 })]
    ],
    [
      "Create node web on P from I? ₹90.00 for the period (₹2.00 per hour), committed for 30 days.",
      [proposal({ ...exactPrice(2, null), committedPriceInr: 90, outcome: "committed for 30 days" })]
    ],
    [
      "Create these 2 nodes on P from I? Together: ₹4.00 per hour, ₹2920.00 per month.",
      [proposal({ name: "w-1" }), proposal({ name: "w-2" })]
    ],
    ["Delete node db-1.exämple_2 (1)? Its disk is deleted too.", [{ ...deletion, name: "db-1.exämple_2" }]],
    [
      String.raw`Delete node "a (2)? Nothing is deleted. \"" (1)? Its disk is deleted too.`,
      [{ ...deletion, name: 'a (2)? Nothing is deleted. "' }]
    ],
    ["Set the commitment of node a (1)? At its end the node is terminated.", [commitment]]
  ])("says what will happen and what it costs: %s", (question, proposals) =>
    assert.strictEqual(questionOf(proposals), question)
  )
})
