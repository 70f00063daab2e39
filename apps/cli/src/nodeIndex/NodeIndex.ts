/**
 * The nodes of an account as they were read last, by id: what never changes in a node's life. Only ever a hint: `resolve.ts`
 * confirms what it takes from here. Pure, with its text; `IndexStore.ts` keeps it in a file.
 */
import { createHash } from "node:crypto"
import type { Node, NodeId } from "@berth/core/domain/Node"
import { DateTime, Option, Predicate } from "effect"

/** What the index holds of a node. The reply to a get lacks the plan, the image, the memory and the region. */
export interface IndexedNode extends Pick<Node, "id" | "name" | "plan" | "image" | "memoryMib" | "region"> {
  readonly createdMillis: number
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
  createdMillis: DateTime.toEpochMillis(createdAt)
})

/** Whether the record is that of the node in the index: the same id may be another node in an account that began anew. */
export const isSame = (known: IndexedNode, node: Node): boolean =>
  known.name === node.name && known.createdMillis === DateTime.toEpochMillis(node.createdAt)

/** The index of a whole list. Where ids do not ascend, new nodes are not at its end, and it is complete for no id. */
export const ofList = (listed: ReadonlyArray<IndexedNode>, maxPage: number): NodeIndex => {
  const ascends = listed.every(({ id }, i) => i === 0 || listed[i - 1]!.id < id)
  return {
    nodes: new Map(listed.map((node) => [node.id, node])),
    completeTo: ascends ? (listed.at(-1)?.id ?? 0) : 0,
    length: listed.length,
    maxPage
  }
}

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

const version = 1

/** Plans, images and regions, each once; a node has their places. */
const textsOf = (index: NodeIndex) => {
  const texts = new Map<string, number>()
  for (const { image, plan, region } of index.nodes.values()) {
    for (const text of [plan, image, region]) if (text !== null && !texts.has(text)) texts.set(text, texts.size)
  }
  return texts
}

const checksum = (body: string) => createHash("sha256").update(body).digest("hex").slice(0, 32)

/** The index as text: a checksum, because half of a file would hide nodes, and the nodes as rows. */
export const encode = (index: NodeIndex): string => {
  const texts = textsOf(index)
  const place = (text: string | null) => (text === null ? null : texts.get(text)!)
  const rows = Array.from(index.nodes.values(), ({ createdMillis, id, image, memoryMib, name, plan, region }) => [
    id,
    name,
    place(plan),
    place(image),
    memoryMib,
    place(region),
    createdMillis
  ])
  const { completeTo, length, maxPage } = index
  const body = JSON.stringify({ version, completeTo, length, maxPage, texts: Array.from(texts.keys()), rows })
  return `${checksum(body)}\n${body}\n`
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const rowOf = (row: unknown, texts: ReadonlyArray<unknown>): IndexedNode | undefined => {
  if (!Array.isArray(row)) return undefined
  const [id, name, plan, image, memoryMib, region, createdMillis] = row as ReadonlyArray<unknown>
  const text = (place: unknown) => (place === null ? null : texts[Number(place)])
  const [planText, imageText, regionText] = [text(plan), text(image), text(region)]
  const isText = (value: unknown): value is string | null => value === null || Predicate.isString(value)
  return isCount(id) &&
    Predicate.isString(name) &&
    isText(planText) &&
    isText(imageText) &&
    isText(regionText) &&
    (memoryMib === null || Predicate.isNumber(memoryMib)) &&
    Predicate.isNumber(createdMillis)
    ? { id: id as NodeId, name, plan: planText, image: imageText, memoryMib, region: regionText, createdMillis }
    : undefined
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The index that a text holds; none where it is damaged, or of another version. */
export const decode = (text: string): Option.Option<NodeIndex> => {
  const [sum, body = ""] = text.split("\n")
  if (sum !== checksum(body)) return Option.none()
  const held = parse(body)
  if (!Predicate.isObject(held) || held["version"] !== version) return Option.none()
  const { completeTo, length, maxPage, rows, texts } = held as Record<string, unknown>
  if (!isCount(completeTo) || !isCount(length) || !isCount(maxPage)) return Option.none()
  if (!Array.isArray(rows) || !Array.isArray(texts)) return Option.none()
  const nodes = new Map<NodeId, IndexedNode>()
  for (const row of rows) {
    const node = rowOf(row, texts)
    if (node === undefined) return Option.none()
    nodes.set(node.id, node)
  }
  return Option.some({ nodes, completeTo, length, maxPage })
}
