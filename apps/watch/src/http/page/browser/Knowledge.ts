/** What the page knows about nodes and events: from its reads, and from each event that it follows. It renders nothing. */
import { type Change, changeOf, type Past, statusIn } from "./history.ts"
import { keyOf, type NodeRow, toRow } from "./nodes.ts"
import type { WatchedNode, WatchEvent } from "./watchApi.ts"

/** Events that are kept for the timeline and the histories. */
export const maxKeptEvents = 1000

export const accountOf = ({ source }: WatchEvent): string => decodeURIComponent(source.slice("/accounts/".length))

/** The key of an event's node, if it is about one. */
export const nodeKeyOf = (event: WatchEvent): string | undefined =>
  event.subject?.startsWith("nodes/") === true
    ? keyOf(accountOf(event), Number(event.subject.slice("nodes/".length)))
    : undefined

const noChanges: ReadonlyArray<Change> = []

export class Knowledge {
  /** The nodes by account and id. */
  readonly nodes = new Map<string, NodeRow>()
  /** Oldest first. */
  #events: Array<WatchEvent> = []
  /** The sequence of the last event, by account. */
  #sequences = new Map<string, string>()
  /** Changes of status by node, oldest first. */
  #changes = new Map<string, Array<Change>>()
  /** The time of the first event; nothing is known about earlier times. */
  eventsSince = Number.POSITIVE_INFINITY

  get events(): ReadonlyArray<WatchEvent> {
    return this.#events
  }

  get nodesWithChanges(): number {
    return this.#changes.size
  }

  addNodes(nodes: ReadonlyArray<WatchedNode>): void {
    for (const node of nodes) this.nodes.set(keyOf(node.account, node.id), toRow(node))
  }

  /** Starts with these events, oldest first. */
  setEvents(events: ReadonlyArray<WatchEvent>): void {
    this.#events = []
    this.#sequences = new Map()
    this.#changes = new Map()
    for (const event of events) this.#add(event)
    this.#noteBegin()
  }

  /**
   * Adds an event from the stream. The events that were read may contain this event already; the nodes, which were read earlier, may not
   * reflect it yet.
   */
  take(event: WatchEvent): void {
    if (event.sequence > (this.#sequences.get(event.source) ?? "")) {
      this.#add(event)
      while (this.#events.length > maxKeptEvents) this.#drop()
      this.#noteBegin()
    }
    this.#takeRecord(event)
  }

  pastOf = ({ key }: Pick<NodeRow, "key">): Past => ({
    changes: this.#changes.get(key) ?? noChanges,
    eventsSince: this.eventsSince
  })

  #noteBegin(): void {
    const [first] = this.#events
    this.eventsSince = first === undefined ? Number.POSITIVE_INFINITY : Date.parse(first.time)
  }

  #add(event: WatchEvent): void {
    this.#events.push(event)
    this.#sequences.set(event.source, event.sequence)
    const key = nodeKeyOf(event)
    const change = key === undefined ? undefined : changeOf(event)
    if (key === undefined || change === undefined) return
    const known = this.#changes.get(key)
    if (known === undefined) this.#changes.set(key, [change])
    else known.push(change)
  }

  /** Forgets the oldest event, and its effect on its node. */
  #drop(): void {
    const event = this.#events.shift()!
    const key = nodeKeyOf(event)
    if (key === undefined || changeOf(event) === undefined) return
    const changes = this.#changes.get(key)!
    changes.shift()
    if (changes.length === 0) this.#changes.delete(key)
  }

  /** Replaces the node by the record in an event. */
  #takeRecord(event: WatchEvent): void {
    const key = nodeKeyOf(event)
    const { after, before } = event.data
    if (key === undefined || after === undefined) return
    if (after === null) {
      this.nodes.delete(key)
      return
    }
    const known = this.nodes.get(key)
    const isSameStatus = known !== undefined && statusIn(before) === statusIn(after)
    const statusSince = isSameStatus ? known.statusSince : event.time
    this.nodes.set(key, toRow({ ...after, account: accountOf(event), statusSince } as WatchedNode))
  }
}

/** The source of the daemon's own events. */
export const ofTheDaemon = "/accounts/_daemon"

/** The events of one account, and those of the daemon; all events if `account` is empty. */
export const eventsOf = (events: ReadonlyArray<WatchEvent>, account: string): ReadonlyArray<WatchEvent> =>
  account === "" ? events : events.filter((event) => event.source === ofTheDaemon || accountOf(event) === account)

/** The deletions with a cause; all events if the cause is "". */
export const causedBy = (events: ReadonlyArray<WatchEvent>, cause: string): ReadonlyArray<WatchEvent> =>
  cause === "" ? events : events.filter(({ data }) => data.cause === cause)

/** How many nodes were created and deleted since an instant. */
export const comingsAndGoings = (events: ReadonlyArray<WatchEvent>, account: string, fromMillis: number) => {
  const counts = { created: 0, deleted: 0 }
  for (const event of events) {
    if (Date.parse(event.time) < fromMillis || (account !== "" && accountOf(event) !== account)) continue
    if (event.type === "berth.node.created") counts.created += 1
    if (event.type === "berth.node.deleted") counts.deleted += 1
  }
  return counts
}
