// What the page knows: nodes, their history, prices, and what is shown of them. It paints nothing.
import { statusOrder, statusText } from "./wording.js"

/** Events that are kept for the timeline and the histories. */
export const maxKeptEvents = 1000

export const model = {
  /** By account and id. */
  nodes: new Map(),
  /** The latest last. */
  events: [],
  /** The sequence of the last of them, by account. */
  sequences: new Map(),
  /** Changes of status by node, the oldest first. */
  changes: new Map(),
  /** Of the first of them: before it nothing is known. */
  eventsSince: Number.POSITIVE_INFINITY,
  /** By account and plan. */
  prices: new Map(),
  /** When the page read everything: what happened later is news. */
  readMillis: Number.POSITIVE_INFINITY,
  /** Of the daemon's clock over ours. */
  aheadMillis: 0,
  status: undefined
}

export const now = () => Date.now() + model.aheadMillis

export const keyOf = (account, id) => `${account}/${id}`

const unknownPrice = { atLeast: null, isExact: false }

/**
 * The price per month of a node: that of its plan and image, as the daemon knows it. Where the image is not known it is one of its
 * plan. `atLeast` is the lowest that it may be, null where nothing is known.
 */
export const priceOf = ({ account, image, plan }) => {
  const known = model.prices.get(account)?.get(plan)
  return known?.byImage.get(image) ?? known?.ofPlan ?? unknownPrice
}

const monthlyPrice = ({ minPricePerMonthInr, pricePerMonthInr }) => ({
  atLeast: minPricePerMonthInr,
  isExact: pricePerMonthInr !== null
})

export const setPrices = (plans) => {
  model.prices = new Map()
  for (const { account, plan, prices, slugs, ...price } of plans) {
    if (!model.prices.has(account)) model.prices.set(account, new Map())
    const byImage = new Map(prices.flatMap((each) => each.images.map((image) => [image, monthlyPrice(each)])))
    const known = { ofPlan: monthlyPrice(price), byImage }
    model.prices.get(account).set(plan, known)
    // A node may show a slug, which is ordered with one image.
    for (const { image, slug } of slugs) {
      model.prices.get(account).set(slug, { ...known, ofPlan: byImage.get(image) ?? known.ofPlan })
    }
  }
}

/** A node as the page sorts and searches it, once for each change of it. */
const toRow = (node) => {
  const status = statusText(node.status)
  return {
    ...node,
    key: keyOf(node.account, node.id),
    status,
    createdMillis: Date.parse(node.createdAt),
    sinceMillis: node.statusSince === null ? null : Date.parse(node.statusSince)
  }
}

/** What a node is searched by. */
const textOf = (node) =>
  (node.text ??= [node.id, node.name, node.status, node.plan, node.publicIp, node.privateIp, node.account, ...node.tags]
    .join(" ")
    .toLowerCase())

export const forgetNodes = () => {
  model.nodes = new Map()
}

export const addNodes = (nodes) => {
  for (const node of nodes) model.nodes.set(keyOf(node.account, node.id), toRow(node))
}

export const accountOf = ({ source }) => decodeURIComponent(source.slice("/accounts/".length))

export const nodeKeyOf = (event) =>
  event.subject?.startsWith("nodes/")
    ? keyOf(accountOf(event), Number(event.subject.slice("nodes/".length)))
    : undefined

const statusOf = (node) => (node === null || node === undefined ? null : statusText(node.status))

/** What an event does to the status of its node, if anything. */
const changeOf = (event) => {
  const { after, before } = event.data
  if (before === undefined && after === undefined) return undefined
  const [from, to] = [statusOf(before), statusOf(after)]
  return from === to ? undefined : { atMillis: Date.parse(event.time), from, to }
}

/** The changes of status among the events of one node. */
export const changesOf = (events) => events.map(changeOf).filter((change) => change !== undefined)

const addEvent = (event) => {
  model.events.push(event)
  model.sequences.set(event.source, event.sequence)
  const key = nodeKeyOf(event)
  const change = key && changeOf(event)
  if (change === undefined) return
  if (model.changes.has(key)) model.changes.get(key).push(change)
  else model.changes.set(key, [change])
}

