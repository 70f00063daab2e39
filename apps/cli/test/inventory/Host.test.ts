/** Every node gets a unique name that ssh and Ansible understand as a host, and not as anything else. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { hostNames } from "../../src/inventory/Host.ts"

const named = (...names: ReadonlyArray<string>) => names.map((name, at) => ({ id: at + 1, name }))
const namesOf = (...names: ReadonlyArray<string>) => Array.from(hostNames(named(...names)).hosts.keys())

describe("the name of a host", () => {
  it("is that of its node, where it is plain", () => {
    expect(namesOf("web-1", "db.example.com", "A_b")).toEqual(["web-1", "db.example.com", "A_b"])
  })

  it("is numbered where several nodes have it, past names that there are", () => {
    expect(namesOf("web", "web", "web-2", "web", "web-3")).toEqual(["web", "web-4", "web-2", "web-5", "web-3"])
  })

  it("belongs to the oldest node, whatever the order of the list", () => {
    const nodes = named("web", "web").toReversed()
    expect(Array.from(hostNames(nodes).hosts, ([name, { id }]) => [name, id])).toEqual([
      ["web", 1],
      ["web-2", 2]
    ])
  })

  it("has _ for what is not plain, and takes no other node's", () => {
    expect(namesOf("a b", "a_b", "a;b", "x\ny", "-oProxyCommand=x")).toEqual([
      "a_b-2",
      "a_b",
      "a_b-3",
      "x_y",
      "_oProxyCommand_x"
    ])
  })

  it.each(["localhost", "LocalHost", "all", "ungrouped", "_meta", "*", "", "…", "x".repeat(300)])(
    "is made of its id where %j means something else, or nothing",
    (name) => expect(namesOf(name)).toEqual(["node-1"])
  )

  it("is plain and its own, for any names", () => {
    const part = fc.constantFrom("web", "-2", " ", "node-", "1", "localhost", "*", "{{", ".", "é", "\n")
    const name = fc.oneof(
      fc.string(),
      fc.array(part, { maxLength: 4 }).map((parts) => parts.join(""))
    )
    fc.assert(
      fc.property(fc.array(name, { maxLength: 30 }), (names) => {
        const hosts = namesOf(...names)
        expect(hosts).toHaveLength(names.length)
        for (const host of hosts) expect(host).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/)
        expect(hosts.map((host) => host.toLowerCase())).not.toContain("localhost")
      })
    )
  })

  it("is found for a thousand nodes of one name", () => {
    const hosts = namesOf(...Array.from({ length: 1000 }, () => "web"))
    expect(new Set(hosts).size).toBe(1000)
    expect(hosts.at(-1)).toBe("web-1000")
  })
})
