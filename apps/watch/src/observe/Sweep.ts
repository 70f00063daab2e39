/**
 * A sweep: one read of the whole list, page by page. Pages overlap as in the client (decision 0004), and a page that fails is
 * requested again. This module also limits the strings of records as they enter the daemon, including records of single reads.
 * Pure. `Poller.ts` sends the requests; `diff/` decides what the pages mean.
 */
import * as Listing from "@berthkit/core/client/listing/Listing"
import { isNode, type ListRecord, type Place, placesOf, sentenceOf } from "@berthkit/core/client/listing/NodePage"
import { ascends, type Page } from "@berthkit/core/client/listing/PageRange"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { isKnown, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import type { Exchange, Moment, PageRead, SweepCompleted } from "../diff/Observation.ts"

/** A running sweep. Continue each value only once, because its sets are changed in place. */
export interface Sweep {
  /** The number of the sweep, from 1. */
  readonly number: number
  /** The highest id in the previous sweep, 0 if the list was empty; null if it did not ascend, or there was no sweep. */
  readonly lastId: number | null
  /** When the first page was requested; null before. */
  readonly asked: Moment | null
  readonly progress: Listing.Progress
  readonly requests: number
  readonly listed: Set<NodeId>
  /** Where records without an id are in the list. Pages overlap, so the place tells whether a record was already counted. */
  readonly nameless: Set<number>
  /** Ids of the records that could not be read. */
  readonly unreadable: Set<NodeId>
  /** What is wrong with the first unreadable record; null if there is none. */
  readonly example: string | null
}

export const beginSweep = (number: number, lastId: number | null = null): Sweep => ({
  number,
  lastId,
  asked: null,
  progress: Listing.begin(),
  requests: 0,
  listed: new Set(),
  nameless: new Set(),
  unreadable: new Set(),
  example: null
})

/** The next page to request. */
export const nextPage = ({ progress }: Sweep): { readonly page: number | undefined; readonly perPage: number } => {
  const { page, perPage } = Listing.next(progress)
  return { page, perPage }
}

/** Where a list of ascending ids ended. */
export interface End {
  /** Number of records in the list; during a search, a guess. */
  readonly offset: number
  readonly lastId: number
  /** The page that is read for the end of the list shows all nodes from this id on. `Infinity` while unknown. */
  readonly firstId: number
  /** Present while the end is searched for. */
  readonly search?: Search
}

/** The knowledge about the place of the end, from pages that were not at the end. */
interface Search {
  /** The end is after this position. */
  readonly low: number
  /** The end is before this position; null if unknown. */
  readonly high: number | null
  /** How far to advance while `high` is unknown. */
  readonly step: number
}

/** The result of a page. */
export interface SweepStep {
  readonly sweep: Sweep
  readonly page: PageRead
  /** Set once the list has ended. */
  readonly completed: SweepCompleted | null
  /** Where the list ended; null if it has not ended yet, or does not ascend. */
  readonly end: End | null
}

/** The records of a page as an observation. */
export const pageRead = (
  exchange: Exchange,
  records: ReadonlyArray<ListRecord>,
  sweep: number | null,
  isEnd: boolean
): PageRead => ({
  _tag: "PageRead",
  asked: exchange.asked,
  answered: exchange.answered,
  sweep,
  isEnd,
  nodes: records.filter(isNode).map(boundedNode),
  unreadable: records.flatMap((record) => (isNode(record) || record.id === null ? [] : [record.id]))
})

/** One sweep in this many reads the list to its end, whatever the first page shows. */
const sweepsPerProof = 10

/**
 * Whether a first page that is not full ends a sweep, although it does not state that it is the only page. The previous
 * sweep showed that no node followed the last node of this page, so no older nodes exist beyond this page. Newer nodes
 * can follow only if this page is as long as the service allows, which every tenth sweep checks.
 */
const reachesEnd = ({ lastId, number }: Sweep, places: ReadonlyArray<Place>, total: number | null): boolean =>
  number % sweepsPerProof !== 1 &&
  lastId === (places.at(-1)?.id ?? 0) &&
  (total ?? 0) <= places.length &&
  ascends(places)

/** Takes the page that `nextPage` asked for. */
export const takePage = (sweep: Sweep, exchange: Exchange, { isMissing, isWhole, records, total }: Page): SweepStep => {
  const range = Listing.next(sweep.progress)
  // Places work as in the client's lists: a record without an id gets a place after its predecessor, so it has the same place
  // on every page.
  const places = placesOf(records, records[0]?.id === null ? Listing.idBefore(sweep.progress, range) : 0)
  const step = Listing.take(sweep.progress, range, places, isWhole || reachesEnd(sweep, places, total), isMissing)
  const { listed, unreadable } = sweep
  const { nameless } = sweep
  let { example } = sweep
  for (const { id: place, record } of places) {
    const { id } = record
    if (id === null) nameless.add(place)
    else listed.add(id)
    if (isNode(record)) continue
    example ??= sentenceOf(record)
    if (id !== null) unreadable.add(id)
  }
  const asked = sweep.asked ?? exchange.asked
  const next: Sweep = {
    ...sweep,
    asked,
    progress: step.progress,
    requests: sweep.requests + 1,
    listed,
    example
  }
  // An empty list counts as ascending, however it was read.
  const isSorted =
    step.progress._tag === "Overlapping" ? ascends(places) : places.length === 0 && step.progress.complete
  const isEnd = step.ended && isSorted
  return {
    sweep: next,
    page: pageRead(exchange, records, sweep.number, isEnd && places.length < range.perPage),
    completed: step.ended
      ? {
          _tag: "SweepCompleted",
          asked,
          answered: exchange.answered,
          sweep: sweep.number,
          requests: next.requests,
          listed: listed.size,
          nameless: nameless.size,
          ...(example === null ? {} : { unreadable: { count: unreadable.size + nameless.size, example } })
        }
      : null,
    end: isEnd ? { offset: range.start + places.length, lastId: maxOf(listed), firstId: Infinity } : null
  }
}

const maxOf = (ids: Iterable<number>): number => {
  let max = 0
  for (const id of ids) max = Math.max(max, id)
  return max
}

/** Maximum length of each text, in UTF-16 code units; the rest is cut off. */
export const maxTextLength = 1000

/** Maximum number of tags. */
const maxTags = 100

/**
 * Maximum length of a node's additional fields as JSON, in UTF-16 code units. If they are longer, this many names are kept,
 * without values.
 */
const maxExtraLength = 10_000
const maxExtraFields = 100

const bounded = (text: string): string => text.slice(0, maxTextLength).toWellFormed()
const isBounded = (text: string | null): boolean =>
  text === null || (text.length <= maxTextLength && text.isWellFormed())
const boundedOrNull = (text: string | null): string | null => (text === null ? null : bounded(text))

const boundedStatus = (status: NodeStatus): NodeStatus =>
  isKnown(status) ? status : { unknown: bounded(status.unknown) }

/** Finds half of a surrogate pair, which JSON writes as an escape. */
const hasHalfPair = /\\ud[89a-f]/

const isExtraBounded = (extra: Node["extra"]): boolean => {
  for (const _ in extra) {
    const json = JSON.stringify(extra)
    return json.length <= maxExtraLength && !hasHalfPair.test(json)
  }
  return true
}

/**
 * The additional fields of a node, within the limits. If they are too long, their names are kept without values, because the
 * names show that the record has fields that Berth does not know.
 */
const boundedExtra = (extra: Node["extra"]): Node["extra"] =>
  isExtraBounded(extra)
    ? extra
    : Object.fromEntries(
        Object.keys(extra)
          .slice(0, maxExtraFields)
          .map((name) => [bounded(name), null])
      )

const isNodeBounded = ({ extra, image, name, plan, privateIp, publicIp, region, status, tags }: Node): boolean =>
  isBounded(name) &&
  isBounded(plan) &&
  isBounded(image) &&
  isBounded(region) &&
  isBounded(publicIp) &&
  isBounded(privateIp) &&
  (isKnown(status) || isBounded(status.unknown)) &&
  (tags === null || (tags.length <= maxTags && tags.every(isBounded))) &&
  isExtraBounded(extra)

/**
 * The node with bounded and well-formed strings. Returns the same object if nothing has to change. The strings come from the service, and
 * are stored, sent and shown from here on.
 */
export const boundedNode = (node: Node): Node =>
  isNodeBounded(node)
    ? node
    : {
        ...node,
        name: bounded(node.name),
        plan: boundedOrNull(node.plan),
        image: boundedOrNull(node.image),
        region: boundedOrNull(node.region),
        publicIp: boundedOrNull(node.publicIp),
        privateIp: boundedOrNull(node.privateIp),
        status: boundedStatus(node.status),
        tags: node.tags && node.tags.slice(0, maxTags).map(bounded),
        extra: boundedExtra(node.extra)
      }
