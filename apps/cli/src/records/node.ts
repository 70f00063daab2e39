/**
 * A node: the columns of `berth node list`, and the additional lines of the card of `berth node get`.
 */
import { systemOf } from "@berthkit/core/client/creation/Ownership"
import { Node } from "@berthkit/core/domain/Node"
import { isKnown, type KnownStatus, label, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import { Predicate, Struct } from "effect"
import type { Style } from "../output/cells.ts"
import { age, moment, nothing, plain, textOr } from "../output/format.ts"
import { type Field, number, type RecordDescriptor, recordOf, titleOf } from "../output/RecordDescriptor.ts"
import { diskGb, memoryMib, vcpus } from "./size.ts"

const styles: Record<KnownStatus, Style> = {
  creating: "waiting",
  created: "waiting",
  running: "good",
  "power-off": "faint",
  terminate: "bad"
}

/** The colour of a status; an unknown status has none. */
export const statusStyle = (status: NodeStatus): Style | undefined => (isKnown(status) ? styles[status] : undefined)

const columns: ReadonlyArray<Field<Node>> = [
  number("id", "ID"),
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12 },
  {
    key: "status",
    title: "STATUS",
    value: ({ status }) => label(status),
    style: ({ status }) => statusStyle(status)
  },
  { ...vcpus, dropOrder: 4 },
  { ...memoryMib, dropOrder: 5 },
  { ...diskGb, dropOrder: 3 },
  { key: "publicIp", title: "PUBLIC IP", value: ({ publicIp }) => textOr(publicIp), dropOrder: 6 },
  { key: "privateIp", title: "PRIVATE IP", value: ({ privateIp }) => textOr(privateIp), dropOrder: 1 },
  { key: "plan", title: "PLAN", value: ({ plan }) => textOr(plan), dropOrder: 7 },
  {
    key: "createdAt",
    title: "CREATED (UTC)",
    value: ({ createdAt }) => moment(createdAt),
    alias: "created",
    dropOrder: 2
  },
  {
    key: "age",
    title: "AGE",
    value: ({ createdAt }, now) => (createdAt === null ? nothing : age(now - createdAt.epochMilliseconds)),
    align: "right",
    dropOrder: 8,
    computed: true
  }
]

/**
 * Every other field of the schema is a line of the card, under its own name. `extra` is only in the JSON. If `plain` does not accept the
 * type of a field, the field needs a column of its own and has to be omitted here.
 */
const lines: ReadonlyArray<Field<Node>> = Struct.keys(Struct.omit(Node.fields, ["status", "createdAt", "extra"]))
  .filter((key) => columns.every((column) => column.key !== key))
  .map((key) => ({ key, title: titleOf(key), value: (node) => plain(node[key]), cardOnly: true }))

/** A line of the card with the operating system, for a service that reports it instead of the image. */
const system: Field<Node> = {
  key: "system",
  title: "SYSTEM",
  value: (node) => {
    const { name, version } = systemOf(node) ?? {}
    return [name, version].filter(Predicate.isString).join(" ") || nothing
  },
  cardOnly: true,
  computed: true
}

const fields = [...columns, ...lines]

export const nodeRecord: RecordDescriptor<Node> = {
  ...recordOf(Node, { none: "no nodes" }, fields),
  fields: (nodes) => (nodes.some((node) => systemOf(node) !== undefined) ? [...fields, system] : fields)
}
