/**
 * A fleet on a service that spells names in its own way or cuts them. If the ledger is lost, no second node is made as long as an existing
 * node may be a member's.
 */
import { rmSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { alteredService, image, plan } from "./AlteredService.ts"
import { hurriedFolderOf, rowsOf } from "./fleet.ts"

const long = "a-very-long-name-of-a-node-that-goes-on-and-on-and-on"
const spellings = {
  "in upper case": ["shop-web", (name: string) => name.toUpperCase()],
  "with dashes, in lower case": ["Shop_Web", (name: string) => name.replaceAll("_", "-").toLowerCase()],
  "cut to 50 characters": [long, (name: string) => name.slice(0, 50)]
} as const

for (const [how, [name, spell]] of Object.entries(spellings)) {
  const text = `fleet: shop\nnodes:\n  web: { count: 2, plan: ${plan}, image: ${image}, name: "${name}-{n}" }\n`
  const made = Effect.gen(function* () {
    const { account, service } = yield* alteredService
    service.spell = spell
    const fleet = yield* hurriedFolderOf(account)
    fleet.write(text)
    const first = yield* fleet.apply("--yes")
    assert.strictEqual(first.code, 0, first.stderr)
    assert.lengthOf(service.nodes, 2)
    assert.strictEqual((yield* fleet.diff()).code, 0)
    return { account, service, fleet }
  })

  describe(`a service that shows names ${how}`, () => {
    it.live("gets no second create for a fleet that lost its ledger, until its nodes are adopted", () =>
      Effect.gen(function* () {
        const { fleet, service } = yield* made
        rmSync(fleet.ledger)
        // After the cut, the names are equal.
        const idOf = (n: number) => {
          const ids = service.nodes.flatMap((node) => (node.name === spell(`${name}-${n}`) ? [node.id] : []))
          return ids[ids.length === 1 ? 0 : n - 1]
        }
        for (let run = 0; run < 2; run++) {
          const refused = yield* fleet.apply("--yes")
          assert.strictEqual(refused.code, 5, refused.stderr)
          assert.include(refused.stderr, `${idOf(1)} --as web-1`)
        }
        for (const n of [1, 2]) {
          const adopt = ["fleet", "adopt", String(idOf(n)), "--as", `web-${n}`, "-f", fleet.file]
          assert.strictEqual((yield* fleet.run(adopt)).code, 0)
        }
        assert.strictEqual((yield* fleet.diff()).code, 0)
        assert.lengthOf(service.nodes, 2)
      }).pipe(Effect.scoped)
    )

    it.live("gets no second create from a machine without the ledger", () =>
      Effect.gen(function* () {
        const { account, service } = yield* made
        const other = yield* hurriedFolderOf(account)
        other.write(text)
        const refused = yield* other.apply("--yes")
        assert.strictEqual(refused.code, 5, refused.stderr)
        assert.lengthOf(service.nodes, 2)
      }).pipe(Effect.scoped)
    )

    it.live("has a second node of a member: diff, apply and fleet list say so", () =>
      Effect.gen(function* () {
        const { fleet, service } = yield* made
        service.nodes.push({ ...service.nodes[0]!, id: 5000, name: spell(`${name}-1`) })
        const diff = yield* fleet.diff("-o", "json")
        assert.strictEqual(diff.code, 11, diff.stderr)
        const twins = rowsOf(diff).filter(({ action }) => action === "doubled")
        assert.deepInclude(
          twins.map(({ id, member }) => [member, id]),
          ["web-1", 5000]
        )
        assert.deepStrictEqual(
          [(yield* fleet.apply("--yes")).code, (yield* fleet.run(["fleet", "list"])).code],
          [5, 11]
        )
        assert.lengthOf(service.nodes, 3)
      }).pipe(Effect.scoped)
    )
  })
}

const fleetOf = (template: string) =>
  `fleet: shop\nnodes:\n  web: { plan: ${plan}, image: ${image}, name: "${template}" }\n`

describe("a service that shows names as they are", () => {
  it.live("has a second node of a member also under another spelling", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(fleetOf("shop-web-{n}"))
      yield* fleet.apply("--yes")
      service.nodes.push({ ...service.nodes[0]!, id: 5000, name: "Shop_Web-1" })
      assert.strictEqual((yield* fleet.diff()).code, 11)
    }).pipe(Effect.scoped)
  )

  it.live("does not cut: a node that has the beginning of a member's name is no second node of it", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(fleetOf(`${long}-{n}`))
      yield* fleet.apply("--yes")
      service.nodes.push({ ...service.nodes[0]!, id: 5000, name: long })
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped)
  )
})

describe("a service that shows plans and images in another spelling", () => {
  it.live("has the properties that the file and --if-absent ask for", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      service.spellKinds = (text) => text.toLowerCase()
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(fleetOf("shop-web-{n}"))
      const first = yield* fleet.apply("--yes")
      assert.strictEqual(first.code, 0, first.stderr)
      const diff = yield* fleet.diff()
      assert.deepStrictEqual([diff.code, service.nodes[0]!.plan], [0, plan.toLowerCase()], diff.stdout)
      const again = yield* fleet.apply("--yes", "--replace", "all", "--max-deletes", "1")
      assert.deepStrictEqual([again.code, service.nodes.length], [0, 1], again.stderr)
      const order = ["--plan", plan, "--image", image, "--if-absent"]
      const absent = yield* fleet.run(["node", "create", "shop-web-1", ...order, "-o", "id"])
      assert.deepStrictEqual([absent.code, absent.stdout], [0, `${service.nodes[0]!.id}\n`], absent.stderr)
    }).pipe(Effect.scoped)
  )
})

describe("an open create of another machine", () => {
  it.live("is not forgotten while a node may be its own, however the service spells it", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      service.spell = (name) => name.toUpperCase()
      const fleet = yield* hurriedFolderOf(account)
      const other = yield* hurriedFolderOf(account)
      other.write(`fleet: shop\nnodes:\n  web: { plan: ${plan}, image: ${image} }\n`)
      yield* other.apply("--yes")
      const pending = { name: "shop-web-1", plan, image, by: "another", since: "2026-01-01T00:00:00.000Z" }
      const line = JSON.stringify({ member: "web-1", generation: 1, state: "creating", pending, sent: {} })
      const text = other.ledgerText()
      const open = text.slice(0, text.indexOf('"members"')) + `"members": [\n    ${line}\n  ]\n}\n`
      writeFileSync(fleet.ledger, open)
      fleet.write(`fleet: shop\nnodes:\n  web: { plan: ${plan}, image: ${image} }\n`)
      const refused = yield* fleet.run(["fleet", "forget", "web-1", "-f", fleet.file])
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, "1000")
    }).pipe(Effect.scoped)
  )
})
