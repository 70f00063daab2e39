/** The past of nodes: their changes of status, as the events tell of them. Pure. */
import type { NodeRow } from "./nodes.ts"
import type { Fields, WatchedNode, WatchEvent } from "./watchApi.ts"
import { statusText } from "./wording.ts"

/** A status of null is none: the node did not exist. */
export interface Change {
  readonly atMillis: number
  readonly from: string | null
  readonly to: string | null
}

export const statusIn = (record: Fields | null | undefined): string | null =>
  record === null || record === undefined ? null : statusText(record["status"] as WatchedNode["status"])

/** What an event does to the status of its node, if anything. */
export const changeOf = ({ data: { after, before }, time }: WatchEvent): Change | undefined => {
  if (before === undefined && after === undefined) return undefined
  const [from, to] = [statusIn(before), statusIn(after)]
  return from === to ? undefined : { atMillis: Date.parse(time), from, to }
}

/** What is known of a node's past: its changes of status, the oldest first, and since when none is missing. */
export interface Past {
  readonly changes: ReadonlyArray<Change>
  readonly eventsSince: number
}

export const pastIn = (events: ReadonlyArray<WatchEvent>, eventsSince: number): Past => ({
  changes: events.map(changeOf).filter((change) => change !== undefined),
  eventsSince: Math.min(eventsSince, ...events.slice(0, 1).map(({ time }) => Date.parse(time)))
})

type Born = Pick<NodeRow, "createdMillis" | "sinceMillis">

const knownSince = ({ createdMillis, sinceMillis }: Born, { changes, eventsSince }: Past): number => {
  const since = changes.length === 0 ? (sinceMillis ?? createdMillis) : eventsSince
  return Math.max(createdMillis ?? 0, since ?? Number.POSITIVE_INFINITY)
}

/** Histories are no shorter than this. */
const minHistoryMillis = 60_000

/** Where histories of a time begin: with that time, or with the first thing that is known of any of these nodes. */
export const historyBegin = <Node extends Born>(
  nodes: Iterable<Node>,
  spanMillis: number,
  toMillis: number,
  pastOf: (node: Node) => Past
): number => {
  let first = toMillis - minHistoryMillis
  for (const node of nodes) first = Math.min(first, knownSince(node, pastOf(node)))
  return Math.max(first, toMillis - spanMillis)
}

interface Segment {
  readonly status: string
  readonly fromMillis: number
  readonly toMillis: number
}

/** The statuses of a node since `fromMillis`, one after the other: nothing where none is known, or where it did not exist. */
export const historyOf = (
  node: Born & Pick<NodeRow, "status">,
  past: Past,
  fromMillis: number,
  toMillis: number
): ReadonlyArray<Segment> => {
  const segments: Array<Segment> = []
  let at = Math.max(fromMillis, Math.min(knownSince(node, past), toMillis))
  let status: string | null = past.changes.length === 0 ? node.status : past.changes[0]!.from
  const end = (millis: number) => {
    if (status !== null && millis > at) segments.push({ status, fromMillis: at, toMillis: millis })
    at = Math.max(at, millis)
  }
  for (const change of past.changes) {
    end(change.atMillis)
    status = change.to
  }
  end(toMillis)
  return segments
}

/** The least width of a status in a strip, in percent. */
const minPercent = 1.2

interface StripPart {
  readonly status: string
  /** In percent of the width. */
  readonly begin: number
  readonly end: number
}

/**
 * A history as parts of a strip. The shortest status is wide enough to be seen; those before it give way, so that a strip always ends in the
 * status that the node has now.
 */
export const stripParts = (
  segments: ReadonlyArray<Segment>,
  fromMillis: number,
  toMillis: number
): ReadonlyArray<StripPart> => {
  const percent = (millis: number) => ((millis - fromMillis) / (toMillis - fromMillis)) * 100
  const parts: Array<StripPart> = []
  let next = 100
  for (const segment of segments.toReversed()) {
    const end = Math.min(next, Math.max(percent(segment.toMillis), minPercent))
    const begin = Math.max(0, Math.min(percent(segment.fromMillis), end - minPercent))
    parts.unshift({ status: segment.status, begin, end })
    next = begin
  }
  return parts
}
