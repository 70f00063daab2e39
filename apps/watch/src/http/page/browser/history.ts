/** The past of nodes: their changes of status, according to the events. Pure. */
import type { NodeRow } from "./nodes.ts"
import type { Fields, WatchedNode, WatchEvent } from "./watchApi.ts"
import { statusText } from "./wording.ts"

/** A status of null means that the node did not exist. */
export interface Change {
  readonly atMillis: number
  readonly from: string | null
  readonly to: string | null
}

export const statusIn = (record: Fields | null | undefined): string | null =>
  record === null || record === undefined ? null : statusText(record["status"] as WatchedNode["status"])

/** The effect of an event on its node's status, if any. */
export const changeOf = ({ data: { after, before }, time }: WatchEvent): Change | undefined => {
  if (before === undefined && after === undefined) return undefined
  const [from, to] = [statusIn(before), statusIn(after)]
  return from === to ? undefined : { atMillis: Date.parse(time), from, to }
}

/** The known past of a node: its changes of status, oldest first, and the time since which all of them are known. */
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

/** Minimum length of a history. */
const minHistoryMillis = 60_000

/** The start of the histories: the requested time, or the first known event of any of these nodes. */
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

/**
 * The consecutive statuses of a node since `fromMillis`. A time in which the status is unknown, or in which the node did not exist, has no
 * segment.
 */
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

/** Minimum width of a status in a strip, in percent. */
const minPercent = 1.2

interface StripPart {
  readonly status: string
  /** In percent of the width. */
  readonly begin: number
  readonly end: number
}

/**
 * A history as parts of a strip. The shortest status stays visible, at the expense of the ones before it, so a strip always
 * ends in the node's current status.
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
