// Events as sentences, with what was before and after.
import { sentenceOf } from "../../events/sentences.js"
import { isolated, make, plain, setText, tag } from "@berthkit/web/rows.js"
import { accountOf, model, nodeKeyOf, now, ofTheDaemon } from "./model.js"
import { byId, paintRowsOrNone } from "./parts.js"
import { dayText, minuteText, nameText, pluralText, statusText, toneOfStatus, wholeInstantText } from "./wording.js"

/** Events that are shown at first, and how many more when their reader has come to the end of them. */
const eventsAtOnce = 100

const nodeNameOf = ({ data, subject }) => nameText(data.after?.name ?? data.before?.name ?? subject ?? "")

/** The name of the node that an event is about, before what happened to it. */
export const nodeTitle = (event) =>
  nodeKeyOf(event) === undefined ? [] : [make("strong", { children: [isolated(nodeNameOf(event))] }), " "]

const statusTag = (status) => tag(plain(statusText(status)), toneOfStatus(statusText(status)))

export const meaningOf = (event) => {
  if (event.type === "berth.node.status_changed") {
    const from = make("span", { className: "from", text: plain(statusText(event.data.from)) })
    return [toneOfStatus(statusText(event.data.to)), from, " → ", statusTag(event.data.to)]
  }
  const { text, tone } = sentenceOf(event)
  return [tone, plain(text)]
}

const fieldText = (value) =>
  value === null || value === undefined ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value)

/** The fields in which two records differ, or all of the only one. */
const differences = (before, after) => {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names
    .map((name) => [name, fieldText(before?.[name]), fieldText(after?.[name])])
    .filter(([, from, to]) => from !== to)
}

const change = ([name, from, to]) =>
  make("tr", {
    children: [
      make("th", { scope: "row", text: name }),
      make("td", { children: [isolated(from)] }),
      make("td", { children: [isolated(to)] })
    ]
  })

const head = make("thead", {
  children: [
    make("tr", {
      children: ["Field", "Before", "After"].map((text) => make("th", { scope: "col", text }))
    })
  ]
})

const detailsOf = (event) => {
  const { after, before, observedBetween } = event.data
  const parts = []
  if (before !== undefined || after !== undefined) {
    const body = make("tbody", { children: differences(before, after).map(change) })
    parts.push(make("table", { children: [head.cloneNode(true), body] }))
  }
  if (observedBetween !== undefined) {
    const [from, to] = observedBetween.map((instant) => wholeInstantText(Date.parse(instant)))
    parts.push(make("p", { text: from === to ? `Observed at ${to}.` : `Between ${from} and ${to}.` }))
  }
  const afterGap = event.data.afterGap === true ? " · first after a gap" : ""
  parts.push(make("p", { text: `${event.type} · ${accountOf(event)} ${Number(event.sequence)}${afterGap}` }))
  return parts
}

const eventRow = (event, { isSeveral, onNode }) => {
  const [tone, ...meaning] = meaningOf(event)
  const key = nodeKeyOf(event)
  const millis = Date.parse(event.time)
  const day = dayText(millis, now())
  const time = make("time", { dateTime: event.time, text: minuteText(millis) })
  if (day !== undefined) time.append(make("small", { text: day }))
  time.title = wholeInstantText(millis)
  const account =
    isSeveral && event.source !== ofTheDaemon ? [" ", make("small", { children: [isolated(accountOf(event))] })] : []
  const summary = make("summary", {
    children: [time, make("span", { className: "what", children: [...nodeTitle(event), ...meaning, ...account] })]
  })
  const details = make("details", { children: [summary] })
  // Most are never opened.
  details.ontoggle = () => {
    if (!details.open || details.childElementCount > 1) return
    details.append(...detailsOf(event))
    if (key === undefined || onNode === undefined) return
    const more = make("button", { type: "button", className: "quiet", text: "Show the node" })
    more.onclick = () => onNode(key)
    details.append(more)
  }
  return make("li", { className: millis > model.readMillis ? `${tone} new` : tone, children: [details] })
}

/** Shows the last `count` events, the latest first. */
export const paintEvents = (parent, events, options = {}) => {
  const {
    count = eventsAtOnce,
    emptyText = "No events yet. Changes to the nodes appear here as they happen.",
    isSeveral = false,
    onNode
  } = options
  const latest = events.slice(-count).reverse()
  // Events never change, and are large: what a row depends on is little.
  const today = new Date(now()).toDateString()
  const byKey = new Map(latest.map((event) => [`${event.id} ${event.source} ${event.sequence} ${event.time}`, event]))
  paintRowsOrNone(
    parent,
    Array.from(byKey.keys(), (key) => ({ key, isSeveral, today })),
    ({ key }) => key,
    ({ key }) => eventRow(byKey.get(key), { isSeveral, onNode }),
    emptyText
  )
}

// ---- the timeline

const eventList = byId("events")
const newsButton = byId("news")

const timeline = {
  /** What was there when its reader scrolled: while they read, nothing moves. */
  held: undefined,
  /** The latest event that is shown. */
  last: undefined,
  count: eventsAtOnce
}

export const paintTimeline = (events, options) => {
  if (eventList.scrollTop === 0) Object.assign(timeline, { held: undefined, count: eventsAtOnce })
  else timeline.held ??= events.slice(0, events.lastIndexOf(timeline.last) + 1)
  const shown = timeline.held ?? events
  timeline.last = shown.at(-1)
  const news = events.length - 1 - events.lastIndexOf(timeline.last)
  newsButton.hidden = timeline.held === undefined || news === 0
  setText(newsButton, `↑ ${pluralText(news, "new event")}`)
  paintEvents(eventList, shown, { ...options, count: timeline.count })
}

export const toLatestEvents = () => {
  timeline.held = undefined
  eventList.scrollTop = 0
}

/** `onScroll` is called when the timeline is to be painted anew. */
export const startTimeline = ({ onScroll }) => {
  newsButton.onclick = () => {
    toLatestEvents()
    onScroll()
    eventList.querySelector("summary")?.focus()
  }
  const note = () => {
    const isAtEnd = eventList.scrollTop + eventList.clientHeight > eventList.scrollHeight - eventList.clientHeight
    if (eventList.scrollTop === 0 && timeline.held !== undefined) return onScroll()
    if (!isAtEnd || eventList.childElementCount < timeline.count) return
    timeline.count += eventsAtOnce
    onScroll()
  }
  eventList.addEventListener("scroll", note, { passive: true })
}
