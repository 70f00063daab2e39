/**
 * One node: its fields, its history, commands about it, and its events, which are read from the log when it is opened. The page's address
 * names the node.
 */
import { batch, effect, signal } from "@preact/signals"
import { Badge, type Tone } from "@berthkit/web/components/Badge"
import { Button } from "@berthkit/web/components/Button"
import { Commands } from "@berthkit/web/components/Copyable"
import { Dialog } from "@berthkit/web/components/Dialog"
import { Fact } from "@berthkit/web/components/Fact"
import { plain } from "@berthkit/web/components/text"
import { spanText, wholeInstantText } from "@berthkit/web/components/times"
import { toneOfStatus } from "@berthkit/web/components/statuses"
import {
  allNodes,
  events as allEvents,
  eventsSince,
  moment,
  onEvent,
  phase,
  prices,
  spanMillis,
  stale
} from "./board.ts"
import { sentenceOf } from "../../../events/sentences.ts"
import { EventRows } from "./EventRow.tsx"
import { historyBegin, pastIn } from "./history.ts"
import { maxKeptEvents, nodeKeyOf } from "./Knowledge.ts"
import { keyOf, type NodeRow, priceOf } from "./nodes.ts"
import { Strip } from "./Strip.tsx"
import { daemon, eventsIn, type WatchEvent } from "./watchApi.ts"
import { asOfText, beginText, boundText, nameText } from "./wording.ts"

/** The node that is shown. */
const opened = signal<string | undefined>(undefined)
/** The events of the node, oldest first, and whether the log has no more. */
const ofNode = signal<{ readonly events: ReadonlyArray<WatchEvent>; readonly isRead: boolean }>({
  events: [],
  isRead: false
})

const partsOf = (key: string) => {
  const at = key.lastIndexOf("/")
  return { account: key.slice(0, at), id: Number(key.slice(at + 1)) }
}

/** The key of the node in the address, if it names one. */
const keyOfAddress = (): string | undefined => {
  const [, account, id] = /^#node\/([^/]+)\/(\d{1,15})$/.exec(location.hash) ?? []
  if (account === undefined) return undefined
  try {
    return keyOf(decodeURIComponent(account), Number(id))
  } catch {
    return undefined
  }
}

/** Opens a node. The browser's back button closes it. */
export const openNode = (key: string): void => {
  if (key === opened.peek()) return
  const { account, id } = partsOf(key)
  history.pushState({ isOpened: true }, "", `#node/${encodeURIComponent(account)}/${id}`)
  showAddress()
}

/** Shows the node in the address, or none. */
const showAddress = (): void => {
  const key = keyOfAddress()
  if (key === opened.peek()) return
  batch(() => {
    opened.value = key
    ofNode.value = { events: allEvents.peek().filter((event) => nodeKeyOf(event) === key), isRead: false }
  })
  if (key !== undefined) void readEvents(key)
}

/** The reader closed it. */
const close = (): void => {
  opened.value = undefined
  if ((history.state as { readonly isOpened?: boolean } | null)?.isOpened === true) history.back()
  else history.replaceState(null, "", location.pathname + location.search)
}

/** `events`, followed by those of `newer` that are newer. */
const joined = (events: ReadonlyArray<WatchEvent>, newer: ReadonlyArray<WatchEvent>): ReadonlyArray<WatchEvent> => {
  const last = events.at(-1)?.sequence ?? ""
  return [...events, ...newer.filter(({ sequence }) => sequence > last)].slice(-maxKeptEvents)
}

const readEvents = async (key: string): Promise<void> => {
  const { account, id } = partsOf(key)
  const query = { account, node: id, limit: maxKeptEvents }
  const logged = await daemon.ask("GET /api/events", { query }).catch(() => undefined)
  if (logged === undefined || opened.peek() !== key) return
  ofNode.value = { events: joined(eventsIn(logged), ofNode.peek().events), isRead: true }
}

onEvent((event) => {
  if (opened.peek() === undefined || nodeKeyOf(event) !== opened.peek()) return
  ofNode.value = { ...ofNode.peek(), events: joined(ofNode.peek().events, [event]) }
})

const plainOr = (text: string | null): string => plain(text ?? "–")

const yesOrNo = (value: boolean | null, yes: string, no: string): string => (value === null ? "–" : value ? yes : no)

