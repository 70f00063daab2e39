// What the page does: it reads everything once, follows the events from there, and paints what its reader asks to see.
import { make, setText } from "@berthkit/web/rows.js"
import {
  ask,
  follow,
  isLost,
  isSilent,
  lostMillis,
  noteLink,
  readNodes,
  refusal,
  Refused,
  showConnection
} from "./connection.js"
import {
  hideDetails,
  noteEvent,
  openDetails,
  paintDetails,
  setDetailsSpan,
  showAddress,
  startDetails
} from "./details.js"
import {
  columns,
  addNodes,
  forgetNodes,
  maxKeptEvents,
  model,
  now,
  setEvents,
  setPrices,
  shownEvents,
  shownNodes,
  staleAccounts,
  takeEvent
} from "./model.js"
import { focusNodes, markSort, paintNodes, refreshRows, startNodes } from "./nodeRows.js"
import {
  hideDeadLetters,
  maxDeadLetters,
  paintDeadLetters,
  replyAboutDeadLetter,
  sinkOfDeadLetters
} from "./deadLetters.js"
import { paintFleet, paintFleetTimes } from "./fleet.js"
import { byId, paintChoices } from "./parts.js"
import { paintAccounts, paintAsOf, paintRecent, paintSinks, paintTimes, paintTotals, toSink } from "./overview.js"
import "./scheme.js"
import { paintSpending, setCosts } from "./spending.js"
import {
  areSilencesShown,
  hideSilences,
  openSilences,
  paintSilenceLine,
  paintSilences,
  replyAboutSilence,
  startSilences
} from "./silences.js"
import { paintTimeline, startTimeline, toLatestEvents } from "./timeline.js"
import { paintTroubles, summaryOf, troublesOf } from "./troubles.js"
import { countText, pluralText } from "./wording.js"

/** Accounts and sinks have no events of their own. */
const statusEveryMillis = 5000

/** Money grows slowly. */
const costsEveryMillis = 60_000

/** Ages, histories. */
const refreshTimesMillis = 20_000

/** How long the daemon may take for accounts and sinks. */
const maxStatusMillis = 8000

/** How soon the page tries again to begin. */
const beginAgainMillis = 1500

/** A script cannot see the cookie; this notes that there is one. */
const sessionKey = "berth-watch-session"

const state = {
  account: "",
  filter: "",
  status: "",
  sort: { by: "name", isDescending: false },
  spanMillis: 86_400_000,
  unfollow: undefined,
  /** Of the tab while all is well. */
  title: "Berth watch",
  /** The accounts whose nodes are shown as old, as text. */
  stale: "[]",
  /** Whether the nodes are all there. */
  hasAll: false,
  isBegun: false,
  /** Behind the last event that came; nothing before all is read. */
  cursor: undefined
}

// ---- painting

const ofAccount = (nodes) => (state.account === "" ? nodes : nodes.filter(({ account }) => account === state.account))

const isTroubled = ({ account }) =>
  model.status.troubles.some(({ about }) => about.kind === "account" && about.name === account)

/** Why no node is shown, and what to do next. */
const emptySentences = (all) => {
  if (all.length > 0) return ["No node matches."]
  const accounts = model.status.accounts.filter(({ account }) => state.account === "" || account === state.account)
  const unswept = accounts.filter(({ lastSweep }) => lastSweep === null)
  if (accounts.length === 0) {
    return ["No account is configured.", "Name one under accounts in the config, then send SIGHUP."]
  }
  if (unswept.some(isTroubled)) return ["The nodes are not known yet: the reason is above."]
  if (unswept.length > 0) return ["No nodes yet.", "They appear here when the first sweep is complete."]
  const none = accounts.length === 1 ? "The account has no nodes." : "The accounts have no nodes."
  return [none, "Create one, for example with berth node create: it appears here by itself."]
}

const paintList = () => {
  const all = ofAccount([...model.nodes.values()])
  const shown = shownNodes(state)
  const areUnknown = all.length === 0 && model.status.accounts.every(({ lastSweep }) => lastSweep === null)
  paintTotals(all, { areUnknown, shownStatus: state.status, onStatus })
  paintRecent(state.account, state.spanMillis)
  const part = shown.length === all.length ? "" : `${countText(shown.length)} of ${countText(all.length)}`
  setText(byId("shown"), state.hasAll ? part : "reading all of them")
  const stale = staleAccounts(model.status, lostMillis())
  paintNodes(shown, { spanMillis: state.spanMillis, stale })
  paintAsOf(all, stale)
  markSort(state.sort)
  byId("scroll").hidden = shown.length === 0
  byId("no-nodes").hidden = shown.length > 0
  const [text, next = ""] = emptySentences(all)
  setText(byId("no-nodes-text"), text)
  setText(byId("no-nodes-next"), next)
  byId("show-all").hidden = all.length === 0
  state.title = areUnknown ? "Berth watch" : `${pluralText(all.length, "node")} · Berth watch`
  paintTroublesNow()
}

