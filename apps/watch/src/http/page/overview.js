// The tiles above the nodes: how many, what they cost, how the watching goes, and the sinks.
import { isolated, make, paintRows, plain, setText, tag } from "@berthkit/web/rows.js"
import { comingsAndGoings, costsOf, countsByStatus, maxKeptEvents, model, now, staleAccounts } from "./model.js"
import { byId, fact, smallButton } from "./parts.js"
import {
  asOfText,
  boundText,
  countText,
  instantText,
  isLow,
  pluralText,
  priceText,
  shareOf,
  shortText,
  spanText,
  statusOrder,
  toneOfStatus
} from "./wording.js"

const segment = (tone, share) => {
  const part = make("span", { className: tone })
  part.style.flexGrow = String(share)
  return part
}

const paintBar = (parent, parts) => {
  const shown = parts.filter(([, share]) => share > 0)
  parent.hidden = shown.length === 0
  parent.replaceChildren(...shown.map(([tone, share]) => segment(tone, share)))
}

/** What came and went within the time that histories show, or as far back as the page knows all of it. */
export const paintRecent = (account, spanMillis) => {
  const fromMillis = now() - spanMillis
  const isPart = model.events.length >= maxKeptEvents && model.eventsSince > fromMillis
  const { created, deleted } = comingsAndGoings(account, isPart ? model.eventsSince : fromMillis)
  const time = isPart ? `since ${instantText(model.eventsSince, now())}` : `in the last ${spanText(spanMillis)}`
  setText(byId("recent"), `${countText(created)} created, ${countText(deleted)} deleted ${time}`)
}

/** Of when the numbers are, where they may be old. */
export const paintAsOf = (nodes, stale) => {
  const accounts = [...new Set(nodes.map(({ account }) => account))]
  const old = accounts.filter((account) => stale.has(account))
  const isAll = old.length > 0 && old.length === accounts.length
  byId("total").closest("section").classList.toggle("old", isAll)
  if (old.length === 0) return setText(byId("as-of"), "")
  const [oldest] = old.map((account) => stale.get(account)).sort((a, b) => a.atMillis - b.atMillis)
  const whose = old.length === 1 ? plain(old[0]) : pluralText(old.length, "account")
  const from = oldest.isBefore ? "from " : ""
  setText(byId("as-of"), `${isAll ? "All of it" : `Nodes of ${whose}`} ${from}${asOfText(oldest, now())}`)
}

/**
 * `areUnknown`: no account was read yet, so that none is no number of nodes. `onStatus` is called with the status that is to be
 * shown alone, or with the one that is.
 */
export const paintTotals = (nodes, { areUnknown, shownStatus, onStatus }) => {
  const counts = countsByStatus(nodes)
  // It can be taken back when the last of its nodes has gone on.
  if (shownStatus !== "" && !counts.has(shownStatus)) counts.set(shownStatus, 0)
  const statuses = Array.from(counts, ([name, count]) => ({ name, count })).sort(
    (a, b) => statusOrder(a.name) - statusOrder(b.name)
  )
  setText(byId("total"), areUnknown ? "–" : countText(nodes.length))
  paintBar(
    byId("statuses-bar"),
    statuses.map(({ count, name }) => [`fill ${toneOfStatus(name)}`, count])
  )
  paintRows(
    byId("statuses"),
    statuses.map(({ count, name }) => ({ count, name, isShown: name === shownStatus })),
    ({ name }) => name,
    ({ count, isShown, name }) => {
      const button = make("button", {
        type: "button",
        children: [
          make("i", { className: `fill ${toneOfStatus(name)}` }),
          `${plain(name)} `,
          make("b", { text: countText(count) })
        ]
      })
      button.ariaPressed = String(isShown)
      button.onclick = () => onStatus(name)
      return make("li", { children: [button] })
    }
  )
  paintCosts(nodes)
}

