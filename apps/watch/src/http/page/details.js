// One node: its fields, its history, and its events, which are read from the log when it is opened. The address of the page names it.
import { make, paintRows, plain, setText, tag } from "@berthkit/web/rows.js"
import { ask } from "./connection.js"
import { changesOf, historyBegin, keyOf, maxKeptEvents, model, nodeKeyOf, now, priceOf } from "./model.js"
import { makeStrip } from "./nodeRows.js"
import { byId, closeByReader, fact } from "./parts.js"
import { paintEvents } from "./timeline.js"
import { asOfText, beginText, boundText, nameText, spanText, toneOfStatus, wholeInstantText } from "./wording.js"

const details = {
  /** Of the node that is shown. */
  key: undefined,
  /** Its events, the oldest first. */
  events: [],
  /** Whether these are all that the log has of it. */
  isRead: false,
  spanMillis: 0,
  stale: new Map(),
  onClosed: () => {}
}

// ---- the address

const addressOf = ({ account, id }) => `#node/${encodeURIComponent(account)}/${id}`

const partsOf = (key) => {
  const at = key.lastIndexOf("/")
  return { account: key.slice(0, at), id: Number(key.slice(at + 1)) }
}

/** Key of the node that the address names, if it names one. */
const keyOfAddress = () => {
  const [, account, id] = /^#node\/([^/]+)\/(\d{1,15})$/.exec(location.hash) ?? []
  if (account === undefined) return undefined
  try {
    return keyOf(decodeURIComponent(account), Number(id))
  } catch {
    return undefined
  }
}

/** Opens a node. Going back closes it. */
export const openDetails = (key) => {
  if (key === details.key) return
  history.pushState({ isOpened: true }, "", addressOf(partsOf(key)))
  showAddress()
}

/** Shows the node that the address names, or none. */
export const showAddress = () => {
  const key = keyOfAddress()
  if (key === details.key) return
  if (key === undefined) return hideDetails()
  Object.assign(details, { key, events: [], isRead: false })
  addEvents(model.events.filter((event) => nodeKeyOf(event) === key))
  void readEvents(key)
  paintDetails()
  if (!byId("details").open) byId("details").showModal()
  byId("details").scrollTop = 0
}

/** The address stays: the node is shown again when the page is. */
export const hideDetails = () => {
  details.key = undefined
  byId("details").close()
}

/** Its reader closed it. The browser tells of that later, when another node may be open. */
const leave = () => {
  if (details.key === undefined || byId("details").open) return
  details.key = undefined
  if (history.state?.isOpened) history.back()
  else history.replaceState(null, "", location.pathname + location.search)
  details.onClosed()
}

// ---- its events

/** Takes in those that are newer. */
const addEvents = (events) => {
  const last = details.events.at(-1)?.sequence ?? ""
  details.events.push(...events.filter(({ sequence }) => sequence > last))
  details.events.splice(0, details.events.length - maxKeptEvents)
}

const readEvents = async (key) => {
  const { account, id } = partsOf(key)
  const path = `/api/events?account=${encodeURIComponent(account)}&node=${id}&limit=${maxKeptEvents}`
  const logged = await ask(path).catch(() => undefined)
  if (logged === undefined || details.key !== key) return
  const newer = details.events
  details.events = logged.events.map(({ event }) => event)
  details.isRead = true
  addEvents(newer)
  paintDetails()
}

/** Takes in an event that was followed. */
export const noteEvent = (event) => {
  if (details.key !== undefined && nodeKeyOf(event) === details.key) addEvents([event])
}

// ---- painting

const plainOr = (text) => plain(text ?? "–")

const yesOrNo = (value, yes, no) => (value === null ? "–" : value ? yes : no)

/** Title, text, and a tone where there is one. */
const factsOf = (node) => [
  ["Status", plain(node.status), toneOfStatus(node.status)],
  ["Status since", node.sinceMillis === null ? "–" : wholeInstantText(node.sinceMillis)],
  ["Id", String(node.id)],
  ["Account", plain(node.account)],
  ["Plan", plainOr(node.plan)],
  ["Price per month", boundText(priceOf(node))],
  ["Created", wholeInstantText(node.createdMillis)],
  ["Age", spanText(now() - node.createdMillis)],
  ["Public address", plainOr(node.publicIp)],
  ["Private address", plainOr(node.privateIp)],
  ["Image", plainOr(node.image)],
  ["Region", plainOr(node.region)],
  ["Backups", yesOrNo(node.backups, "on", "off")],
  ["Locked", yesOrNo(node.locked, "yes", "no")],
  ...(node.tags.length === 0 ? [] : [["Tags", plain(node.tags.join(", "))]])
]

const factRow = ([title, text, tone]) => fact(title, [tone === undefined ? make("span", { text }) : tag(text, tone)])

/** What is to be known of a node that is not there. */
const absence = () => {
  if (details.events.length > 0) return "This node is gone."
  return details.isRead ? "The daemon knows no such node." : "reading"
}

const staleText = ({ account }) => {
  const stale = details.stale.get(account)
  return stale === undefined
    ? ""
    : `This is ${stale.isBefore ? "from " : ""}${asOfText(stale, now())}: nothing newer is known.`
}

const pastIn = (events) => ({
  changes: changesOf(events),
  eventsSince: Math.min(model.eventsSince, ...events.slice(0, 1).map(({ time }) => Date.parse(time)))
})

/** `stale`: see `staleAccounts`. */
export const paintDetails = (stale = details.stale) => {
  details.stale = stale
  if (details.key === undefined) return
  const { events, isRead, key, spanMillis } = details
  const node = model.nodes.get(key)
  const { after, before } = events.at(-1)?.data ?? {}
  setText(byId("details-title"), plain(nameText((node ?? after ?? before)?.name ?? key)))
  setText(byId("details-absence"), node === undefined ? absence() : staleText(node))
  paintRows(byId("details-facts"), node === undefined ? [] : factsOf(node), ([title]) => title, factRow)
  byId("details-history").hidden = node === undefined
  if (node !== undefined) {
    const past = pastIn(events)
    const fromMillis = historyBegin([node], spanMillis, now(), () => past)
    byId("details-strip").replaceChildren(
      makeStrip(node, fromMillis, { past, asOfMillis: details.stale.get(node.account)?.atMillis })
    )
    setText(byId("details-begin"), beginText(fromMillis, spanMillis, now()))
  }
  paintEvents(byId("details-events"), events, { emptyText: isRead ? "No events of it are kept." : "reading" })
}

export const setDetailsSpan = (spanMillis) => {
  details.spanMillis = spanMillis
}

/** `onClosed` is called when its reader has closed the node. */
export const startDetails = ({ onClosed }) => {
  details.onClosed = onClosed
  byId("details").onclose = leave
  closeByReader(byId("details"))
}