/** Forgets the oldest event, with what it did to its node. */
const dropEvent = () => {
  const event = model.events.shift()
  const key = nodeKeyOf(event)
  if (key === undefined || changeOf(event) === undefined) return
  const changes = model.changes.get(key)
  changes.shift()
  if (changes.length === 0) model.changes.delete(key)
}

export const setEvents = (logged) => {
  Object.assign(model, { events: [], sequences: new Map(), changes: new Map() })
  for (const { event } of logged) addEvent(event)
  model.eventsSince = logged.length === 0 ? Number.POSITIVE_INFINITY : Date.parse(model.events[0].time)
}

/** Takes in an event that was followed. The events that were read may have it already, the nodes, read before them, may not. */
export const takeEvent = (event) => {
  if (event.sequence > (model.sequences.get(event.source) ?? "")) {
    addEvent(event)
    while (model.events.length > maxKeptEvents) dropEvent()
    model.eventsSince = Date.parse(model.events[0].time)
  }
  takeRecord(event)
}

/** The node becomes what an event states of it. */
const takeRecord = (event) => {
  const key = nodeKeyOf(event)
  const { after, before } = event.data
  if (key === undefined || after === undefined) return
  if (after === null) {
    model.nodes.delete(key)
    return
  }
  const known = model.nodes.get(key)
  const isSameStatus = known !== undefined && statusOf(before) === statusOf(after)
  const statusSince = isSameStatus ? known.statusSince : event.time
  model.nodes.set(key, toRow({ ...after, account: accountOf(event), statusSince }))
}

/** Troubles in which nothing new is learned of the nodes, though the daemon answers. */
const blindTroubles = new Set(["account-refused", "service-failing", "other-account", "sweeps-late", "store-failing"])

/**
 * The accounts whose nodes may have changed unseen, each with the instant of which its nodes are shown. What an earlier run left is
 * from before the daemon began (`isBefore`). `lostMillis`: since when the daemon cannot be reached.
 */
export const staleAccounts = ({ accounts, startedAt, troubles }, lostMillis) => {
  const stale = new Map()
  for (const { account, lastSweep } of accounts) {
    if (lastSweep === null) {
      stale.set(account, { atMillis: Date.parse(startedAt), isBefore: true })
      continue
    }
    const blind = troubles.filter(
      ({ about, name }) => blindTroubles.has(name) && (about.kind === "daemon" || about.name === account)
    )
    const instants = blind.map(({ since }) => Date.parse(since))
    if (blind.length > 0) instants.push(Date.parse(lastSweep.endedAt))
    if (lostMillis !== undefined) instants.push(lostMillis)
    if (instants.length > 0) stale.set(account, { atMillis: Math.min(...instants), isBefore: false })
  }
  return stale
}

// ---- what is shown

export const columns = [
  { name: "name", title: "Name", value: (node) => (node.sortName ??= sortable(node.name.toLowerCase())) },
  { name: "account", title: "Account", value: ({ account }) => account },
  { name: "status", title: "Status", value: ({ status }) => statusOrder(status) },
  { name: "plan", title: "Plan", value: ({ plan }) => plan ?? "" },
  { name: "address", title: "Address", value: ({ privateIp, publicIp }) => sortable(publicIp ?? privateIp ?? "") },
  { name: "age", title: "Age", value: ({ createdMillis }) => -createdMillis },
  { name: "price", title: "Per month", value: (node) => priceOf(node).atLeast ?? -1 }
]

/** `web-9` before `web-10`, `10.0.0.9` before `10.0.0.10`. */
const sortable = (text) => text.replace(/\d+/g, (digits) => digits.padStart(12, "0"))

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

/** Nodes that were created and deleted since then. */
export const comingsAndGoings = (account, fromMillis) => {
  const counts = { created: 0, deleted: 0 }
  for (const event of model.events) {
    if (Date.parse(event.time) < fromMillis || (account !== "" && accountOf(event) !== account)) continue
    if (event.type === "berth.node.created") counts.created += 1
    if (event.type === "berth.node.deleted") counts.deleted += 1
  }
  return counts
}

