/** Two fleets of one account on one machine. A node belongs to at most one member of one fleet. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "./berth.ts"
import { alteredService, plan } from "./AlteredService.ts"
import { hurriedFolderOf, webs } from "./fleet.ts"

const otherText = `fleet: other\nnodes:\n  x: { plan: ${plan}, image: Ubuntu-24.04 }\n`

/** A folder with two fleet files: one for the fleet shop and one for another fleet. */
const twoFleets = Effect.gen(function* () {
  const { account, service } = yield* alteredService
  const fleet = yield* hurriedFolderOf(account)
  const other = join(fleet.folder, "other.yaml")
  writeFileSync(other, otherText)
  const adopt = (node: number, as: string, file: string) =>
    fleet.run(["fleet", "adopt", String(node), "--as", as, "-f", file])
  /** Runs apply. Once the service has made a node, another program changes the ledger, so the ledger never records the node. */
  const applyCutOff = Effect.gen(function* () {
    service.onMade = () => writeFileSync(fleet.ledger, `${fleet.ledgerText()} `)
    assert.strictEqual((yield* fleet.apply("--yes")).code, 9)
    service.onMade = () => {}
    assert.include(fleet.ledgerText(), '"state":"creating"')
  })
  const ids = () => service.nodes.map(({ id }) => id)
  return { account, adopt, applyCutOff, fleet, ids, other, service }
})

