/**
 * A purchase whose reply is lost may have paid for a period. Until a person says what the portal shows, nothing is bought or deleted for
 * that member. No command that deletes its node may hide the purchase.
 */
import { cpSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { alteredService, days, image, plan } from "./AlteredService.ts"
import { hurriedFolderOf, rowsOf, webs } from "./fleet.ts"
import { json } from "./berth.ts"
import { accelerated } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

const webOf = (more = "") => webs(1, plan, `, commitment: auto_renew ${days}d${more}`)
const deletes = ["--yes", "--max-deletes", "9", "-o", "json"]
const all = [...deletes, "--max-commitment", "100000"]
const purchase = "POST /update_committed_node_status/"

/** A fleet with a member whose purchase got no reply. */
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
    ["is no longer in the file", ["apply"], gone],
    ["is protected, and no longer in the file", ["apply"], gone],
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

  it.live("continues its replacement once a person has told commitment set what the portal shows", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1))
      yield* fleet.apply(...all)
      fleet.write(webOf(", tags: [b]"))
      service.isPurchaseLost = true
      assert.strictEqual((yield* fleet.apply(...all, "--replace", "all")).code, 9)
      service.isPurchaseLost = false
      const purchases = () => service.requests.filter((request) => request === purchase).length
      const sent = purchases()
      const say = ["commitment", "set", "1001", "auto_renew", "--sku", "7", "--found", "set", "--yes"]
      assert.strictEqual((yield* fleet.run(say)).code, 0)
      const next = yield* fleet.apply(...all, "--replace", "all")
      assert.strictEqual(next.code, 0, next.stderr)
      assert.deepStrictEqual([service.nodes.map(({ id }) => id), purchases()], [[1001], sent])
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

  it.live.each(["through a link to its folder", "in another clone"])(
    "is settled by what a person says %s, because both have the same fleet",
    (where) =>
      Effect.gen(function* () {
        const { fleet } = yield* unsureFleet
        const other = join(yield* stateFolder, "other")
        if (where.includes("link")) symlinkSync(fleet.folder, other)
        else cpSync(fleet.folder, other, { recursive: true })
        // This run records the other path in the list of fleets, too.
        yield* fleet.run(["apply", "-f", join(other, "fleet.yaml"), ...all])
        for (const file of [join(other, "fleet.yaml"), fleet.file]) {
          const told = yield* fleet.run(["fleet", "adopt", "1000", "--as", "web-1", "-f", file, "--commitment", "none"])
          assert.strictEqual(told.code, 0, told.stderr)
        }
        const listed = yield* fleet.run(["fleet", "list", "-o", "json"])
        assert.lengthOf(JSON.parse(listed.stdout), where.includes("link") ? 1 : 2)
        const asAnother = ["fleet", "adopt", "1000", "--as", "web-2", "-f", join(other, "fleet.yaml")]
        assert.strictEqual((yield* fleet.run(asAnother)).code, 5)
      }).pipe(Effect.scoped)
  )

  it.live("is not forgotten, until a person says what the portal shows", () =>
    Effect.gen(function* () {
      const { fleet } = yield* unsureFleet
      const forget = fleet.run(["fleet", "forget", "web-1", "-f", fleet.file])
      const before = fleet.ledgerText()
      const refused = yield* forget
      assert.deepStrictEqual([refused.code, fleet.ledgerText()], [5, before], refused.stderr)
      assert.include(
        refused.stderr,
        `the commitment auto_renew ${days}d of shop-web-1 (1000) was set: web-1 was not forgotten`
      )
      assert.include(
        refused.stderr,
        `berth fleet adopt 1000 --as web-1 -f ${fleet.file} --commitment 'auto_renew ${days}d'`
      )
      const adopt = ["fleet", "adopt", "1000", "--as", "web-1", "-f", fleet.file, "--commitment", "none"]
      assert.strictEqual((yield* fleet.run(adopt)).code, 0)
      assert.strictEqual((yield* forget).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("is not forgotten if one list and one read deny its node, and the next ones show it", () =>
    Effect.gen(function* () {
      const { fleet, service } = yield* unsureFleet
      const before = fleet.ledgerText()
      const nodes = service.nodes.splice(0)
      let reads = 0
      service.onRequest = (request) => {
        if (request === "GET /nodes/1000/" && ++reads === 2) service.nodes.push(...nodes)
      }
      const refused = yield* fleet.run(["fleet", "forget", "web-1", "-f", fleet.file])
      assert.deepStrictEqual([refused.code, fleet.ledgerText()], [5, before], refused.stderr)
      assert.strictEqual(reads, 2)
    }).pipe(Effect.scoped)
  )

  it.live("is forgotten if its node cannot be found, and is the same again if the node was there", () =>
    Effect.gen(function* () {
      const { fleet, service } = yield* unsureFleet
      const nodes = service.nodes.splice(0)
      const forgotten = yield* accelerated(fleet.run(["fleet", "forget", "web-1", "-f", fleet.file]))
      assert.strictEqual(forgotten.code, 0, forgotten.stderr)
      assert.include(
        forgotten.stderr,
        `It is not known whether the commitment auto_renew ${days}d of shop-web-1 (1000) was set.`
      )
      service.nodes.push(...nodes)
      assert.strictEqual((yield* fleet.run(["fleet", "adopt", "1000", "--as", "web-1", "-f", fleet.file])).code, 0)
      assert.include(fleet.ledgerText(), `"committing":"auto_renew ${days}d"`)
    }).pipe(Effect.scoped)
  )
})

describe("a purchase by hand that got no reply", () => {
  const buying = Effect.gen(function* () {
    const { account, service } = yield* alteredService
    const fleet = yield* hurriedFolderOf(account)
    /** Runs a command on another machine that has the files of the fleet. */
    const elsewhere = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
      const other = yield* hurriedFolderOf(account)
      other.write(webOf())
      writeFileSync(other.ledger, fleet.ledgerText())
      return yield* other.apply(...args)
    })
    const buy = (...more: ReadonlyArray<string>) =>
      fleet.run(["commitment", "set", "1000", "auto_renew", "--sku", "7", "--yes", "--max-commitment", "1000", ...more])
    const lose = Effect.gen(function* () {
      service.isPurchaseLost = true
      assert.strictEqual((yield* buy()).code, 8)
      service.isPurchaseLost = false
    })
    const purchases = () => service.requests.filter((request) => request === purchase).length
    return { buy, elsewhere, fleet, lose, purchases }
  })
  const unsure = [["unsure", 1000]]
  const shownIn = (ran: Parameters<typeof rowsOf>[0]) => rowsOf(ran).map(({ action, id }) => [action, id])

  it.live("is in the ledger of the fleet that takes the node in, so no machine sends it again", () =>
    Effect.gen(function* () {
      const { elsewhere, fleet, lose, purchases } = yield* buying
      yield* fleet.run(["node", "create", "shop-web-1", "--plan", plan, "--image", image, "--yes"])
      yield* lose
      const sent = purchases()
      fleet.write(webOf())
      const taken = yield* fleet.run(["fleet", "adopt", "1000", "--as", "web-1", "-f", fleet.file])
      assert.strictEqual(taken.code, 0, taken.stderr)
      assert.include(
        taken.stderr,
        `It is not known whether the commitment auto_renew ${days}d of shop-web-1 (1000) was set.`
      )
      assert.include(taken.stderr, "Look in the account portal, and say what it shows")
      const held = yield* elsewhere(...all)
      assert.deepStrictEqual([held.code, shownIn(held), purchases()], [5, unsure, sent], held.stderr)
    }).pipe(Effect.scoped)
  )

  it.live("makes a member unsure, also in a preview, and on another machine after an apply", () =>
    Effect.gen(function* () {
      const { buy, elsewhere, fleet, lose, purchases } = yield* buying
      fleet.write(webs(1))
      yield* fleet.apply(...all)
      yield* lose
      const sent = purchases()
      fleet.write(webOf())
      for (const [code, run] of [
        [5, fleet.apply("--dry-run", "-o", "json")],
        [11, fleet.diff("-o", "json")],
        [5, fleet.apply(...all)]
      ] as const) {
        const shown = yield* run
        assert.deepStrictEqual([shown.code, shownIn(shown)], [code, unsure], shown.stderr)
      }
      assert.deepStrictEqual(shownIn(yield* elsewhere(...all)), unsure)
      assert.strictEqual((yield* buy("--found", "set")).code, 0)
      const known = yield* fleet.apply(...all)
      assert.deepStrictEqual([known.code, shownIn(known)], [0, [["unchanged", 1000]]], known.stderr)
      const other = yield* elsewhere(...all)
      assert.deepStrictEqual([other.code, purchases()], [0, sent], other.stderr)
    }).pipe(Effect.scoped)
  )
})
