import { type Node, NodeId } from "@berthkit/core/domain/Node"
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { card } from "../../src/output/table.ts"
import { nodeRecord } from "../../src/records/node.ts"

const node: Node = {
  id: NodeId.make(7),
  name: "web",
  status: "running",
  createdAt: DateTime.makeUnsafe(0),
  vcpus: 4,
  memoryMib: 16_384,
  diskGb: 100,
  publicIp: "203.0.113.7",
  privateIp: null,
  plan: "C-4VCPU-16RAM-100DISK",
  image: "Ubuntu-24.04",
  region: "ncr",
  backups: true,
  locked: null,
  committed: null,
  tags: ["a", "b"],
  extra: { rack: 3 }
}
const lines = (of: Node) =>
  card(nodeRecord.fields([of]), of, { colour: false, nowMillis: 5 * 86_400_000 })
    .split("\n")
    .slice(0, -1)

describe("the card of a node", () => {
  it("has its columns, then a line for every other field of the record", () => {
    assert.deepStrictEqual(lines(node), [
      "ID             7",
      "NAME           web",
      "STATUS         running",
      "VCPU           4",
      "MEMORY         16 GiB",
      "DISK           100 GB",
      "PUBLIC IP      203.0.113.7",
      "PRIVATE IP     -",
      "PLAN           C-4VCPU-16RAM-100DISK",
      "CREATED (UTC)  1970-01-01 00:00",
      "AGE            5d",
      "IMAGE          Ubuntu-24.04",
      "REGION         ncr",
      "BACKUPS        yes",
      "LOCKED         -",
      "COMMITTED      -",
      "TAGS           a, b"
    ])
  })

  it("has a dash for a field that is not there", () => {
    assert.deepStrictEqual(lines({ ...node, image: "", region: null, backups: false, tags: [] }).slice(11), [
      "IMAGE          -",
      "REGION         -",
      "BACKUPS        no",
      "LOCKED         -",
      "COMMITTED      -",
      "TAGS           -"
    ])
  })

  it("shows in a table only the columns", () => {
    const columns = nodeRecord.fields([node]).filter(({ cardOnly }) => !cardOnly)
    assert.deepStrictEqual(
      columns.map(({ key }) => key),
      ["id", "name", "status", "vcpus", "memoryMib", "diskGb", "publicIp", "privateIp", "plan", "createdAt", "age"]
    )
  })
})

describe("a node as JSON", () => {
  it("has every field of the record, in its order", () => {
    assert.deepStrictEqual(Object.entries(nodeRecord.encode(node) as object), [
      ["id", 7],
      ["name", "web"],
      ["status", "running"],
      ["createdAt", "1970-01-01T00:00:00.000Z"],
      ["vcpus", 4],
      ["memoryMib", 16_384],
      ["diskGb", 100],
      ["publicIp", "203.0.113.7"],
      ["privateIp", null],
      ["plan", "C-4VCPU-16RAM-100DISK"],
      ["image", "Ubuntu-24.04"],
      ["region", "ncr"],
      ["backups", true],
      ["locked", null],
      ["committed", null],
      ["tags", ["a", "b"]],
      ["extra", { rack: 3 }]
    ])
  })
})
