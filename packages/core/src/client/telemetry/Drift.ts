/**
 * What replies had in them that Berth does not know: fields and statuses. The records keep it (`extra`, `{ unknown }`);
 * here it is counted, so that a service that changes shows as a number and not as a crash.
 */
import type { Image } from "../../domain/Image.ts"
import type { Node } from "../../domain/Node.ts"
import { isKnown } from "../../domain/NodeStatus.ts"

/** Something unknown, and in how many records of one reply it was. */
export interface Drift {
  readonly kind: "field" | "status"
  /** The field's wire name, or the status as the service spells it. */
  readonly name: string
  readonly count: number
}

/** Address objects are documented as no more than objects: what they say beyond the address is kept, and is no news. */
const isFurtherNetwork = (node: Node, name: string) =>
  (name === "public_ip_address" && node.publicIp !== null) || (name === "private_ip_address" && node.privateIp !== null)

/** Drifts by what they are. */
type Tally = Map<string, { readonly kind: Drift["kind"]; readonly name: string; count: number }>

const count = (tally: Tally, kind: Drift["kind"], name: string) => {
  const key = `${kind} ${name}`
  const counted = tally.get(key)
  if (counted === undefined) tally.set(key, { kind, name, count: 1 })
  else counted.count++
}

/** What is unknown in nodes. */
export const nodeDrift = (nodes: ReadonlyArray<Node>): ReadonlyArray<Drift> => {
  const tally: Tally = new Map()
  for (const node of nodes) {
    if (!isKnown(node.status)) count(tally, "status", node.status.unknown)
    for (const name in node.extra) if (!isFurtherNetwork(node, name)) count(tally, "field", name)
  }
  return Array.from(tally.values())
}

/** What is unknown in images. */
export const imageDrift = (images: ReadonlyArray<Image>): ReadonlyArray<Drift> => {
  const tally: Tally = new Map()
  for (const { extra } of images) for (const name in extra) count(tally, "field", name)
  return Array.from(tally.values())
}
