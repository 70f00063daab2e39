import { BerthError } from "@berthkit/core/domain/BerthError"
import { OutcomeUnknown } from "@berthkit/core/domain/ErrorReason"
import { NodeId } from "@berthkit/core/domain/Node"
import { assert, describe, it } from "@effect/vitest"
import { LeasedNodeNotDeleted } from "../../src/failure/CliFailure.ts"

const hintFor = (because: "RateLimited" | "Unreachable", candidates: ReadonlyArray<number> = [7]) =>
  new LeasedNodeNotDeleted({
    id: null,
    name: "ci",
    perHourInr: null,
    removal: "remove /leases/ci.json",
    wait: "eleven minutes",
    error: new BerthError({
      operation: "nodes.create",
      attempts: [],
      reason: new OutcomeUnknown({
        nodeName: "ci",
        candidates: candidates.map((id) => NodeId.make(id)),
        toldId: null,
        difference: null,
        listRead: true,
        listFault: null,
        because,
        detail: "no reply",
        keyed: true
      })
    })
  }).hint

describe("the hint about the node of a run that is not known", () => {
  it("says to delete the own one of the candidates", () =>
    assert.strictEqual(
      hintFor("Unreachable", [7, 8]),
      "See which node is yours: berth node get 7 8; delete only that node with berth node delete. Then remove /leases/ci.json."
    ))

  it("names the command that deletes the only candidate", () =>
    assert.strictEqual(
      hintFor("Unreachable"),
      "See whether it is yours: berth node get 7; if it is: berth node delete 7. Then remove /leases/ci.json."
    ))

  it("warns of other people's nodes if the service refused the create", () => {
    const hint = hintFor("RateLimited")
    assert.include(hint, "probably not its own")
    assert.include(hint, "berth node get 7. Then remove /leases/ci.json.")
    assert.notInclude(hint, "node delete")
  })
})
