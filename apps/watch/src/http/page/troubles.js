// What is wrong at the moment, in one place above all else: the connection, and the troubles that the daemon reports.
import { isolated, make, paintRows, plain } from "@berthkit/web/rows.js"
import { model, now } from "./model.js"
import { byId } from "./parts.js"
import { countText, instantText, pluralText, shortText, spanText } from "./wording.js"

/** There is to be room for the nodes. */
const maxLines = 8

/** Accounts of the same trouble that are named. */
const maxNamed = 8

const unreachable = (lostMillis, refusal) => ({
  key: "daemon",
  tone: "bad",
  who: "",
  sink: null,
  what: refusal ?? "The daemon cannot be reached.",
  next:
    refusal === undefined
      ? "You see the state of that time. Look at its log, or start it again with berth-watch run; this page continues by itself."
      : "You see the state of that time. The daemon continues by itself when this is over, and so does the page.",
  sinceMillis: lostMillis,
  count: 1
})

const namesText = (troubles) => {
  const names = troubles.slice(0, maxNamed).map(({ about }) => about.name)
  const rest = troubles.length - names.length
  return names.join(", ") + (rest > 0 ? ` and ${rest} more` : "")
}

const anyInstant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

/** The daemon writes instants for programs; all others on the page are in the time zone of its reader. */
const inZone = (text) => text.replace(anyInstant, (instant) => instantText(Date.parse(instant), now()))

/** A service that is down is one trouble to look at, however many accounts are there. */
const lineOf = (alike) => {
  const [{ about, message, name, next, severity }] = alike
  return {
    key: `${name} ${alike.length === 1 ? about.name : message}`,
    tone: severity === "critical" ? "bad" : "warm",
    who: about.name === null ? "" : `${about.kind === "sink" ? "Sink " : ""}${namesText(alike)}`,
    sink: about.kind === "sink" ? about.name : null,
    what: inZone(message),
    next,
    sinceMillis: Math.min(...alike.map(({ since }) => Date.parse(since))),
    count: alike.length
  }
}

/**
 * The worst first. `account` is empty for all; what is about no account is shown with each. `lostMillis`: since when nothing comes
 * in, and `refusal` what the daemon answers instead. `count` of a line is how many troubles it stands for.
 */
export const troublesOf = (account, lostMillis, refusal) => {
  const shown = model.status.troubles.filter(
    ({ about }) => account === "" || about.kind !== "account" || about.name === account
  )
  const groups = Map.groupBy(shown, ({ about, message, name }) =>
    about.kind === "account" ? `${name} ${message}` : `${name} ${about.name}`
  )
  return [
    ...(lostMillis === undefined ? [] : [unreachable(lostMillis, refusal)]),
    ...Array.from(groups.values(), lineOf)
  ]
}

const countOf = (lines) => lines.reduce((sum, { count }) => sum + count, 0)

const sinksSentence = (sinks) => {
  const { length } = sinks.filter(({ state }) => state !== "removed")
  if (length === 0) return ", but no sink is configured"
  if (length === 1) return ", and the sink takes its events"
  return `, and ${length === 2 ? "both" : `all ${countText(length)}`} sinks take their events`
}

/** How the daemon is, in a word or two and a sentence. `account` is empty for all. */
export const summaryOf = (lines, account, { accounts, sinks }) => {
  if (lines.length > 0) {
    const critical = countOf(lines.filter(({ tone }) => tone === "bad"))
    return {
      tone: critical > 0 ? "bad" : "warm",
      text: pluralText(countOf(lines), "problem"),
      note: critical > 0 && critical < countOf(lines) ? `${countText(critical)} critical` : ""
    }
  }
  const shown = accounts.filter((each) => account === "" || each.account === account)
  if (shown.length === 0) return { tone: "off", text: "Nothing is watched.", note: "" }
  const { length: unswept } = shown.filter(({ lastSweep, state }) => lastSweep === null && state !== "paused")
  if (unswept > 0) {
    const whose = shown.length === 1 ? "" : ` of ${pluralText(unswept, "account")}`
    return { tone: "off", text: "Starting.", note: `The first sweep${whose} is under way.` }
  }
  const retrying = sinks.filter(({ state }) => state === "retrying").map(({ sink }) => plain(sink))
  if (retrying.length > 0) {
    return {
      tone: "warm",
      text: "No problem yet.",
      note: `Deliveries to ${retrying.join(", ")} failed and are retried.`
    }
  }
  const read = shown.length === 1 ? "The account is" : `All ${countText(shown.length)} accounts are`
  return { tone: "good", text: "All well.", note: `${read} read on time${sinksSentence(sinks)}.` }
}

/** A line for each, and one for those that there is no room for. */
const linesOf = (troubles) => {
  const shown = troubles.length <= maxLines ? troubles : troubles.slice(0, maxLines - 1)
  const rest = countOf(troubles) - countOf(shown)
  const more = {
    key: "more",
    tone: "warm",
    who: "",
    sink: null,
    what: `${rest} more`,
    next: "Run berth-watch status to see all of them."
  }
  return [...shown, ...(rest > 0 ? [more] : [])]
}

/** The colour says it to those who see it. */
const severityOf = ({ tone }) => (tone === "bad" ? [make("span", { className: "unseen", text: "critical: " })] : [])

const whoOf = ({ sink, who }, onSink) => {
  if (who === "") return []
  if (sink === null) return [make("strong", { children: [isolated(who)] }), " "]
  const toSink = make("button", { type: "button", className: "link", children: [isolated(who)] })
  toSink.onclick = () => onSink(sink)
  return [toSink, " "]
}

/** How long it has lasted is not read out each time it changes. */
const sinceOf = ({ sinceMillis }, age) => {
  if (sinceMillis === undefined) return []
  const lasted = make("span", { text: ` · ${age}` })
  lasted.ariaHidden = "true"
  const dateTime = new Date(sinceMillis).toISOString()
  return [make("time", { dateTime, children: [`since ${shortText(sinceMillis, now())}`, lasted] })]
}

/** `onSink` is called with the sink to which its reader wants to go. */
export const paintTroubles = (troubles, account, onSink) => {
  const { note, text, tone } = summaryOf(troubles, account, model.status)
  const head = byId("troubles-head")
  head.className = tone
  paintRows(
    head,
    [
      ["strong", text],
      ["span", note]
    ].filter(([, each]) => each !== ""),
    ([name]) => name,
    ([name, each]) => make(name, { text: each })
  )
  paintRows(
    byId("trouble-rows"),
    linesOf(troubles).map((line) => ({
      ...line,
      age: line.sinceMillis === undefined ? "" : spanText(now() - line.sinceMillis)
    })),
    ({ key }) => key,
    (line) =>
      make("li", {
        className: `trouble ${line.tone}`,
        children: [
          make("p", { className: "what", children: [...severityOf(line), ...whoOf(line, onSink), plain(line.what)] }),
          make("p", { className: "next", text: plain(line.next) }),
          ...sinceOf(line, line.age)
        ]
      })
  )
}
