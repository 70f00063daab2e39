// The tiles above the nodes: how many, what they cost, how the watching goes; and the sinks below them.
import { isolated, make, paintRows, plain, setText, tag } from "@berth/web/rows.js"
import { comingsAndGoings, costsOf, countsByStatus, maxKeptEvents, model, now, staleAccounts } from "./model.js"
import {
  asOfText,
  boundText,
  countText,
  instantText,
  isLow,
  pluralText,
  priceText,
  shareOf,
  spanText,
  statusOrder,
  toneOfStatus
} from "./wording.js"

const at = (id) => document.getElementById(id)

/** Plans that are named beside the price; the rest is one sum. */
const maxPlans = 4

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
  setText(at("recent"), `${countText(created)} created, ${countText(deleted)} deleted ${time}`)
}

/** Of when the numbers are, where they may be old. */
export const paintAsOf = (account, stale) => {
  const shown = [...stale].filter(([name]) => account === "" || name === account)
  const oldest = shown.length === 0 ? "" : asOfText(Math.min(...shown.map(([, millis]) => millis)), now())
  const isPart = shown.length < shownAccounts(account).length
  setText(at("as-of"), isPart && shown.length > 0 ? `in part ${oldest}` : oldest)
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
  setText(at("total"), areUnknown ? "–" : countText(nodes.length))
  paintBar(
    at("statuses-bar"),
    statuses.map(({ count, name }) => [`fill ${toneOfStatus(name)}`, count])
  )
  paintRows(
    at("statuses"),
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
  const named = plans.slice(0, maxPlans)
  const rest = plans.slice(maxPlans)
  if (rest.length > 0) named.push({ name: pluralText(rest.length, "other plan"), price: sumOf(rest) })
  setText(at("cost"), areKnown ? boundText({ atLeast: sumOf(plans), isExact: unpriced === 0 }) : "–")
  const note = `at least: ${pluralText(unpriced, "node")} without one known price`
  setText(at("unpriced"), areKnown && unpriced > 0 ? note : "")
  paintBar(
    at("costs-bar"),
    named.map(({ price }, index) => [`fill plan-${index}`, price])
  )
  paintRows(
    at("costs"),
    named.map((plan, index) => ({ ...plan, index })),
    ({ name }) => name,
    ({ index, name, price }) =>
      make("li", {
        children: [
          make("i", { className: `fill plan-${index}` }),
          isolated(name),
          " ",
          make("b", { text: priceText(price) })
        ]
      })
  )
}

// ---- accounts

const stateTones = {
  starting: "warm",
  watching: "good",
  degraded: "bad",
  frozen: "warm",
  up: "good",
  failing: "bad",
  down: "bad",
  disabled: "bad",
  removed: "off"
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
  return Object.assign(make("div", { className: "meter", children: [fill] }), {
    role: "meter",
    ariaLabel: "Allowance left",
    ariaValueMin: "0",
    ariaValueMax: String(limit),
    ariaValueNow: String(remaining)
  })
}

const fact = (name, value, className = "") => {
  const text = make("dd", { className, text: value })
  return make("div", { children: [make("dt", { text: name }), text] })
}

const accountRow = ({ account, allowance, detectionLatencyMillis, state }) => {
  const head = make("p", {
    className: "account-head",
    children: [isolated(account), " ", tag(state, stateTones[state])]
  })
  const facts = make("dl", {
    children: [
      fact("Next sweep", "–", "next-sweep"),
      fact("Last sweep", "–", "last-sweep"),
      fact("Detection latency", detectionLatencyMillis === null ? "–" : spanText(detectionLatencyMillis))
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
  return make("li", { children: [...children, facts] })
}

const nextSweepText = ({ nextSweepAt }, isStale) => {
  if (nextSweepAt === null) return "–"
  const millis = until(nextSweepAt)
  return millis < 500 ? (isStale ? "being tried" : "under way") : `in ${spanText(millis)}`
}

const lastSweepText = ({ lastSweep }, isStale) =>
  lastSweep === null
    ? "none yet"
    : `${isStale ? `${instantText(Date.parse(lastSweep.endedAt), now())}, ` : ""}${spanText(-until(lastSweep.endedAt))} ago`

const refillText = ({ allowance }) =>
  allowance === null || allowance.resetAt === null || until(allowance.resetAt) < 0
    ? ""
    : ` · refills in ${spanText(until(allowance.resetAt))}`

const shownAccounts = (account) =>
  model.status.accounts.filter((status) => account === "" || status.account === account)

/** What of an account changes with time alone is painted by `paintTimes`. */
export const paintAccounts = (account) => {
  const accounts = shownAccounts(account)
  at("accounts").classList.toggle("compact", accounts.length > 1)
  paintRows(
    at("accounts"),
    accounts.map(({ account, allowance, detectionLatencyMillis, state }) => ({
      account,
      allowance: allowance && { limit: allowance.limit, remaining: allowance.remaining },
      detectionLatencyMillis,
      state
    })),
    ({ account }) => account,
    accountRow
  )
  paintTimes(account)
}

export const paintTimes = (account) => {
  const stale = staleAccounts(model.status)
  shownAccounts(account).forEach((status, index) => {
    const row = at("accounts").children[index]
    const isStale = stale.has(status.account)
    setText(row.querySelector(".next-sweep"), nextSweepText(status, isStale))
    setText(row.querySelector(".last-sweep"), lastSweepText(status, isStale))
    row.classList.toggle("stale", isStale)
    const refill = row.querySelector(".refill")
    if (refill !== null) setText(refill, refillText(status))
  })
}

// ---- sinks

const sinkRow = ({ deadLetters, failingSince, kind, lag, message, sink, state, waiting }, onDo) => {
  // All are there, so that none of them moves under a finger.
  const act = (verb, text, isOffered) => {
    const button = make("button", { type: "button", className: "quiet small", hidden: !isOffered, text })
    button.ariaLabel = `${text} ${sink}`
    button.onclick = () => onDo(sink, verb)
    return button
  }
  const actions = [
    act("enable", "Enable", state === "disabled"),
    act("retry", "Retry now", state !== "removed" && (deadLetters > 0 || waiting > 0)),
    act("dead", "Dead letters", deadLetters > 0),
    act("test", "Test", state !== "removed"),
    act("remove", "Remove", state === "removed")
  ]
  const stateTag = tag(state, stateTones[state])
  const name = make("th", { scope: "row", children: [isolated(sink), " ", make("small", { text: kind })] })
  const number = (title, value) => {
    const cell = make("td", { className: value > 0 ? "number some" : "number", text: countText(value) })
    cell.dataset.title = title
    return cell
  }
  const since = make("td", {
    className: failingSince === null ? "since none" : "since",
    text: failingSince === null ? "–" : instantText(Date.parse(failingSince), now())
  })
  since.dataset.title = "Failing since"
  const reason = [" ", make("small", { text: plain(message ?? "") })]
  return make("tr", {
    children: [
      name,
      make("td", { className: "state", children: [stateTag, ...reason] }),
      number("Lag", lag),
      number("Waiting", waiting),
      number("Dead letters", deadLetters),
      since,
      make("td", { className: "actions", children: actions })
    ]
  })
}

export const paintSinks = (sinks, onDo) => {
  if (sinks.length === 0) {
    const none = () =>
      make("tr", { children: [make("td", { className: "empty", colSpan: 7, text: "No sinks are configured." })] })
    paintRows(at("sinks"), [{}], () => "none", none)
    return
  }
  const today = new Date(now()).toDateString()
  paintRows(
    at("sinks"),
    sinks.map((sink) => ({ ...sink, today })),
    ({ sink }) => sink,
    (sink) => sinkRow(sink, onDo)
  )
}