const paintCosts = (nodes) => {
  const { costs, unpriced } = costsOf(nodes)
  const areKnown = model.prices.size > 0
  const plans = Array.from(costs, ([name, price]) => ({ name, price })).sort((a, b) => b.price - a.price)
  const sumOf = (some) => some.reduce((sum, { price }) => sum + price, 0)
  setText(byId("cost"), areKnown ? boundText({ atLeast: sumOf(plans), isExact: unpriced === 0 }) : "–")
  const note = `at least: ${pluralText(unpriced, "node")} without one known price`
  setText(byId("unpriced"), areKnown && unpriced > 0 ? note : "")
  byId("by-plan").hidden = plans.length === 0
  paintRows(
    byId("costs"),
    plans,
    ({ name }) => name,
    ({ name, price }) => make("li", { children: [isolated(name), " ", make("b", { text: priceText(price) })] })
  )
}

// ---- accounts

const stateTones = {
  starting: "warm",
  watching: "good",
  degraded: "bad",
  frozen: "warm",
  up: "good",
  retrying: "warm",
  failing: "bad",
  down: "bad",
  disabled: "bad",
  removed: "off",
  paused: "off",
  stopped: "off"
}

/** As bad as the worst that is wrong with it. */
const toneOf = (kind, name, state) => {
  const troubles = model.status.troubles.filter(({ about }) => about.kind === kind && about.name === name)
  if (troubles.length === 0) return stateTones[state]
  return troubles.some(({ severity }) => severity === "critical") ? "bad" : "warm"
}

const until = (instant) => Date.parse(instant) - now()

/** Less than this share of the allowance is little. */
const littleShare = 0.2

const gauge = (allowance) => {
  const { limit, remaining } = allowance
  const share = shareOf(allowance)
  const tone = isLow(allowance) ? "bad" : share < littleShare ? "warm" : "good"
  const fill = make("span", { className: `fill ${tone}` })
  fill.style.width = `${share * 100}%`
  return make("div", {
    className: "meter",
    children: [fill],
    role: "meter",
    ariaLabel: "Allowance left",
    ariaValueMin: "0",
    ariaValueMax: String(limit),
    ariaValueNow: String(remaining)
  })
}

const accountRow = ({ account, allowance, detectionLatencyMillis, state, tone }) => {
  const head = make("p", {
    className: "account-head",
    children: [isolated(account), " ", tag(state, tone)]
  })
  const facts = make("dl", {
    children: [
      fact("Next sweep", ["–"], "next-sweep"),
      fact("Last sweep", ["–"], "last-sweep"),
      fact("Detection latency", [detectionLatencyMillis === null ? "–" : spanText(detectionLatencyMillis)])
    ]
  })
  const children = [head]
  if (allowance !== null) {
    const left = `${countText(allowance.remaining)} of ${countText(allowance.limit)} requests left`
    children.push(
      make("div", {
        className: "gauge",
        children: [gauge(allowance), make("p", { children: [left, make("span", { className: "refill" })] })]
      })
    )
  }
  const row = make("li", { children: [...children, facts] })
  row.dataset.account = account
  return row
}

const nextSweepText = ({ nextSweepAt, state }) => {
  const millis = until(nextSweepAt)
  return millis < 500 ? (state === "degraded" ? "being tried" : "under way") : `in ${spanText(millis)}`
}

const isElsewhere = ({ owner }) => owner?.isHere === false

/** What other processes swept is known to the minute. */
export const lastSweepText = (status, isStale) => {
  const { lastSweep } = status
  if (lastSweep === null) return "no sweep yet"
  const millis = Date.parse(lastSweep.endedAt)
  const age = spanText(now() - millis)
  if (isStale) return `${shortText(millis, now())} · ${age}`
  return isElsewhere(status) ? `at most ${age} ago` : `${age} ago`
}

const refillText = ({ allowance }) =>
  allowance === null || allowance.resetAt === null || until(allowance.resetAt) < 0
    ? ""
    : ` · refills in ${spanText(until(allowance.resetAt))}`

/** Those in trouble first: there is not room for many. */
const shownAccounts = (account) =>
  model.status.accounts
    .filter((status) => account === "" || status.account === account)
    .sort((a, b) => Number(a.state === "watching") - Number(b.state === "watching"))

/** What of an account changes with time alone is painted by `paintTimes`. */
export const paintAccounts = (account) => {
  const accounts = shownAccounts(account)
  byId("accounts").classList.toggle("compact", accounts.length > 1)
  paintRows(
    byId("accounts"),
    accounts.map(({ account, allowance, detectionLatencyMillis, state }) => ({
      account,
      allowance: allowance && { limit: allowance.limit, remaining: allowance.remaining },
      detectionLatencyMillis,
      state,
      tone: toneOf("account", account, state)
    })),
    ({ account }) => account,
    accountRow
  )
  paintTimes(account)
}

