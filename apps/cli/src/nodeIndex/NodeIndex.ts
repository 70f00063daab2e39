/**
 * The nodes of an account as they were read last, by id: what never changes in a node's life. Only ever a hint: `resolve.ts`
 * confirms what it takes from here. Pure, with its text; `IndexStore.ts` keeps it in a file.
 */
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

const version = 2

const checksum = (body: string): string =>
  process.getBuiltinModule("node:crypto").createHash("sha256").update(body).digest("hex").slice(0, 32)

/** The nodes as columns: of 10 000 nodes they take a tenth of the memory of records, and are written without making any. */
class Columns {
  readonly ids: Array<number> = []
  readonly names: Array<string> = []
  /** Places of plans, images and regions among the texts. */
  readonly plans: Array<number | null> = []
  readonly images: Array<number | null> = []
  readonly regions: Array<number | null> = []
  readonly memories: Array<number | null> = []
  readonly created: Array<number> = []
  readonly texts: Array<string> = []
  readonly #places = new Map<string, number>()

  #place(text: string | null): number | null {
    if (text === null) return null
    const known = this.#places.get(text)
    if (known !== undefined) return known
    this.#places.set(text, this.texts.length)
    return this.texts.push(text) - 1
  }

  add({ id, image, memoryMib, name, plan, region }: Omit<IndexedNode, "createdMillis">, createdMillis: number): void {
    this.ids.push(id)
    this.names.push(name)
    this.plans.push(this.#place(plan))
    this.images.push(this.#place(image))
    this.regions.push(this.#place(region))
    this.memories.push(memoryMib)
    this.created.push(createdMillis)
  }
}

/** The text of an index begins with a checksum, because half of a file would hide nodes. */
const textOf = (columns: Columns, { completeTo, length, maxPage }: Omit<NodeIndex, "nodes">): string => {
  const body = JSON.stringify({ version, completeTo, length, maxPage, ...columns })
  return `${checksum(body)}\n${body}\n`
}

/** The index as text. */
export const encode = (index: NodeIndex): string => {
  const columns = new Columns()
  for (const node of index.nodes.values()) columns.add(node, node.createdMillis)
  return textOf(columns, index)
}

/** Makes the index of a whole list while its pages are read. */
export const listWriter = () => {
  const columns = new Columns()
  let maxPage = 0
  let last = 0
  let ascends = true
  return {
    add: (page: ReadonlyArray<Node>): void => {
      maxPage = Math.max(maxPage, page.length)
      for (const node of page) {
        ascends &&= node.id > last
        last = node.id
        columns.add(node, DateTime.toEpochMillis(node.createdAt))
      }
    },
    /** Where ids do not ascend, new nodes are not at the end of the list, and the index is complete for no id. */
    end: (): string => textOf(columns, { completeTo: ascends ? last : 0, length: columns.ids.length, maxPage })
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const isNumberOrNull = (value: unknown): value is number | null => value === null || Predicate.isNumber(value)

/** An array of such values, one for each node. */
const columnOf = <A>(held: object, name: string, length: number, is: (value: unknown) => value is A) => {
  const column: unknown = Predicate.hasProperty(held, name) ? held[name] : undefined
  return Array.isArray(column) && column.length === length && column.every(is)
    ? (column as ReadonlyArray<A>)
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
  const { completeTo, ids, length, maxPage, texts } = held as Record<string, unknown>
  if (!isCount(completeTo) || !isCount(length) || !isCount(maxPage)) return Option.none()
  if (!Array.isArray(ids) || !Array.isArray(texts) || !texts.every(Predicate.isString)) return Option.none()
  const of = <A>(name: string, is: (value: unknown) => value is A) => columnOf(held, name, ids.length, is)
  const numbers = of("ids", isCount)
  const names = of("names", Predicate.isString)
  const [plans, images, regions] = [
    of("plans", isNumberOrNull),
    of("images", isNumberOrNull),
    of("regions", isNumberOrNull)
  ]
  const [memories, created] = [of("memories", isNumberOrNull), of("created", Predicate.isNumber)]
  if (!numbers || !names || !plans || !images || !regions || !memories || !created) return Option.none()
  const atPlace = (place: number | null | undefined): string | null =>
    place === null || place === undefined ? null : (texts[place] ?? null)
  const nodes = new Map<NodeId, IndexedNode>()
  for (const [i, id] of numbers.entries()) {
    nodes.set(id as NodeId, {
      id: id as NodeId,
      name: names[i]!,
      plan: atPlace(plans[i]),
      image: atPlace(images[i]),
      memoryMib: memories[i]!,
      region: atPlace(regions[i]),
      createdMillis: created[i]!
    })
  }
  return Option.some({ nodes, completeTo, length, maxPage })
}
