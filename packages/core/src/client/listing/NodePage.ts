/**
 * Decodes a page of the list record by record. An unreadable record is set aside. The other records of the page are used, and the
 * unreadable record keeps its position, because positions show where the list ends.
 */
import { Result } from "effect"
import { text, unreadable } from "../../api/fields/Field.ts"
import { RecordFault } from "../../api/fields/RecordReader.ts"
import { nodeFromWire, nodeIdOf } from "../../api/NodeCodec.ts"
import { createdMillisOf, type Node, type NodeId } from "../../domain/Node.ts"
import type { LeftOutRecord } from "./Listed.ts"

/** A record that was left out, with a node's id. */
export interface UnreadableRecord extends LeftOutRecord {
  readonly id: NodeId | null
}

/** A description of the fault for people, without any text of the service. */
export const sentenceOf = ({ expected, field, id }: LeftOutRecord): string =>
  `${id === null ? "one without an id" : `node ${id}`}${field === "" ? "" : `, whose ${field} is not`} ${field === "" ? `is not ${expected}` : expected}`

/** A record of a page. */
export type ListRecord = Node | UnreadableRecord

export const isNode = (record: ListRecord): record is Node => !("_tag" in record)

const nameOf = (wire: unknown): string | null => {
  const name = typeof wire === "object" && wire !== null && "name" in wire ? text(wire.name) : unreadable
  return name === unreadable ? null : name
}

const setAside = (wire: unknown, { expected, path }: RecordFault): UnreadableRecord => {
  const id = nodeIdOf(wire)
  return {
    _tag: "UnreadableRecord",
    id: id === unreadable ? null : id,
    name: nameOf(wire),
    field: path,
    expected
  }
}

/** Whether two records of one id on one page agree in the fields that never change. */
const isSame = (a: Node, b: Node): boolean =>
  a.name === b.name && a.plan === b.plan && a.image === b.image && createdMillisOf(a) === createdMillisOf(b)

/** Decodes the data of a page. */
export const readRecords = (data: unknown): Result.Result<ReadonlyArray<ListRecord>, RecordFault> => {
  if (!Array.isArray(data)) return Result.fail(new RecordFault("data", "a list", data))
  const seen = new Map<NodeId, Node>()
  return Result.succeed(
    data.map((wire: unknown): ListRecord => {
      const node = nodeFromWire(wire)
      if (node instanceof RecordFault) return setAside(wire, node)
      const before = seen.get(node.id)
      if (before === undefined) seen.set(node.id, node)
      else if (!isSame(before, node)) return setAside(wire, new RecordFault("id", "an id of its own", node.id))
      return node
    })
  )
}

/** Decodes the nodes of a page and the records set aside; fails if no record is readable. */
export const readSomeRecords = (data: unknown): Result.Result<ReadonlyArray<ListRecord>, RecordFault> =>
  Result.flatMap(readRecords(data), (records) => {
    const [first] = records
    return first === undefined || isNode(first) || records.some(isNode)
      ? Result.succeed(records)
      : Result.fail(new RecordFault(`data[0]${first.field && `.${first.field}`}`, first.expected, data))
  })

/** A record, and the id by which a listing compares it. */
export interface Place {
  readonly id: number
  readonly record: ListRecord
}

/**
 * The records with their ids for comparison. A record without an id gets an id right after that of its predecessor. If the record were left
 * out, the page would be shorter and look like the end of the list. `before` is the id before the page.
 */
export const placesOf = (records: ReadonlyArray<ListRecord>, before = 0): ReadonlyArray<Place> => {
  let id = before
  return records.map((record) => {
    id = record.id ?? id + 2 ** -20
    return { id, record }
  })
}
