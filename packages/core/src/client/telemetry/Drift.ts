/**
 * Counts drift: fields and statuses of replies that Berth does not know. A change of the service thus shows as a
 * number, not as a crash. The records keep such values (`extra`, `{ unknown }`).
 */
import type { Image } from "../../domain/Image.ts"
import type { Node } from "../../domain/Node.ts"
import { isKnown } from "../../domain/NodeStatus.ts"

/** An unknown value, and the number of records in one reply that have it. */
export interface Drift {
  /** `record` is an unreadable record, which was left out. */
  readonly kind: "field" | "status" | "record"
  /** The field's wire name, or the service's spelling of the status; for a record, its wrong field or `record`. */
  readonly name: string
  readonly count: number
}

/** Whether the field holds the other fields of an address object. They are not documented, so they are not drift. */
const isFurtherNetwork = (node: Node, name: string) =>
  (name === "public_ip_address" && node.publicIp !== null) || (name === "private_ip_address" && node.privateIp !== null)

/** Counts by kind and name. */
type Tally = Map<string, { readonly kind: Drift["kind"]; readonly name: string; count: number }>

const count = (tally: Tally, kind: Drift["kind"], name: string) => {
  const key = `${kind} ${name}`
  const counted = tally.get(key)
  if (counted === undefined) tally.set(key, { kind, name, count: 1 })
  else counted.count++
}

/** The drift in nodes and in the records set aside among them. */
export const nodeDrift = (
  records: ReadonlyArray<Node | { readonly _tag: "UnreadableRecord"; readonly field: string }>
): ReadonlyArray<Drift> => {
  const tally: Tally = new Map()
  for (const node of records) {
    if ("_tag" in node) {
      count(tally, "record", node.field || "record")
      continue
    }
    if (!isKnown(node.status)) count(tally, "status", node.status.unknown)
    for (const name in node.extra) if (!isFurtherNetwork(node, name)) count(tally, "field", name)
  }
  return Array.from(tally.values())
}

/** The drift in images and in the records set aside among them. */
export const imageDrift = ({
  records,
  setAside
}: {
  readonly records: ReadonlyArray<Pick<Image, "extra">>
  readonly setAside: ReadonlyArray<{ readonly fault: { readonly path: string } }>
}): ReadonlyArray<Drift> => {
  const tally: Tally = new Map()
  for (const {
    fault: { path }
  } of setAside)
    count(tally, "record", path || "record")
  for (const { extra } of records) for (const name in extra) count(tally, "field", name)
  return Array.from(tally.values())
}
