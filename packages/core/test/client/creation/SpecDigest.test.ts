import { assert, describe, it } from "@effect/vitest"
import { specDigest } from "../../../src/client/creation/SpecDigest.ts"
import type { NodeSpec } from "../../../src/domain/NodeSpec.ts"

const spec: NodeSpec = {
  name: "web",
  plan: "P",
  image: "I",
  tags: ["a", "b"],
  sshKeys: ["k", "l"],
  startScripts: ["x", "y"]
}

describe("the digest of a spec", () => {
  it("is the same however the same node is asked for", () => {
    const { name, ...rest } = spec
    for (const same of [
      { ...rest, name },
      { ...spec, tags: ["b", "a", "a"] },
      { ...spec, sshKeys: ["l", "k"] },
      { ...spec, region: "ncr" },
      { ...spec, label: undefined }
    ]) {
      assert.strictEqual(specDigest(same as NodeSpec), specDigest(spec))
    }
    const bare: NodeSpec = { name: "web", plan: "P", image: 4711 }
    assert.strictEqual(
      specDigest({ ...bare, image: "4711", tags: [], sshKeys: [], startScripts: [] }),
      specDigest(bare)
    )
  })

  it("differs with every field, and with the order of the scripts", () => {
    const others: ReadonlyArray<Partial<NodeSpec>> = [
      { name: "db" },
      { plan: "Q" },
      { image: "J" },
      { tags: ["a"] },
      { sshKeys: ["k"] },
      { startScripts: ["y", "x"] },
      { backups: true },
      { backups: false },
      { savedImageTemplateId: 1 },
      { committedSkuId: 1 },
      { label: "l" },
      { securityAgent: true },
      { disablePassword: true },
      { reservedIp: "1.2.3.4" },
      { ipv6: true },
      { vpcId: "v" },
      { publicIp: false },
      { containerId: 1 },
      { securityGroupId: 1 }
    ]
    const digests = [spec, ...others.map((other) => ({ ...spec, ...other }))].map(specDigest)
    assert.strictEqual(new Set(digests).size, others.length + 1)
  })

  it("shows nothing of what it was made from", () => {
    assert.match(specDigest({ ...spec, startScripts: ["export PASSWORD=hunter2"] }), /^[0-9a-f]{64}$/)
  })
})