/** The nodes are shown as old from the moment on in which they are. */
const ageNodes = () => {
  const stale = staleAccounts(model.status, lostMillis())
  if (JSON.stringify([...stale]) === state.stale) return
  state.stale = JSON.stringify([...stale])
  paintSoon()
}

/** A tab in the background shows by its title that something is wrong. */
const paintTroublesNow = () => {
  const troubles = troublesOf(state.account, lostMillis(), refusal())
  paintTroubles(troubles, state.account, toSink)
  const { text } = summaryOf(troubles, state.account, model.status)
  const title = troubles.length > 0 ? `⚠ ${text} · Berth watch` : state.title
  if (document.title !== title) document.title = title
}

const paintStatus = () => {
  const { accounts, sinks } = model.status
  byId("account-choice").hidden = accounts.length < 2
  byId("board").classList.toggle("several", accounts.length > 1)
  for (const option of byId("sort").querySelectorAll("[value^=account]")) option.hidden = accounts.length < 2
  const names = accounts.map(({ account }) => account)
  paintChoices(byId("account"), "All", names)
  state.account = byId("account").value
  paintAccounts(state.account)
  paintFleet(state.account)
  paintSinks(sinks, onSink)
  paintSilenceLine()
  paintTroublesNow()
  ageNodes()
}

let isPaintDue = false
let mayPaintAtMillis = 0

/** Painting takes a quarter of the time at most, so that a slow browser stays usable while much happens. */
const pausePerPaint = 3

/** Paints once for all that happens until then. */
const paintSoon = () => {
  if (isPaintDue) return
  isPaintDue = true
  setTimeout(() => requestAnimationFrame(paintAll), mayPaintAtMillis - performance.now())
}

const paintAll = () => {
  isPaintDue = false
  if (!state.isBegun) return
  const beginMillis = performance.now()
  paintList()
  const isSeveral = model.status.accounts.length > 1 && state.account === ""
  paintTimeline(shownEvents(state.account), { isSeveral, onNode: openDetails })
  paintDetails(staleAccounts(model.status, lostMillis()))
  const endMillis = performance.now()
  mayPaintAtMillis = endMillis + pausePerPaint * (endMillis - beginMillis)
}

// ---- reading

const askToLogIn = () => {
  beginning += 1
  stopFollowing()
  hideDetails()
  hideDeadLetters()
  hideSilences()
  state.isBegun = false
  byId("board").hidden = true
  byId("login").hidden = false
  byId("logout").hidden = true
  document.title = "Log in · Berth watch"
  localStorage.removeItem(sessionKey)
  showConnection("", "not logged in")
  byId("token").focus()
}

/** Prices are in no event before the first one of them changes. */
const readPrices = async () => {
  setPrices(await ask("/api/plans"))
  if (state.isBegun) paintSoon()
}

const readStatus = async () => {
  const status = await ask("/api/status", { maxMillis: maxStatusMillis })
  if (state.isBegun && model.prices.size === 0) await readPrices()
  model.aheadMillis = Date.parse(status.now) - Date.now()
  model.status = status
}

/** An older daemon has none of them: the page does without. */
const readCosts = async () => {
  const report = await ask("/api/cost").catch(() => undefined)
  if (report === undefined) return
  setCosts(report)
  if (state.isBegun) paintSpending(state.account)
}

/** Gives what does something once, a while after the first of several reasons for it. */
const soon = (millis, action) => {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      void action()
    }, millis)
  }
}

/** Reads what is spent, a while after nodes or prices changed. */
const readCostsSoon = soon(2000, readCosts)

/** Reads accounts and sinks, soon after something happened. */
const readStatusSoon = soon(300, () => refreshStatus())

let isStatusAsked = false

/** One at a time: a daemon that is slow is not asked again meanwhile. */
const refreshStatus = async () => {
  if (isStatusAsked || !state.isBegun) return
  isStatusAsked = true
  try {
    await readStatus()
    if (!state.isBegun) return
    // What was followed through the silence may have been cut without a sign.
    if (isSilent()) followOn()
    noteLink({ silence: undefined, refusal: undefined })
    paintStatus()
    if (areSilencesShown()) await refreshSilences()
  } catch (error) {
    if (!state.isBegun) return
    if (error instanceof Refused && error.status === 401) askToLogIn()
    else if (error instanceof Refused) noteLink({ silence: error.message, refusal: error.message })
    else noteLink({ silence: "the daemon does not answer", refusal: undefined })
  } finally {
    isStatusAsked = false
  }
}

