/**
 * A node as other programs reach it.
 */
import { isIP } from "node:net"
import type { Node } from "@berthkit/core/domain/Node"
import { label } from "@berthkit/core/domain/NodeStatus"
import { Schema } from "effect"

export const Host = Schema.Struct({
  id: Schema.Int,
  name: Schema.String,
  status: Schema.String,
  createdAt: Schema.String,
  publicIp: Schema.NullOr(Schema.String),
  privateIp: Schema.NullOr(Schema.String),
  plan: Schema.NullOr(Schema.String),
  image: Schema.NullOr(Schema.String),
  region: Schema.NullOr(Schema.String),
  tags: Schema.Array(Schema.String)
})
export interface Host extends Schema.Schema.Type<typeof Host> {}

/** An address and nothing else: what a service states becomes an argument of another program. */
const addressIn = (text: string | null): string | null => {
  const address = text?.trim() ?? ""
  return isIP(address) === 0 ? null : address
}

export const hostOf = (node: Node): Host => {
  const { createdAt, id, image, name, plan, region, status, tags } = node
  return {
    id,
    name,
    status: label(status),
    createdAt: createdAt.pipe((at) => new Date(at.epochMilliseconds).toISOString()),
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
