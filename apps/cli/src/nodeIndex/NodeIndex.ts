/**
 * The nodes of an account as they were read last, by id: what never changes in a node's life. Only ever a hint: `resolve.ts`
 * confirms what it takes from here. Pure, with its text; `IndexStore.ts` keeps it in a file.
 */
import { createdMillisOf, type Node, type NodeId } from "@berthkit/core/domain/Node"
import { DateTime, Option } from "effect"

/** What the index holds of a node. The reply to a get lacks the plan, the image, the memory and the region. */
export interface IndexedNode extends Pick<Node, "id" | "name" | "plan" | "image" | "memoryMib" | "region"> {
  readonly createdMillis: number | null
}

export interface NodeIndex {
  readonly nodes: ReadonlyMap<NodeId, IndexedNode>
  /** Every node up to this id that existed when the list was read is in `nodes`; 0 where that is not certain of any. */
  readonly completeTo: number
  /** Nodes on the list when its end was read last. */
  readonly length: number
  /** The longest page that the service is known to return. */
  readonly maxPage: number
}

export const empty: NodeIndex = { nodes: new Map(), completeTo: 0, length: 0, maxPage: 0 }

export const indexed = ({ createdAt, id, image, memoryMib, name, plan, region }: Node): IndexedNode => ({
  id,
  name,
  plan,
  image,
  memoryMib,
  region,
  createdMillis: createdAt && DateTime.toEpochMillis(createdAt)
})

/** Whether two records may state one instant: one that states none contradicts nothing. */
const isSameInstant = (a: number | null, b: number | null): boolean => a === null || b === null || a === b

/** Whether the record is that of the node in the index: the same id may be another node in an account that began anew. */
export const isSame = (known: IndexedNode, node: Node): boolean =>
  known.name === node.name && isSameInstant(known.createdMillis, createdMillisOf(node))

/** The index with further nodes, of which no more is known than that they exist. */
export const withNodes = (index: NodeIndex, nodes: ReadonlyArray<IndexedNode>): NodeIndex => {
  const all = new Map(index.nodes)
  for (const node of nodes) all.set(node.id, node)
  return { ...index, nodes: all }
}

/** Accounts of this size are read in as few requests as the index would take. */
const minLength = 100

/** Deleted nodes stay in the index until the list is read again, which is due with so many of them. */
const maxShare = 1.5

/** Whether names can be found by the index. */
export const findsNames = ({ completeTo, length, maxPage, nodes }: NodeIndex): boolean =>
  completeTo > 0 && length > minLength && maxPage > 1 && nodes.size <= maxShare * length

const version = 3

const checksum = (body: string): string =>
  process.getBuiltinModule("node:crypto").createHash("sha256").update(body).digest("hex").slice(0, 32)

/** A node in the text: its values in this order. */
const rowOf = ({ createdMillis, id, image, memoryMib, name, plan, region }: IndexedNode) =>
  [id, name, plan, image, memoryMib, region, createdMillis] as const

type Row = ReturnType<typeof rowOf>

type Content = readonly [version: typeof version, Omit<NodeIndex, "nodes">, rows: ReadonlyArray<Row>]

/** The text of an index begins with a checksum, because half of a file would hide nodes. */
const textOf = (rows: ReadonlyArray<Row>, { completeTo, length, maxPage }: Omit<NodeIndex, "nodes">): string => {
  const body = JSON.stringify([version, { completeTo, length, maxPage }, rows] satisfies Content)
  return `${checksum(body)}\n${body}\n`
}

/** The index as text. */
export const encode = (index: NodeIndex): string => textOf(Array.from(index.nodes.values(), rowOf), index)

/** Makes the index of a whole list while its pages are read. */
export const listWriter = () => {
  const rows: Array<Row> = []
  let maxPage = 0
  let last = 0
  let ascends = true
  return {
    add: (page: ReadonlyArray<Node>): void => {
      maxPage = Math.max(maxPage, page.length)
      for (const node of page) {
        ascends &&= node.id > last
        last = node.id
        rows.push(rowOf(indexed(node)))
      }
    },
    /** Where ids do not ascend, new nodes are not at the end of the list, and the index is complete for no id. */
    end: (): string => textOf(rows, { completeTo: ascends ? last : 0, length: rows.length, maxPage })
  }
}

/** The index that a text holds; none where it is damaged, or of another version. With its checksum it is as it was written. */
export const decode = (text: string): Option.Option<NodeIndex> => {
  const [sum, body = ""] = text.split("\n")
  if (sum !== checksum(body)) return Option.none()
  const content: unknown = JSON.parse(body)
  if (!Array.isArray(content) || content[0] !== version) return Option.none()
  const [, ends, rows] = content as unknown as Content
  const nodes = rows.map(([id, name, plan, image, memoryMib, region, createdMillis]): [NodeId, IndexedNode] => [
    id,
    { id, name, plan, image, memoryMib, region, createdMillis }
  ])
  return Option.some({ nodes: new Map(nodes), ...ends })
}
