/**
 * A node as a host for other programs: its address and its name. `berth run` and ready commands use the same addresses. Names are plain
 * words without a special meaning for ssh or Ansible, and are unique. Pure.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { label } from "@berthkit/core/domain/NodeStatus"
import { Schema } from "effect"

export const Host = Schema.Struct({
  id: Schema.Int,
  name: Schema.String,
  status: Schema.String,
  createdAt: Schema.NullOr(Schema.String),
  publicIp: Schema.NullOr(Schema.String),
  privateIp: Schema.NullOr(Schema.String),
  plan: Schema.NullOr(Schema.String),
  image: Schema.NullOr(Schema.String),
  region: Schema.NullOr(Schema.String),
  tags: Schema.Array(Schema.String)
})
export interface Host extends Schema.Schema.Type<typeof Host> {}

/** Returns the text if it is an IP address and nothing else, because it becomes an argument of another program. */
const addressIn = (text: string | null): string | null => {
  const address = text?.trim() ?? ""
  return process.getBuiltinModule("node:net").isIP(address) === 0 ? null : address
}

/**
 * Networks in which no machine answers: the network that carriers share (RFC 6598), which `berth-server` uses, and the networks for
 * documentation (RFC 5737).
 */
const unreachedNetworks = [
  ["100.64.0.0", 10],
  ["192.0.2.0", 24],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24]
] as const

/** Whether a machine may answer at an address. */
export const isReached = (address: string | null): boolean => {
  if (address === null) return false
  const unreached = new (process.getBuiltinModule("node:net").BlockList)()
  for (const [network, prefix] of unreachedNetworks) unreached.addSubnet(network, prefix, "ipv4")
  return !unreached.check(address, address.includes(":") ? "ipv6" : "ipv4")
}

export const hostOf = (node: Node): Host => {
  const { createdAt, id, image, name, plan, region, status, tags } = node
  return {
    id,
    name,
    status: label(status),
    createdAt: createdAt && new Date(createdAt.epochMilliseconds).toISOString(),
    publicIp: addressIn(node.publicIp),
    privateIp: addressIn(node.privateIp),
    plan,
    image,
    region,
    tags
  }
}

/** The address to connect to: the public one, or otherwise the private one. */
export const addressOf = ({ privateIp, publicIp }: Host): string | null => publicIp ?? privateIp

/** The reachable nodes, and the number of those without an address. A node being deleted is neither. */
export const reachable = (hosts: ReadonlyArray<Host>) => {
  const staying = hosts.filter(({ status }) => status !== "terminate")
  const reached = staying.filter((host) => addressOf(host) !== null)
  return { reached, withoutAddress: staying.length - reached.length }
}

/** The fields that identify a node. */
interface Named {
  readonly id: number
  readonly name: string
}

/** Maximum length of a host name. */
const maxLength = 253

/** Names with another meaning for other programs: this machine, or every host. */
const reserved: ReadonlySet<string> = new Set(["localhost", "all", "ungrouped", "_meta", "none"])

/** A word that no shell, pattern, template or option parser interprets. */
const plain = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$/

const isPlain = (name: string): boolean =>
  name.length <= maxLength && plain.test(name) && !reserved.has(name.toLowerCase())

/** Replaces special characters by `_`. If nothing is left, or the name is reserved, the id is used. */
const made = ({ id, name }: Named): string => {
  const word = name.replaceAll(/[^A-Za-z0-9_.-]+/g, "_").replaceAll(/^[.-]+|[.]+$/g, "_")
  return isPlain(word) && /[A-Za-z0-9]/.test(word) ? word : `node-${id}`
}

/** The hosts by name, and the number of nodes whose own name cannot be used. */
interface HostNames<A> {
  readonly hosts: ReadonlyMap<string, A>
  /** The number of nodes whose name is not plain. A node whose plain name only got a number does not count. */
  readonly changed: number
}

/**
 * A unique name for each node. A plain name belongs to the oldest node that has it. Later nodes of that name get a
 * number from 2 on, and skip a number that would make the name of another node. No changed name equals the name of
 * another node.
 */
export const hostNames = <A extends Named>(nodes: ReadonlyArray<A>): HostNames<A> => {
  const byAge = nodes.toSorted((a, b) => a.id - b.id)
  const own = new Map<string, number>()
  for (const { id, name } of byAge) if (isPlain(name) && !own.has(name)) own.set(name, id)
  const taken = new Set(own.keys())
  const numbers = new Map<string, number>()
  const next = (name: string): string => {
    if (!taken.has(name)) return name
    for (let number = numbers.get(name) ?? 2; ; number++) {
      if (taken.has(`${name}-${number}`)) continue
      numbers.set(name, number + 1)
      return `${name}-${number}`
    }
  }
  let changed = 0
  const hosts = byAge.map((node): readonly [string, A] => {
    if (own.get(node.name) === node.id) return [node.name, node]
    if (!isPlain(node.name)) changed++
    const name = next(isPlain(node.name) ? node.name : made(node))
    taken.add(name)
    return [name, node]
  })
  return { hosts: new Map(hosts), changed }
}