/** `lostMillis`: since when the daemon cannot be reached; what it does next is not known then. */
export const paintTimes = (account, lostMillis) => {
  const stale = staleAccounts(model.status, lostMillis)
  // Accounts that were just read are not painted yet.
  const rows = new Map([...byId("accounts").children].map((row) => [row.dataset.account, row]))
  for (const status of shownAccounts(account).filter(({ account }) => rows.has(account))) {
    const row = rows.get(status.account)
    const isStale = stale.get(status.account)?.isBefore === false
    const isPlanned = status.nextSweepAt !== null && lostMillis === undefined
    setText(row.querySelector(".next-sweep"), isPlanned ? nextSweepText(status) : "–")
    setText(row.querySelector(".last-sweep"), lastSweepText(status, isStale))
    row.classList.toggle("stale", isStale || (status.lastSweep === null && status.state === "degraded"))
    row.classList.toggle("elsewhere", isElsewhere(status))
    const refill = row.querySelector(".refill")
    if (refill !== null) setText(refill, refillText(status))
  }
}

// ---- sinks

/** What there is to know of a sink beside its state. It is never empty, for else the rows below would move. */
const sinkNote = ({ deadLetters, failingSince, lag, message, silenced, state, waiting }) => {
  const parts = [
    ...(message === null ? [] : [plain(message)]),
    ...(failingSince === null ? [] : [`since ${shortText(Date.parse(failingSince), now())}`]),
    ...(lag > 0 ? [`lag ${countText(lag)}`] : []),
    ...(waiting > 0 ? [`${countText(waiting)} waiting`] : []),
    ...(silenced > 0 ? [`${countText(silenced)} held by silences`] : []),
    ...(deadLetters > 0 ? [pluralText(deadLetters, "dead letter")] : [])
  ]
  if (parts.length > 0) return parts.join(" · ")
  return state === "removed" ? "not in the config any more" : "up to date"
}

const sinkRow = (status, onDo) => {
  const { deadLetters, kind, sink, state, tone, waiting } = status
  // All are there, so that none of them moves under a finger.
  const act = (verb, text, isOffered) =>
    Object.assign(
      smallButton(text, `${text} ${sink}`, () => onDo(sink, verb)),
      { hidden: !isOffered }
    )
  const actions = [
    act("enable", "Enable", state === "disabled"),
    act("retry", "Retry now", state !== "removed" && (deadLetters > 0 || waiting > 0)),
    act("dead", "Dead letters", deadLetters > 0),
    act("test", "Test", state !== "removed"),
    act("remove", "Remove", state === "removed")
  ]
  const name = make("strong", { children: [isolated(sink)] })
  const row = make("li", {
    children: [
      make("p", { className: "sink-name", children: [name, " ", make("small", { text: kind })] }),
      tag(state, tone),
      make("div", { className: "actions", children: actions }),
      make("p", { className: "note", text: sinkNote(status) })
    ]
  })
  row.dataset.sink = sink
  return row
}

const noSinks = "No sinks are configured: events are kept and shown here, and go nowhere else."
const noSinksNext = "Name a webhook or a command under sinks in the config, then send SIGHUP."

export const paintSinks = (sinks, onDo) => {
  if (sinks.length === 0) {
    const none = () =>
      make("li", { className: "empty", children: [make("p", { text: noSinks }), make("p", { text: noSinksNext })] })
    paintRows(byId("sinks"), [{}], () => "none", none)
    return
  }
  const today = new Date(now()).toDateString()
  paintRows(
    byId("sinks"),
    sinks.map((sink) => ({ ...sink, today, tone: toneOf("sink", sink.sink, sink.state) })),
    ({ sink }) => sink,
    (sink) => sinkRow(sink, onDo)
  )
}

/** Brings a sink into sight, with the focus on the first thing that can be done about it. */
export const toSink = (name) => {
  const row = [...byId("sinks").children].find(({ dataset }) => dataset.sink === name)
  row?.scrollIntoView({ block: "nearest" })
  row?.querySelector("button:not([hidden])")?.focus()
}