const onEvent = ({ cursor, event }) => {
  state.cursor = cursor
  takeEvent(event)
  noteEvent(event)
  paintSoon()
  readStatusSoon()
  // The baseline names its nodes by number alone.
  if (event.type === "berth.watch.baseline") void begin()
  if (event.type.startsWith("berth.plan.")) readPrices().catch(() => {})
  if (/^berth\.(node|plan|cost)\./.test(event.type)) readCostsSoon()
}

const stopFollowing = () => {
  state.unfollow?.()
  Object.assign(state, { unfollow: undefined, cursor: undefined })
}

/** A hidden page follows nothing: a browser has few connections for one server. */
const followOn = () => {
  state.unfollow?.()
  state.unfollow = undefined
  if (document.hidden || state.cursor === undefined) return
  state.unfollow = follow(state.cursor, {
    onEvent,
    onOpen: () => {
      noteLink({ isFollowing: true, silence: undefined, refusal: undefined })
      void refreshStatus()
    },
    onLost: () => noteLink({ isFollowing: false }),
    onRefused: () => void begin()
  })
}

let beginning = 0

/** Reads everything and follows the events from there; again, when the daemon will not be followed from where the page was. */
const begin = async () => {
  const attempt = ++beginning
  stopFollowing()
  try {
    const pages = readNodes()
    const [, plans, first] = await Promise.all([readStatus(), ask("/api/plans"), pages.next()])
    if (attempt !== beginning) return
    const { cursor, isLast, nodes } = first.value
    setPrices(plans)
    forgetNodes()
    addNodes(nodes)
    Object.assign(state, { isBegun: true, hasAll: isLast })
    byId("login").hidden = true
    byId("board").hidden = false
    byId("logout").hidden = localStorage.getItem(sessionKey) === null
    paintStatus()
    paintList()
    void readCosts()
    showAddress()
    performance.mark("nodes-painted")
    for await (const page of pages) {
      if (attempt !== beginning) return
      addNodes(page.nodes)
    }
    state.hasAll = true
    if (!isLast) paintList()
    performance.mark("all-nodes-painted")
    const { events } = await ask(`/api/events?limit=${maxKeptEvents}`)
    if (attempt !== beginning) return
    setEvents(events)
    model.readMillis = now()
    refreshRows()
    paintSoon()
    state.cursor = cursor
    followOn()
  } catch (error) {
    if (attempt !== beginning) return
    if (error instanceof Refused && error.status === 401) return askToLogIn()
    if (state.isBegun) noteLink({ isFollowing: false })
    else showConnection("lost", error instanceof Refused ? error.message : "the daemon cannot be reached, trying again")
    setTimeout(() => void (attempt === beginning && begin()), beginAgainMillis)
  }
}

// ---- what its reader does

const onStatus = (status) => {
  state.status = state.status === status ? "" : status
  paintList()
}

const orderText = ({ by, isDescending }) => `${by} ${isDescending ? "descending" : "ascending"}`

const sortBy = (sort) => {
  state.sort = sort
  byId("sort").value = orderText(sort)
  paintList()
}

const onSort = (by) => sortBy({ by, isDescending: state.sort.by === by && !state.sort.isDescending })

const failureText = (error) => (error instanceof Refused ? error.message : "The daemon cannot be reached.")

const showDeadLetters = async (sink) => {
  const { deadLetters } = await ask(`${pathOfSink(sink)}/dead?limit=${maxDeadLetters}`)
  const count = model.status.sinks.find((each) => each.sink === sink)?.deadLetters ?? 0
  paintDeadLetters(sink, deadLetters, count, onRetryOne)
}

/** Has the daemon change something; `show` gets what came of it. Gives whether it did. */
const askFor = async (path, options, reply, show) => {
  try {
    await ask(path, { method: "POST", ...options })
    show(reply)
    return true
  } catch (error) {
    show(failureText(error))
    return false
  }
}

const pathOfSink = (sink) => `/api/sinks/${encodeURIComponent(sink)}`

const onRetryOne = async (sink, id) => {
  const path = `${pathOfSink(sink)}/dead/${encodeURIComponent(id)}/retry`
  await askFor(path, {}, `${sink} tries this event again now.`, replyAboutDeadLetter)
  await refreshStatus()
  if (sink === sinkOfDeadLetters()) await showDeadLetters(sink).catch(() => {})
}

