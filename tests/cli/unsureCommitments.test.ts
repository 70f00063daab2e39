/**
 * A purchase whose reply is lost may have paid for a period. Until a person says what the portal shows, nothing is bought or deleted for that
 * member, and no command that deletes its node hides it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { alteredService, days, plan } from "./AlteredService.ts"
import { hurriedFolderOf, rowsOf, webs } from "./fleet.ts"
import { json } from "./berth.ts"

const webOf = (more = "") => webs(1, plan, `, commitment: auto_renew ${days}d${more}`)
const deletes = ["--yes", "--max-deletes", "9", "-o", "json"]
const all = [...deletes, "--max-commitment", "100000"]
const purchase = "POST /update_committed_node_status/"

/** A fleet whose member has a purchase without a reply. */
const unsureFleet = Effect.gen(function* () {
  const { account, service } = yield* alteredService
  const fleet = yield* hurriedFolderOf(account)
  fleet.write(webOf())
  service.isPurchaseLost = true
  assert.strictEqual((yield* fleet.apply(...all)).code, 9)
  service.isPurchaseLost = false
  const changes = () => service.requests.filter((request) => !request.startsWith("GET "))
  return { service, fleet, changes }
})

describe("a member whose purchase got no reply", () => {
  const gone = "fleet: shop\nnodes: {}\n"
  for (const [what, command, text] of [
    ["is replaced", ["apply", "--replace", "all"], webOf(", tags: [b]")],
    ["is one too many", ["apply"], webs(0)],
    ["is picked", ["apply", "--pick", "web-1"], webs(0)],
    ["is not in the file any more", ["apply"], gone],
    ["is protected, and not in the file any more", ["apply"], gone],
    ["is destroyed", ["destroy"], webOf()]
  ] as const) {
    it.live(`is left alone where it ${what}, until a person says what the portal shows`, () =>
      Effect.gen(function* () {
        const { changes, fleet, service } = yield* unsureFleet
        if (what.includes("protected")) {
          fleet.write(webOf(", protect: true"))
          yield* fleet.apply(...all)
        }
        fleet.write(text)
        const [name, ...flags] = command
        const run = fleet.run([name, "-f", fleet.file, ...flags, ...(name === "destroy" ? deletes : all)])
        const before = changes().length
        const held = yield* run
        assert.deepStrictEqual(
          rowsOf(held).map(({ action, id }) => [action, id]),
          [["unsure", 1000]]
        )
        assert.strictEqual(held.code, 5, held.stderr)
        assert.deepStrictEqual(changes().slice(before), [])
        assert.strictEqual((yield* fleet.diff()).code, 11)
        const adopt = ["fleet", "adopt", "1000", "--as", "web-1", "-f", fleet.file, "--commitment"]
        const told = yield* fleet.run([...adopt, `auto_renew ${days}d`])
        assert.strictEqual(told.code, 0, told.stderr)
        if (what.includes("protected")) return
        const next = yield* run
        assert.strictEqual(next.code, 0, next.stderr)
        assert.include(
          rowsOf(next).map(({ action }) => action),
          "forfeit"
        )
        assert.isFalse(service.nodes.some(({ id }) => id === 1000))
      }).pipe(Effect.scoped)
    )
  }

  it.live("keeps both nodes of its replacement, in that run and if the file is reverted after it", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1))
      yield* fleet.apply(...all)
      fleet.write(webOf(", tags: [b]"))
      service.isPurchaseLost = true
      const lost = yield* fleet.apply(...all, "--replace", "all")
      assert.strictEqual(lost.code, 9, lost.stderr)
      service.isPurchaseLost = false
      const purchases = () => service.requests.filter((request) => request === purchase).length
      const sent = purchases()
      for (const text of [webOf(", tags: [b]"), webs(1), webOf(", tags: [c]")]) {
        fleet.write(text)
        const held = yield* fleet.apply(...all, "--replace", "all")
        assert.strictEqual(held.code, 5, held.stderr)
        assert.sameDeepMembers(
          rowsOf(held).map(({ action, id }) => [action, id]),
          [
            ["unsure", 1001],
            ["doubled", 1000]
          ]
        )
      }
      assert.deepStrictEqual([service.nodes.map(({ id }) => id), purchases()], [[1000, 1001], sent])
    }).pipe(Effect.scoped)
  )

  it.live("has that in what berth node delete shows of its node", () =>
    Effect.gen(function* () {
      const { fleet } = yield* unsureFleet
      const shown = yield* fleet.run(["node", "delete", "1000", "--dry-run", "-o", "json"])
      assert.include(
        json<{ outcome: string }>(shown).outcome,
        "auto_renew with the committed option 7 was sent for it and got no reply"
      )
    }).pipe(Effect.scoped)
  )
})
