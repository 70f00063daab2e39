/** How the page calls the daemon with the reader's cookie, and follows events. */
import { makeClient, Refused, type ReplyTo } from "@berthkit/web/components/client"
import type { WatchApi } from "../../WatchApi.ts"

type Api = typeof WatchApi

export type Status = ReplyTo<Api, "GET /api/status">
export type AccountStatus = Status["accounts"][number]
export type SinkStatus = Status["sinks"][number]
export type Trouble = Status["troubles"][number]
export type Silence = Status["silences"][number]
export type WatchedNode = ReplyTo<Api, "GET /api/nodes">["nodes"][number]
export type PricedPlan = ReplyTo<Api, "GET /api/plans">[number]
export type AccountCost = ReplyTo<Api, "GET /api/cost">["accounts"][number]
export type DeadLetter = ReplyTo<Api, "GET /api/sinks/:sink/dead">["deadLetters"][number]

/** The daemon's root URL, which is the page's URL, even if a proxy uses another path. */
const root = location.pathname.replace(/\/$/, "")

export const daemon = makeClient<Api>({ root })

/** Nodes in the first request, to show something at once; the rest of a large account follows. */
const firstNodes = 1000
const nodesAtOnce = 10_000

/**
 * The nodes page by page, each page with the cursor after which all later changes follow. Requests the next page while
 * the last one is rendered.
 */
export const readNodes = async function* () {
  let page = await daemon.ask("GET /api/nodes", { query: { limit: firstNodes } })
  const { cursor } = page
  for (;;) {
    const query = { limit: nodesAtOnce, after: page.next ?? undefined }
    const following = page.next === null ? undefined : daemon.ask("GET /api/nodes", { query })
    // The caller may stop before that page arrives, and nobody would handle its failure.
    following?.catch(() => {})
    yield { nodes: page.nodes, cursor, isLast: following === undefined }
    if (following === undefined) return
    page = await following
  }
}

/** An event from the daemon: its type determines `data`, and a newer daemon may have more types. */
export interface WatchEvent {
  readonly id: string
  readonly source: string
  readonly sequence: string
  readonly time: string
  readonly type: string
  readonly subject?: string
  readonly data: EventData
  /** The position after the event; undefined if it does not come from the log. */
  readonly cursor?: string
}

/** The parts of an event's data that the page uses. */
interface EventData {
  readonly before?: Fields | null
  readonly after?: Fields | null
  readonly from?: NodeStatus
  readonly to?: NodeStatus
  readonly observedBetween?: readonly [string, string]
  readonly afterGap?: boolean
  readonly cause?: string
  readonly causedBy?: { readonly at: string; readonly command: string | null; readonly lease: string | null } | null
  readonly [field: string]: unknown
}

export type Fields = Readonly<Record<string, unknown>>

type NodeStatus = WatchedNode["status"]

/** Pause before retrying after the daemon refused the stream, in milliseconds. */
const againMillis = 1500

/** An event of the log. */
type LoggedEvent = WatchEvent & { readonly cursor: string }

/** The events of a reply, with their positions. */
export const eventsIn = ({ events }: ReplyTo<Api, "GET /api/events">): ReadonlyArray<LoggedEvent> =>
  events.map(({ cursor, event }) => ({ ...event, cursor }))

interface Followed {
  readonly onEvent: (arrived: LoggedEvent) => void
  readonly onOpen: () => void
  readonly onLost: () => void
  /** The daemon cannot continue from that position: everything must be read again. */
  readonly onRefused: () => void
}

/**
 * Follows the events after a cursor until the returned function is called. The browser reconnects by itself after an
 * interruption.
 */
export const follow = (cursor: string, { onEvent, onLost, onOpen, onRefused }: Followed): (() => void) => {
  const source = new EventSource(`${root}/events?after=${encodeURIComponent(cursor)}`)
  source.onopen = onOpen
  source.onmessage = ({ data, lastEventId }) => onEvent({ ...(JSON.parse(data) as WatchEvent), cursor: lastEventId })
  source.onerror = () => {
    onLost()
    if (source.readyState === EventSource.CLOSED) setTimeout(onRefused, againMillis)
  }
  return () => source.close()
}

/** Why an action failed, for a person. */
export const failureText = (error: unknown): string =>
  error instanceof Refused ? error.message : "The daemon cannot be reached."
