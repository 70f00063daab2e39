import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { nodeFromWire } from "../../src/api/NodeCodec.ts"
import { CreatedNode, ListedNode, NodeAttributes } from "../../src/api/NodeRecords.ts"
import { RecordFault } from "../../src/api/fields/RecordReader.ts"
import type { Node } from "../../src/domain/Node.ts"
import vectors from "@berthkit/testing/vectors/nodes.json" with { type: "json" }

const readNode = (wire: unknown): Node => {
  const node = nodeFromWire(wire)
  if (node instanceof RecordFault) return assert.fail(`${node.path}: expected ${node.expected}`)
  return node
}

/** The value that a case of the vectors names, under the vectors' names. */
const observed = (node: Node, key: string): unknown => {
  if (key === "createdAtMillis") return DateTime.toEpochMillis(node.createdAt!)
  if (key === "extra") return Object.keys(node.extra)
  return node[key as keyof Node]
}

describe("node records", () => {
  for (const { expect, name, record } of vectors) {
    it(`${name}: every value is as expected`, () => {
      const node = readNode(record)
      for (const [key, value] of Object.entries(expect)) assert.deepStrictEqual(observed(node, key), value, key)
    })
  }

  it("a field of an unforeseen shape costs that field and is kept raw", () => {
    const record = { id: 1, name: "web", created_at: "2026-03-01T10:20:30Z", status: 7, memory: [], vcpus: "many" }
    const node = readNode(record)
    assert.deepStrictEqual(node.status, { unknown: "7" })
    assert.isNull(node.memoryMib)
    assert.isNull(node.vcpus)
    assert.deepStrictEqual(node.extra, { memory: [], vcpus: "many" })
  })

  it("any unreadable field is kept under its own name", () => {
    const identity = { id: 1, name: "web", created_at: "2026-03-01T10:20:30Z", status: "running" }
    const fields = ["vcpus", "memory", "disk", "public_ip_address", "private_ip_address", "plan", "image", "region"]
      .concat(["backup", "backups", "backup_ids", "is_locked", "locked", "tags"])
      .map((name, i) => [name, { unforeseen: i }] as const)
    for (const [name, wire] of fields) {
      assert.deepStrictEqual(readNode({ ...identity, [name]: wire }).extra, { [name]: wire })
    }
    assert.deepStrictEqual(readNode({ ...identity, ...Object.fromEntries(fields) }).extra, Object.fromEntries(fields))
  })

  it("a documented field is never kept as an unknown one", () => {
    for (const { fields } of [CreatedNode, ListedNode, NodeAttributes]) {
      const names = Object.keys(fields)
      const record = { ...Object.fromEntries(names.map((name) => [name, null])), id: 1, name: "web" }
      const { extra } = readNode({ ...record, created_at: "2026-03-01T10:20:30Z", status: "running" })
      assert.deepStrictEqual(extra, {})
    }
  })

  it("an unknown field is kept at any position in the record", () => {
    const fields = Object.entries(vectors[0]!.record)
    for (let at = 0; at <= fields.length; at++) {
      for (const order of [fields, fields.toReversed()]) {
        const node = readNode(Object.fromEntries(order.toSpliced(at, 0, ["gpu", "H200"])))
        assert.deepStrictEqual(node.extra, { gpu: "H200" })
      }
    }
  })

  it("a lock is read under either of its names", () => {
    const record = { id: 1, name: "web", created_at: "2026-03-01T10:20:30Z", status: "running" }
    assert.isTrue(readNode({ ...record, is_locked: null, locked: true }).locked)
    assert.isFalse(readNode({ ...record, is_locked: false, locked: true }).locked)
  })

  it("a commitment is read where a record states it, and is not known otherwise", () => {
    const read = (fields: object) => readNode({ id: 1, name: "web", ...fields })
    const info = { committed_days: 90 }
    assert.isNull(read({}).committed)
    assert.isFalse(read({ committed_info: null }).committed)
    assert.deepInclude(read({ committed_info: info }), { committed: true, extra: { committed_info: info } })
    for (const [committed, ...forms] of [
      [false, {}, [], "", " ", "None", "null", false, 0, "False", [{}], [null], { committed_sku_id: null, name: "" }],
      [true, [info], [{}, info], true, "true", { ...info, is_committed: true }],
      [null, "90 Days", 7, [7]]
    ] as const)
      for (const form of forms)
        assert.strictEqual(read({ committed_info: form }).committed, committed, JSON.stringify(form))
    assert.isFalse(read({ committed_info: { is_committed: false, committed_days: 90 } }).committed)
  })

  it("a commitment is that of the record's own flag, too, and not known if both contradict each other", () => {
    const read = (fields: object) => readNode({ id: 1, name: "web", ...fields }).committed
    assert.isTrue(read({ is_committed: true }))
    assert.isFalse(read({ is_committed: false }))
    assert.isNull(read({ is_committed: "perhaps" }))
    assert.isFalse(read({ is_committed: false, committed_info: {} }))
    assert.isTrue(read({ is_committed: true, committed_info: "90 Days" }))
    assert.isNull(read({ is_committed: false, committed_info: { committed_days: 90 } }))
    assert.isNull(read({ is_committed: true, committed_info: null }))
  })

  it("a status that is not stated is unknown, and not the text null", () => {
    const record = { id: 1, name: "web", created_at: "2026-03-01T10:20:30Z" }
    for (const stated of [{}, { status: null }]) {
      assert.deepStrictEqual(readNode({ ...record, ...stated }).status, { unknown: "" })
    }
    assert.deepStrictEqual(readNode({ ...record, status: 5 }).status, { unknown: "5" })
  })

  it("an address object's further fields are kept", () => {
    const record = {
      id: 1,
      name: "web",
      created_at: "2026-03-01T10:20:30Z",
      status: "running",
      public_ip_address: { ip_address: "164.52.1.9", netmask: "255.255.255.0" }
    }
    const node = readNode(record)
    assert.strictEqual(node.publicIp, "164.52.1.9")
    assert.deepStrictEqual(node.extra, { public_ip_address: { netmask: "255.255.255.0" } })
  })

  it("a size beyond all numbers is unreadable, and kept raw", () => {
    const memory = `${"9".repeat(400)} GB`
    const record = { id: 1, name: "web", created_at: "2026-03-01T10:20:30Z", memory, disk: "9".repeat(400), vcpus: "1" }
    const node = readNode(record)
    assert.isNull(node.memoryMib)
    assert.isNull(node.diskGb)
    assert.deepStrictEqual(Object.keys(node.extra), ["memory", "disk"])
  })

  it("a record without an identity is a fault that names the missing field", () => {
    assert.deepStrictEqual(nodeFromWire({ name: "web" }), new RecordFault("id", "a positive integer", undefined))
  })

  it("field names that are special to JavaScript are fields like any other", () => {
    const record: unknown = JSON.parse(
      `{"id":1,"name":"web","created_at":"2026-03-01T10:20:30Z","status":"constructor","toString":7,"__proto__":{"polluted":1}}`
    )
    const node = readNode(record)
    assert.deepStrictEqual(node.status, { unknown: "constructor" })
    assert.deepStrictEqual(Object.entries(node.extra), [
      ["toString", 7],
      ["__proto__", { polluted: 1 }]
    ])
    assert.isUndefined(({} as Record<string, unknown>)["polluted"])
  })
})

describe("a record without a date", () => {
  it.each([undefined, null, "", "yesterday", 7])("is a node whose creation is not known: %s", (createdAt) => {
    const node = readNode({
      id: 1,
      name: "web",
      status: "Running",
      ...(createdAt !== undefined && { created_at: createdAt })
    })
    assert.isNull(node.createdAt)
    assert.deepStrictEqual(node.status, "running")
  })
})
