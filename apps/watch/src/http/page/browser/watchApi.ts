/** How the page asks the daemon, with the cookie of its reader, and how it follows events. */
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

/** Where the daemon is: the page is its root, below whatever path a proxy shows it. */
const root = location.pathname.replace(/\/$/, "")

export const daemon = makeClient<Api>({ root })

/** Nodes that are read first, to be shown at once; those of a large account follow. */
const firstNodes = 1000
const nodesAtOnce = 10_000

/** The nodes page by page, each with the cursor behind which changes of all of them are. */
export const readNodes = async function* () {
  let page = await daemon.ask("GET /api/nodes", { query: { limit: firstNodes } })
  const { cursor } = page
  for (;;) {
    yield { nodes: page.nodes, cursor, isLast: page.next === null }
    if (page.next === null) return
    page = await daemon.ask("GET /api/nodes", { query: { limit: nodesAtOnce, after: page.next } })
  }
}

/** An event as the daemon sends it: what is in `data` depends on its type, and a newer daemon has other types. */
export interface WatchEvent {
  readonly id: string
  readonly source: string
  readonly sequence: string
  readonly time: string
  readonly type: string
  readonly subject?: string
  readonly data: EventData
}

/** What the page knows of the data of any event. */
interface EventData {
  readonly before?: Fields | null
  readonly after?: Fields | null
  readonly from?: NodeStatus
  readonly to?: NodeStatus
  readonly observedBetween?: readonly [string, string]
  readonly afterGap?: boolean
  readonly [field: string]: unknown
}

export type Fields = Readonly<Record<string, unknown>>

type NodeStatus = WatchedNode["status"]

/** How soon the page tries again after the daemon would not be followed, in milliseconds. */
const againMillis = 1500

interface Followed {
  readonly onEvent: (arrived: { readonly cursor: string; readonly event: WatchEvent }) => void
  readonly onOpen: () => void
  readonly onLost: () => void
  /** The daemon will not be followed from there: everything is to be read anew. */
  readonly onRefused: () => void
}

/** Follows the events behind a cursor until what it returns is called. The browser comes back by itself to a daemon that was gone. */
export const follow = (cursor: string, { onEvent, onLost, onOpen, onRefused }: Followed): (() => void) => {
  const source = new EventSource(`${root}/events?after=${encodeURIComponent(cursor)}`)
  source.onopen = onOpen
  source.onmessage = ({ data, lastEventId }) => onEvent({ cursor: lastEventId, event: JSON.parse(data) as WatchEvent })
  source.onerror = () => {
    onLost()
    if (source.readyState === EventSource.CLOSED) setTimeout(onRefused, againMillis)
  }
  return () => source.close()
}

/** Why something did not happen, for a person. */
export const failureText = (error: unknown): string =>
  error instanceof Refused ? error.message : "The daemon cannot be reached."
