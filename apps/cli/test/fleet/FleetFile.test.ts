import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { readFleet } from "../../src/fleet/FleetFile.ts"

const problemsOf = (text: string) => {
  const read = readFleet(text)
  return Result.isFailure(read) ? read.failure.map(({ column, line, message }) => `${line}:${column} ${message}`) : []
}

const fleetOf = (text: string) => Result.getOrThrow(readFleet(text))

const example = `
fleet: shop
nodes:
  web: { count: 3, plan: C-2VCPU-8RAM-50DISK, image: Ubuntu-24.04, tags: [web], sshKeys: [key-1] }
  db:  { plan: C-8VCPU-32RAM-200DISK, image: 12, protect: true, commitment: auto_renew 30d }
`

describe("a fleet file", () => {
  it("has groups of nodes, named after the fleet and the group", () => {
    const { fleet, groups } = fleetOf(example)
    assert.strictEqual(fleet, "shop")
    const [web, db] = groups
    assert.deepStrictEqual([1, 2, 3].map(web!.nameOf), ["shop-web-1", "shop-web-2", "shop-web-3"])
    assert.deepStrictEqual(web!.order, {
      plan: "C-2VCPU-8RAM-50DISK",
      image: "Ubuntu-24.04",
      tags: ["web"],
      sshKeys: ["key-1"]
    })
    assert.deepStrictEqual(
      [db!.count, db!.nameOf(1), db!.protect, db!.commitment, db!.order.image],
      [1, "shop-db-1", true, { setting: "auto_renew", days: 30 }, 12]
    )
  })

  it("does not let the service delete a protected node at the end of its commitment", () => {
    const with_ = (more: string) => `fleet: shop\nnodes:\n  a: { plan: P, image: I, ${more} }`
    assert.deepStrictEqual(problemsOf(with_("protect: true, commitment: auto_terminate")), [
      "3:54 nodes.a.commitment cannot be auto_terminate together with protect: true, because the service then deletes the node."
    ])
    assert.deepStrictEqual(problemsOf(with_("commitment: auto_terminate")), [])
  })

  it("has days only for a renewal, because no other setting buys a period", () => {
    for (const setting of ["auto_terminate 30d", "hourly_billing 30d", "auto_renew"]) {
      assert.deepStrictEqual(problemsOf(`fleet: shop\nnodes:\n  a: { plan: P, image: I, commitment: ${setting} }`), [
        "3:39 nodes.a.commitment has to be auto_renew with the days of a committed option, such as auto_renew 30d, or auto_terminate or hourly_billing without days."
      ])
    }
  })

  it("gives nodes the name that it says: alone, with a number, or where {n} is", () => {
    const nameOf = (group: string, n: number) =>
      fleetOf(`fleet: shop\nnodes:\n  a: { ${group}, plan: P, image: I }`).groups[0]!.nameOf(n)
    assert.strictEqual(nameOf("name: master", 1), "master")
    assert.strictEqual(nameOf("name: master, count: 2", 2), "master-2")
    assert.strictEqual(nameOf('name: "n{n}.shop", count: 2', 2), "n2.shop")
  })

  it("is refused where two groups have one name, where it is too long, and where it is nested too deeply", () => {
    const group = (key: string) => `  ${key}: { name: "x${key.length}", plan: P, image: I }\n`
    assert.deepStrictEqual(problemsOf(`fleet: shop\nnodes:\n${group("1")}${group("'1'")}`), [
      "4:3 nodes.1 is in the file twice."
    ])
    assert.deepStrictEqual(problemsOf(`fleet: shop\n${"#\n".repeat(500_000)}`), ["1:1 The file is too long."])
    assert.deepStrictEqual(problemsOf(`fleet: ${"[".repeat(20_000)}`), ["1:1 The file is nested too deeply."])
    assert.lengthOf(problemsOf(`nodes: ${"]".repeat(100)}`), 5)
  })

  it("says all that is wrong with it at once, with line and column", () => {
    assert.deepStrictEqual(
      problemsOf(`fleet: a b
nodes:
  web: { count: -1, plan: 5, imgae: x, image: y }
  "d b": { plan: P, image: I }
  db:
    plan: P
    commitment: auto_renew
`),
      [
        "1:8 fleet has to be 1 to 40 letters, digits, dashes or underscores, the first a letter or digit.",
        "3:17 nodes.web.count has to be a whole number from 0 to 1000.",
        "3:27 nodes.web.plan has to be a text: write it in quotes.",
        "3:30 nodes.web.imgae is not a setting; did you mean image?",
        "4:3 nodes.d b has to have a name of 1 to 40 letters, digits, dashes or underscores, the first a letter or digit.",
        "6:5 nodes.db.image is missing.",
        "7:17 nodes.db.commitment has to be auto_renew with the days of a committed option, such as auto_renew 30d, or auto_terminate or hourly_billing without days."
      ]
    )
  })

  it("is refused where two nodes would have one name", () => {
    assert.deepStrictEqual(
      problemsOf("fleet: f\nnodes:\n  a: { plan: P, image: I, name: x }\n  b: { plan: P, image: I, name: x }"),
      ["4:6 nodes.b.name gives a node the name x, which one of a has."]
    )
  })

  it("is refused where it is no YAML, or something else", () => {
    for (const text of ["", "[]", "fleet: [", "fleet: f", "fleet: f\nnodes: []", "a: &a\n  b: *a"]) {
      assert.isNotEmpty(problemsOf(text), text)
    }
  })
})
