/** Tests `berth apply` if its ledger is removed while it runs. */
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { alteredService } from "./AlteredService.ts"
import { hurriedFolderOf, webs } from "./fleet.ts"

/**
 * A fleet of one node whose ledger was removed while an apply created the second node. Also returns the ledger from before and during that
 * apply.
 */
const removedMeanwhile = Effect.gen(function* () {
  const { account, service } = yield* alteredService
  const fleet = yield* hurriedFolderOf(account)
  fleet.write(webs(1))
  yield* fleet.apply("--yes")
  const before = readFileSync(fleet.ledger, "utf8")
  fleet.write(webs(2))
  let during = ""
  service.onMade = () => {
    during = readFileSync(fleet.ledger, "utf8")
    rmSync(fleet.ledger)
  }
  const failed = yield* fleet.apply("--yes")
  service.onMade = () => {}
  const [, made] = service.nodes
  assert.strictEqual(failed.code, 9, failed.stderr)
  assert.include(failed.stderr, `Created shop-web-2 (${made!.id}), which is billed, and the ledger does not have it`)
  assert.include(failed.stderr, "was removed while this command ran")
  assert.notInclude(failed.stderr, "Another program changed the ledger")
  assert.match(
    failed.stderr,
    /hint: Put it back, .+, and run the same command again\. That adds the node to the fleet, or names the command that does\./
  )
  return { fleet, service, before, during, made: made! }
})

describe("a ledger that is removed while an apply runs", () => {
  it.live("is restored from before the apply: the next run names the command that adopts the new nodes", () =>
    Effect.gen(function* () {
      const { before, fleet, made, service } = yield* removedMeanwhile
      writeFileSync(fleet.ledger, before)
      const refused = yield* fleet.apply("--yes")
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, `berth fleet adopt -f ${fleet.file} ${made.id} --as web-2`)
      const taken = yield* fleet.run(["fleet", "adopt", String(made.id), "--as", "web-2", "-f", fleet.file])
      assert.strictEqual(taken.code, 0, taken.stderr)
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.lengthOf(service.nodes, 2)
      assert.include(fleet.ledgerText(), `"id":${made.id}`)
    }).pipe(Effect.scoped)
  )

  it.live("is restored as of that apply: the next run takes over the new nodes", () =>
    Effect.gen(function* () {
      const { fleet, made, service, during } = yield* removedMeanwhile
      writeFileSync(fleet.ledger, during)
      const again = yield* fleet.apply("--yes")
      assert.strictEqual(again.code, 0, again.stderr)
      assert.lengthOf(service.nodes, 2)
      assert.include(fleet.ledgerText(), `"id":${made.id}`)
    }).pipe(Effect.scoped)
  )

  it.live("is lost for good: no second nodes are made, and each node can be adopted by hand", () =>
    Effect.gen(function* () {
      const { fleet, service } = yield* removedMeanwhile
      const refused = yield* fleet.apply("--yes")
      assert.strictEqual(refused.code, 5, refused.stderr)
      for (const [i, { id }] of service.nodes.entries()) {
        assert.include(refused.stderr, `berth fleet adopt -f ${fleet.file} ${id} --as web-${i + 1}`)
        const taken = yield* fleet.run(["fleet", "adopt", String(id), "--as", `web-${i + 1}`, "-f", fleet.file])
        assert.strictEqual(taken.code, 0, taken.stderr)
      }
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.lengthOf(service.nodes, 2)
    }).pipe(Effect.scoped)
  )
})
