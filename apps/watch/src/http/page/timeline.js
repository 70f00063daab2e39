// Events as sentences, with what was before and after.
import { sentenceOf } from "../../events/sentences.js"
import { empty, isolated, make, paintRows, plain, tag } from "@berth/web/rows.js"
import { accountOf, model, nodeKeyOf, now } from "./model.js"
import { dayText, minuteText, nameText, statusText, toneOfStatus, wholeInstantText } from "./wording.js"

/** Events in the timeline; the log has them all. */
const maxShownEvents = 100

const nodeNameOf = ({ data, subject }) => nameText(data.after?.name ?? data.before?.name ?? subject ?? "")

const statusTag = (status) => tag(plain(statusText(status)), toneOfStatus(statusText(status)))

const meaningOf = (event) => {
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
  const name = key === undefined ? [] : [make("strong", { children: [isolated(nodeNameOf(event))] }), " "]
  const account = isSeveral ? [" ", make("small", { children: [isolated(accountOf(event))] })] : []
  const summary = make("summary", {
    children: [time, make("span", { className: "what", children: [...name, ...meaning, ...account] })]
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

/** Shows events, the latest first. */
export const paintEvents = (parent, events, { emptyText = "No events yet.", isSeveral = false, onNode } = {}) => {
  const latest = events.slice(-maxShownEvents).reverse()
  if (latest.length === 0) {
    paintRows(
      parent,
      [emptyText],
      () => "none",
      () => empty(emptyText)
    )
    return
  }
  // Events never change, and are large: what a row depends on is little.
  const byKey = new Map(latest.map((event) => [`${event.id} ${event.source} ${event.sequence} ${event.time}`, event]))
  paintRows(
    parent,
    Array.from(byKey.keys(), (key) => ({ key, isSeveral })),
    ({ key }) => key,
    ({ key }) => eventRow(byKey.get(key), { isSeveral, onNode })
  )
}
