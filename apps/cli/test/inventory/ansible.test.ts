/** The nodes in Ansible's format. */
import { describe, expect, it } from "vitest"
import { ansibleList, inventoryOf, type Membership } from "../../src/inventory/ansible.ts"
import type { Host } from "../../src/inventory/Host.ts"
import { sshConfigOf } from "../../src/inventory/sshConfig.ts"

const host = (id: number, name: string, more: Partial<Host> = {}): Host => ({
  id,
  name,
  status: "running",
  createdAt: "2026-01-01T00:00:00.000Z",
  publicIp: `192.0.2.${id}`,
  privateIp: `10.0.0.${id}`,
  plan: "C-2VCPU-8RAM-50DISK",
  image: null,
  region: "ncr",
  tags: [],
  ...more
})

const groupsOf = (nodes: ReadonlyArray<Host>, memberships: ReadonlyMap<number, Membership> = new Map()) =>
  Object.fromEntries(inventoryOf(nodes, memberships).groups)

describe("the groups", () => {
  it("are those of plans and regions, in letters that Ansible takes", () => {
    expect(groupsOf([host(1, "web"), host(2, "db", { plan: "M-8" })])).toEqual({
      plan_C_2VCPU_8RAM_50DISK: ["web"],
      plan_M_8: ["db"],
      region_ncr: ["web", "db"]
    })
  })

  it("are those of fleets, of what their members are, and of each member", () => {
    const members = ["web-1", "web-2", "db"].map((member, index) => [index + 1, { fleet: "my shop", member }] as const)
    const nodes = [1, 2, 3].map((id) => host(id, `n${id}`, { plan: null, region: null }))
    expect(groupsOf(nodes, new Map(members))).toEqual({
      fleet_my_shop: ["n1", "n2", "n3"],
      fleet_my_shop_web: ["n1", "n2"],
      fleet_my_shop_db: ["n3"],
      member_my_shop_web_1: ["n1"],
      member_my_shop_web_2: ["n2"],
      member_my_shop_db: ["n3"]
    })
  })

  it("of two plans whose names come to the same word are two, and none is named as a host", () => {
    const nodes = [host(1, "region_ncr", { plan: "a-b" }), host(2, "db", { plan: "a_b" })]
    expect(groupsOf(nodes)).toEqual({
      plan_a_b: ["region_ncr"],
      plan_a_b_2: ["db"],
      region_ncr_2: ["region_ncr", "db"]
    })
  })
})

describe("the hosts", () => {
  it("are reached at the public address, or else at the private one", () => {
    const { hosts } = inventoryOf([host(1, "web"), host(2, "db", { publicIp: null })], new Map())
    expect(Array.from(hosts, ([name, variables]) => [name, variables["ansible_host"]])).toEqual([
      ["web", "192.0.2.1"],
      ["db", "10.0.0.2"]
    ])
  })

  it("do not include nodes without an address, or on their way out", () => {
    const nodes = [host(1, "new", { publicIp: null, privateIp: null }), host(2, "old", { status: "terminate" })]
    const found = inventoryOf(nodes, new Map())
    expect([found.hosts.size, found.withoutAddress]).toEqual([0, 1])
    expect(ansibleList(found)).toEqual({ _meta: { hostvars: {} }, all: { hosts: [] } })
  })

  it("have no template among their variables that Ansible would run", () => {
    const text = "{{ lookup('pipe', 'id') }}"
    const [variables] = inventoryOf([host(1, text, { tags: [text] })], new Map()).hosts.values()
    const marked = { __ansible_unsafe: text }
    expect([variables!["berth_name"], variables!["berth_tags"]]).toEqual([marked, [marked]])
  })
})

describe("the configuration of ssh", () => {
  it("has a block for each host, under a prefix", () => {
    expect(sshConfigOf([host(1, "web"), host(2, "web")], { user: "ops", prefix: "b-" }).text).toBe(
      "# Written by berth ssh-config. Changes are lost when it is written again.\n" +
        "\nHost b-web\n  HostName 192.0.2.1\n  User ops\n\nHost b-web-2\n  HostName 192.0.2.2\n  User ops\n"
    )
  })
})
