/**
 * A node as other programs know it: where it is reached, and by which name. `berth run` and a ready command hand
 * on the same addresses. Names are plain words that mean nothing else to ssh or Ansible, each of one node. Pure.
 */
import type { BlockList } from "node:net"
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

/** Addresses of the machine that connects, or of its link: whoever connects to one reaches no node. */
const ownAddresses = (): BlockList => {
  // Not by `import`: commands that reach no host would wait for it.
  const own = new (process.getBuiltinModule("node:net").BlockList)()
  own.addSubnet("0.0.0.0", 8, "ipv4")
  own.addSubnet("127.0.0.0", 8, "ipv4")
  own.addSubnet("169.254.0.0", 16, "ipv4")
  own.addSubnet("::", 127, "ipv6")
  own.addSubnet("fe80::", 10, "ipv6")
  return own
}
let own: BlockList | undefined

/** An address of a node and nothing else: what a service states becomes an argument of another program. */
const addressIn = (text: string | null): string | null => {
  const address = text?.trim() ?? ""
  const family = process.getBuiltinModule("node:net").isIP(address)
  if (family === 0) return null
  own ??= ownAddresses()
  return own.check(address.replace(/%.*$/, ""), family === 4 ? "ipv4" : "ipv6") ? null : address
}

/**
 * Whether other machines may reach an address: not one from the range that carriers share (RFC 6598), as all public addresses of
 * `berth-server` are.
 */
export const isReached = (address: string | null): boolean => {
  if (address === null) return false
  const shared = new (process.getBuiltinModule("node:net").BlockList)()
  shared.addSubnet("100.64.0.0", 10, "ipv4")
  return !shared.check(address, address.includes(":") ? "ipv6" : "ipv4")
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

/** Where it is reached: at its public address, or else at its private one. */
export const addressOf = ({ privateIp, publicIp }: Host): string | null => publicIp ?? privateIp

/** The nodes that can be reached, and how many cannot yet: a node on its way out is neither. */
export const reachable = (hosts: ReadonlyArray<Host>) => {
  const staying = hosts.filter(({ status }) => status !== "terminate")
  const reached = staying.filter((host) => addressOf(host) !== null)
  return { reached, withoutAddress: staying.length - reached.length }
}

/** What names a node. */
interface Named {
  readonly id: number
  readonly name: string
}

/** Longer names are of no use as hosts. */
const maxLength = 253

/** What other programs take for something else: this machine, or every host. */
const reserved: ReadonlySet<string> = new Set(["localhost", "all", "ungrouped", "_meta", "none"])

/** A plain word, which no shell, pattern, template or option reads as anything else. */
const plain = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$/

const isPlain = (name: string): boolean =>
  name.length <= maxLength && plain.test(name) && !reserved.has(name.toLowerCase())

/** The name with `_` in place of what is not plain; one of which nothing is left, or that means something else, goes by its id. */
const made = ({ id, name }: Named): string => {
  const word = name.replaceAll(/[^A-Za-z0-9_.-]+/g, "_").replaceAll(/^[.-]+|[.]+$/g, "_")
  return isPlain(word) && /[A-Za-z0-9]/.test(word) ? word : `node-${id}`
}

/** The hosts, and how many nodes go by another name than their own. */
interface HostNames<A> {
  readonly hosts: ReadonlyMap<string, A>
  /** Nodes whose names had to be changed: duplicates are not among them. */
  readonly changed: number
}

/**
 * A name for each node. A plain name belongs to the oldest node that has it; further nodes of that name are numbered from 2, past names
 * that other nodes have. A name that is not plain never takes that of another node.
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