/** The source of what is about no account. */
export const ofTheDaemon = "/accounts/_daemon"

/** The events of an account and of the daemon itself, or of all. */
export const shownEvents = (account) =>
  account === ""
    ? model.events
    : model.events.filter((event) => event.source === ofTheDaemon || accountOf(event) === account)

/** The nodes to show, in order. `status` and `account` are empty for all. */
export const shownNodes = ({ account, filter, sort: { by, isDescending }, status }) => {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  const rows = []
  for (const node of model.nodes.values()) {
    if (account !== "" && node.account !== account) continue
    if (status !== "" && node.status !== status) continue
    if (words.every((word) => textOf(node).includes(word))) rows.push(node)
  }
  const { value } = columns.find(({ name }) => name === by)
  const sign = isDescending ? -1 : 1
  return rows
    .map((node) => [value(node), node])
    .sort(([a, nodeA], [b, nodeB]) => sign * compare(a, b) || nodeA.id - nodeB.id)
    .map(([, node]) => node)
}

/** How many nodes have each status. */
export const countsByStatus = (nodes) => {
  const counts = new Map()
  for (const { status } of nodes) counts.set(status, (counts.get(status) ?? 0) + 1)
  return counts
}

/** What the nodes cost per month by plan, at least, in rupees; and how many have no single known price, so that they may cost more. */
export const costsOf = (nodes) => {
  const costs = new Map()
  let unpriced = 0
  for (const node of nodes) {
    const { atLeast, isExact } = priceOf(node)
    if (!isExact) unpriced++
    // In paise, whose sums are exact.
    if (atLeast !== null) costs.set(node.plan, (costs.get(node.plan) ?? 0) + Math.round(atLeast * 100))
  }
  return { costs: new Map(Array.from(costs, ([plan, paise]) => [plan, paise / 100])), unpriced }
}

/** What the events in the page show of a node's past: its changes of status, and since when none is missing. */
export const pastOf = ({ key }) => ({ changes: model.changes.get(key) ?? [], eventsSince: model.eventsSince })

const knownSinceOf = (node, { changes, eventsSince }) =>
  Math.max(node.createdMillis, changes.length === 0 ? (node.sinceMillis ?? node.createdMillis) : eventsSince)

/** Histories are no shorter than this. */
const minHistoryMillis = 60_000

/** Where histories of a time begin: with that time, or with the first thing that is known of any of these nodes. */
export const historyBegin = (nodes, spanMillis, toMillis, past = pastOf) => {
  let first = toMillis - minHistoryMillis
  for (const node of nodes) first = Math.min(first, knownSinceOf(node, past(node)))
  return Math.max(first, toMillis - spanMillis)
}

/** The statuses of a node since `fromMillis`, one after the other: nothing where none is known, or where it did not exist. */
export const historyOf = (node, past, fromMillis, toMillis) => {
  const { changes } = past
  const segments = []
  let at = Math.max(fromMillis, Math.min(knownSinceOf(node, past), toMillis))
  let status = changes.length === 0 ? node.status : changes[0].from
  for (const change of changes) {
    if (change.atMillis > at) {
      segments.push({ status, fromMillis: at, toMillis: change.atMillis })
      at = change.atMillis
    }
    status = change.to
  }
  segments.push({ status, fromMillis: at, toMillis })
  return segments.filter(({ fromMillis, status, toMillis }) => status !== null && toMillis > fromMillis)
}

/** The least width of a status in a strip. */
const minPercent = 1.2

/**
 * A history as parts of a strip, in percent of its width. The shortest status is wide enough to be seen; those before it give
 * way, so that a strip always ends in the status that the node has now.
 */
export const stripParts = (segments, fromMillis, toMillis) => {
  const percent = (millis) => ((millis - fromMillis) / (toMillis - fromMillis)) * 100
  const parts = []
  let next = 100
  for (const segment of segments.toReversed()) {
    const end = Math.min(next, Math.max(percent(segment.toMillis), minPercent))
    const begin = Math.max(0, Math.min(percent(segment.fromMillis), end - minPercent))
    parts.unshift({ status: segment.status, begin, end })
    next = begin
  }
  return parts
}