describe("a node that an apply made which was cut off before its ledger said so", () => {
  it.live("is not taken in by another fleet, whose destroy would delete it", () =>
    Effect.gen(function* () {
      const { adopt, applyCutOff, fleet, other } = yield* twoFleets
      fleet.write(webs(1))
      yield* applyCutOff
      const refused = yield* adopt(1000, "x-1", other)
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, "Node shop-web-1 (1000) is web-1 of the fleet shop.")
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("is not taken in as another member of its own fleet", () =>
    Effect.gen(function* () {
      const { adopt, applyCutOff, fleet } = yield* twoFleets
      fleet.write(webs(1))
      yield* applyCutOff
      const refused = yield* adopt(1000, "web-3", fleet.file)
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, "Node shop-web-1 (1000) is web-1 already.")
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("stops the apply if the ledger has it as another member, and the ledger stays readable", () =>
    Effect.gen(function* () {
      const { applyCutOff, fleet } = yield* twoFleets
      fleet.write(webs(1))
      yield* applyCutOff
      const before = JSON.parse(fleet.ledgerText())
      const node = { id: 1000, name: "shop-web-1", plan, image: "Ubuntu-24.04", createdAt: null }
      before.members.push({ member: "web-3", generation: 1, state: "made", node, sent: null })
      writeFileSync(fleet.ledger, JSON.stringify(before))
      for (const args of [["apply", "--yes"], ["diff"]]) {
        const refused = yield* fleet.run([...args, "-f", fleet.file])
        assert.strictEqual(refused.code, 5, refused.stderr)
        assert.include(refused.stderr, "The create of web-1 has made node 1000, and the ledger has that node as web-3.")
      }
      assert.strictEqual((yield* fleet.run(["fleet", "forget", "web-3", "-f", fleet.file])).code, 0)
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("is not deleted by hand if its group is protected", () =>
    Effect.gen(function* () {
      const { applyCutOff, fleet, ids } = yield* twoFleets
      fleet.write(webs(1, plan, ", protect: true"))
      yield* applyCutOff
      const refused = yield* fleet.run(["node", "delete", "1000", "--yes"])
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, "Protected: node 1000 (shop-web-1), which is web-1 of the fleet shop.")
      assert.deepStrictEqual(ids(), [1000])
    }).pipe(Effect.scoped)
  )
})

describe("a node of another fleet", () => {
  it.live("is not taken in under another API key, which makes another account of the same nodes", () =>
    Effect.gen(function* () {
      const { account, adopt, fleet, ids, other } = yield* twoFleets
      fleet.write(webs(1))
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      account.BERTH_API_KEY = "the-new-key-of-a-test"
      const refused = yield* adopt(1000, "x-1", other)
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, "Node shop-web-1 (1000) is web-1 of the fleet shop.")
      assert.deepStrictEqual(ids(), [1000])
    }).pipe(Effect.scoped)
  )
})

describe("a node that a damaged ledger of another fleet may have", () => {
  it.live("is not taken in until the ledger is put right or the fleet is forgotten", () =>
    Effect.gen(function* () {
      const { adopt, fleet, other } = yield* twoFleets
      fleet.write(webs(1))
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      writeFileSync(fleet.ledger, `<<<<<<< HEAD\n${fleet.ledgerText()}`)
      const refused = yield* adopt(1000, "x-1", other)
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(
        refused.stderr,
        `The ledger ${fleet.ledger} of the fleet shop is damaged, and it may have the node.`
      )
      assert.include(refused.stderr, "berth fleet forget shop")
      assert.strictEqual((yield* fleet.run(["fleet", "forget", "shop"])).code, 0)
      assert.strictEqual((yield* adopt(1000, "x-1", other)).code, 0)
    }).pipe(Effect.scoped)
  )
})

describe("a node that an open create of another fleet may have made", () => {
  const openCreate = Effect.gen(function* () {
    const found = yield* twoFleets
    found.fleet.write(webs(1, plan, ", protect: true"))
    // The create is carried out, gets no reply, and the list does not show its node yet.
    found.service.silent = "POST /nodes/"
    found.service.listed = []
    const open = yield* found.fleet.apply("--yes", "--deadline", "3s")
    assert.notStrictEqual(open.code, 0)
    found.service.silent = undefined
    found.service.listed = undefined
    assert.include(found.fleet.ledgerText(), '"state":"creating"')
    return found
  })

  it.live("is not taken in before it is known", () =>
    Effect.gen(function* () {
      const { adopt, fleet, other } = yield* openCreate
      const refused = yield* adopt(1000, "x-1", other)
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, "web-1 of the fleet shop")
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("is not deleted by hand if that one is protected", () =>
    Effect.gen(function* () {
      const { fleet, ids } = yield* openCreate
      const refused = yield* fleet.run(["node", "delete", "1000", "--yes"])
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, "web-1 of the fleet shop")
      assert.deepStrictEqual(ids(), [1000])
    }).pipe(Effect.scoped)
  )
})

describe("berth fleet forget", () => {
  it.live("refuses a name of both a fleet and a member, and names both spellings", () =>
    Effect.gen(function* () {
      const { fleet, other } = yield* twoFleets
      fleet.write(webs(2))
      writeFileSync(other, otherText.replace("fleet: other", "fleet: web-2"))
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.strictEqual((yield* fleet.run(["apply", "-f", other, "--yes"])).code, 0)
      const before = fleet.ledgerText()
      const here = { env: yield* fleet.env, cwd: fleet.folder }
      const forget = (...args: ReadonlyArray<string>) => run(["fleet", "forget", ...args], here)
      for (const text of [before, `<<<<<<< HEAD\n${before}`]) {
        writeFileSync(fleet.ledger, text)
        const refused = yield* forget("web-2")
        assert.strictEqual(refused.code, 2, refused.stderr)
        assert.include(refused.stderr, "web-2 is a fleet, and it")
        assert.include(refused.stderr, "berth fleet forget web-2 -f fleet.yaml.")
        assert.include(refused.stderr, "berth fleet forget web-2 --fleet")
        assert.strictEqual(fleet.ledgerText(), text)
      }
      writeFileSync(fleet.ledger, before)
      assert.strictEqual((yield* forget("web-2", "--fleet", "-f", "fleet.yaml")).code, 2)
      assert.strictEqual((yield* forget("web-1", "--fleet")).code, 2)
      assert.strictEqual((yield* forget("web-2", "--fleet")).code, 0)
      assert.strictEqual(fleet.ledgerText(), before)
      assert.strictEqual((yield* forget("web-2")).code, 0)
      assert.include(fleet.ledgerText(), '{"member":"web-2","generation":1,"state":"none"}')
    }).pipe(Effect.scoped)
  )
})