const refreshSilences = async () => paintSilences((await ask("/api/silences")).silences, onEndSilence)

const showSilences = async () => {
  await refreshSilences()
  openSilences()
}

const silenced = async (reply, path, body) => {
  const isDone = await askFor(path, { body }, reply, replyAboutSilence)
  void refreshStatus()
  return isDone
}

const onEndSilence = (id, then) =>
  silenced("The silence is over.", `/api/silences/${encodeURIComponent(id)}/end`, then === undefined ? {} : { then })

const onAddSilence = (request) => silenced("The silence is added.", "/api/silences", request)

const replyAboutSink = (text) => setText(byId("sink-reply"), text)

/** What cannot be shown says why. */
const orReply = (shown) =>
  shown.catch((error) => {
    replyAboutSink(failureText(error))
    return refreshStatus()
  })

const onSink = async (sink, verb) => {
  if (verb === "dead") return orReply(showDeadLetters(sink))
  const replies = {
    enable: `${sink} is enabled.`,
    retry: `${sink} tries again now.`,
    test: `A test event went to ${sink}.`,
    remove: `${sink} is forgotten.`
  }
  const [path, options] =
    verb === "remove" ? [pathOfSink(sink), { method: "DELETE" }] : [`${pathOfSink(sink)}/${verb}`, {}]
  await askFor(path, options, replies[verb], replyAboutSink)
  await refreshStatus()
}

byId("show-silences").onclick = () => orReply(showSilences())

byId("filter").oninput = ({ target }) => {
  state.filter = target.value
  paintList()
}
byId("show-all").onclick = () => {
  Object.assign(state, { filter: "", status: "" })
  byId("filter").value = ""
  paintList()
  byId("filter").focus()
}
byId("filter").onkeydown = (event) => {
  if (event.key !== "ArrowDown" && event.key !== "Enter") return
  event.preventDefault()
  focusNodes()
}
const orders = columns.flatMap(({ name, title }) => [
  { by: name, isDescending: false, title },
  { by: name, isDescending: true, title: `${title}, descending` }
])
byId("sort").replaceChildren(...orders.map((each) => make("option", { value: orderText(each), text: each.title })))
byId("sort").onchange = ({ target }) => {
  const [by, order] = target.value.split(" ")
  sortBy({ by, isDescending: order === "descending" })
}
byId("span").onchange = ({ target }) => {
  state.spanMillis = Number(target.value) * 1000
  setDetailsSpan(state.spanMillis)
  paintList()
}
byId("account").onchange = ({ target }) => {
  state.account = target.value
  toLatestEvents()
  paintStatus()
  paintAll()
  paintSpending(state.account)
}
byId("login").onsubmit = async (event) => {
  event.preventDefault()
  try {
    await ask("/api/session", { method: "POST", body: { token: byId("token").value.trim() } })
    byId("token").value = ""
    setText(byId("login-trouble"), "")
    localStorage.setItem(sessionKey, "")
    await begin()
  } catch (error) {
    setText(byId("login-trouble"), failureText(error))
  }
}
byId("logout").onclick = async () => {
  await ask("/api/session", { method: "DELETE" }).catch(() => {})
  askToLogIn()
}

document.onkeydown = (event) => {
  const isDialogOpen = document.querySelector("dialog[open]") !== null
  const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || isDialogOpen) return
  event.preventDefault()
  byId("filter").focus()
}

onpopstate = () => {
  if (state.isBegun) showAddress()
}

setDetailsSpan(state.spanMillis)
startDetails({ onClosed: () => byId("rows").contains(document.activeElement) && focusNodes() })
startNodes({ onOpen: openDetails, onSort })
startSilences({ onAdd: onAddSilence })
startTimeline({ onScroll: paintSoon })
/** What changes with time alone. */
const refreshTimes = () => {
  if (!state.isBegun || document.hidden) return
  refreshRows()
  paintSoon()
}

document.onvisibilitychange = () => {
  followOn()
  refreshTimes()
  if (!document.hidden) void refreshStatus()
}

setInterval(() => void refreshStatus(), statusEveryMillis)
setInterval(() => {
  if (!state.isBegun || document.hidden) return
  if (isLost()) {
    paintTroublesNow()
    ageNodes()
  }
  byId("board").classList.toggle("lost", lostMillis() !== undefined)
  paintTimes(state.account, lostMillis())
  paintFleetTimes(lostMillis())
}, 500)
setInterval(refreshTimes, refreshTimesMillis)
setInterval(() => {
  if (state.isBegun && !document.hidden) void readCosts()
}, costsEveryMillis)
void begin()