const instantOr = (millis: number | null): string => (millis === null ? "–" : wholeInstantText(millis))

/** Title, text, and an optional tone. */
const factsOf = (node: NodeRow): ReadonlyArray<readonly [string, string, Tone?]> => [
  ["Status", node.status, toneOfStatus(node.status)],
  ["Since", instantOr(node.sinceMillis)],
  ["Id", String(node.id)],
  ["Account", plain(node.account)],
  ["Plan", plainOr(node.plan)],
  ["Price per month", boundText(priceOf(prices.value, node))],
  ["Created", instantOr(node.createdMillis)],
  ["Age", node.createdMillis === null ? "–" : spanText(moment.value - node.createdMillis)],
  ["Public address", plainOr(node.publicIp)],
  ["Private address", plainOr(node.privateIp)],
  ["Image", plainOr(node.image)],
  ["Region", plainOr(node.region)],
  ["Backups", yesOrNo(node.backups, "on", "off")],
  ["Locked", yesOrNo(node.locked, "yes", "no")],
  ...(node.tags.length === 0 ? [] : [["Tags", plain(node.tags.join(", "))] as const])
]

const staleText = ({ account }: NodeRow): string | undefined => {
  const old = stale.value.get(account)
  return old === undefined
    ? undefined
    : `This is ${old.isBefore ? "from " : ""}${asOfText(old, moment.value)}: nothing newer is known.`
}

/** The known facts about a node that does not exist. */
const absenceText = (): string => {
  const { events } = ofNode.value
  const deleted = events.findLast(({ type }) => type === "berth.node.deleted")
  if (deleted !== undefined) return plain(`This node ${sentenceOf(deleted).text}.`)
  if (events.length > 0) return "This node was deleted."
  return ofNode.value.isRead ? "The daemon does not know this node." : "reading"
}

const Node = ({ node }: { readonly node: NodeRow }) => {
  const past = pastIn(ofNode.value.events, eventsSince.value)
  const fromMillis = historyBegin([node], spanMillis.value, moment.value, () => past)
  return (
    <>
      <dl>
        {factsOf(node).map(([title, text, tone]) => (
          <Fact key={title} name={title}>
            {tone === undefined ? <span>{text}</span> : <Badge tone={tone}>{text}</Badge>}
          </Fact>
        ))}
      </dl>
      <Strip node={node} past={past} fromMillis={fromMillis} asOfMillis={stale.value.get(node.account)?.atMillis} />
      <p class="strip-ends">
        <span>{beginText(fromMillis, spanMillis.value, moment.value)}</span> <span>now</span>
      </p>
    </>
  )
}

const commandsOf = (id: number): ReadonlyArray<string> => [
  `berth node get ${id}`,
  `berth node delete ${id}`,
  `berth-watch events --node ${id}`
]

const Open = ({ shown }: { readonly shown: string }) => {
  const node = allNodes.value.find(({ key }) => key === shown)
  const { events, isRead } = ofNode.value
  const { after, before } = events.at(-1)?.data ?? {}
  const name = node?.name ?? after?.["name"] ?? before?.["name"] ?? shown
  const note = node === undefined ? absenceText() : staleText(node)
  return (
    <Dialog
      id="details"
      closesBeside
      onClose={close}
      title={plain(nameText(String(name)))}
      head={
        <Button id="details-close" onClick={close}>
          Close
        </Button>
      }
    >
      {note === undefined ? null : <p class="note">{note}</p>}
      {node === undefined ? null : <Node node={node} />}
      {node === undefined ? null : <Commands commands={commandsOf(node.id)} />}
      <h3 id="details-events-title">Events</h3>
      <ol class="events" aria-labelledby="details-events-title">
        <EventRows
          events={events}
          count={maxKeptEvents}
          emptyText={isRead ? "No events about it are kept." : "reading"}
        />
      </ol>
    </Dialog>
  )
}

/** The address stays during a login, so the node is shown again afterwards. */
export const NodeDetails = () => (opened.value === undefined ? null : <Open key={opened.value} shown={opened.value} />)

/** Shows the node in the address, as soon as the nodes are loaded. */
export const startDetails = (): void => {
  effect(() => {
    if (phase.value === "board") showAddress()
    else opened.value = undefined
  })
  addEventListener("popstate", () => phase.peek() === "board" && showAddress())
}
