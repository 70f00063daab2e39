// The parts of the page, each shown from what the control plane has replied.
import { empty, isolated, make, paintRows, plain, plainLines, setText, tag } from "@berthkit/web/rows.js"

export const byId = (id) => document.getElementById(id)

/** Nodes on one page of them. */
export const pageSize = 100

/** Requests that are shown of a journal. */
export const maxEntries = 100

/** Requests that a journal keeps, and a filter searches. */
export const maxKept = 1000

/** Worlds in the list; a suite that never deletes its own makes ten thousand. */
const maxWorlds = 50

export const readable = (instant) => instant.replace("T", " ").replace(/\.?0*Z$/, "")

const count = (number) => number.toLocaleString("en")

const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`

const idOf = ({ id }) => id

export const showTrouble = (message) => {
  byId("trouble").hidden = message === undefined
  setText(byId("trouble"), message ?? "")
}

/** A row for each value, or where there is none a text. */
const paintList = (name, values, rowOf, none, { keyOf = idOf, noneRow = empty } = {}) =>
  values.length === 0
    ? paintRows(byId(name), [none], (text) => text, noneRow)
    : paintRows(byId(name), values, keyOf, rowOf)

// ---- worlds

export const addressOf = (id) => `#${encodeURIComponent(id)}`

const worldRow = ({ details, id, isShown }) => {
  const link = make("a", { href: addressOf(id), children: [isolated(id), make("small", { text: details })] })
  if (isShown) link.ariaCurrent = "page"
  return make("li", { children: [link] })
}

/** The main world, then the newest first, and always the one that is shown. */
export const showWorlds = ({ ended, living }, shown) => {
  const newest = [...living.slice(0, 1), ...living.slice(1).toReversed()]
  const listed = newest.filter(({ id }, index) => index < maxWorlds || id === shown)
  setText(byId("worlds-count"), count(living.length))
  paintRows(
    byId("worlds"),
    listed.map(({ id, nodes, seed }) => {
      return { id, details: `seed ${seed} · ${plural(nodes, "node")}`, isShown: id === shown }
    }),
    idOf,
    worldRow
  )
  const hidden = living.length - listed.length
  byId("worlds-rest").hidden = hidden === 0
  setText(byId("worlds-rest"), `${plural(hidden, "older world")}: name one in the address, as in #w1.`)
  byId("ended").hidden = ended.length === 0
  paintRows(
    byId("ended-worlds"),
    ended.map(({ count: requests, ended: { reason }, id }) => {
      return { id, details: `${reason} · ${plural(requests, "request")}`, isShown: id === shown }
    }),
    idOf,
    worldRow
  )
}

/** What became of the world, in place of what can be done with it, and where to go on. */
export const showNotice = (notice) =>
  paintRows(
    byId("notice"),
    notice === undefined ? [] : [notice],
    () => "",
    ({ sentence, text, worlds }) => {
      const links = worlds.map((id) => make("a", { href: addressOf(id), children: [isolated(id)] }))
      return make("div", {
        children: [
          make("strong", { text: sentence }),
          make("p", { text }),
          ...(links.length === 0 ? [] : [make("p", { className: "offers", children: ["Go to ", ...links] })])
        ]
      })
    }
  )

// ---- the clock

const rates = { frozen: 0, real: 1 }

const rateOf = (mode) => rates[mode] ?? Number(mode.slice(1))

let clock

/** A clock that runs is shown by the second, and goes on between two replies. */
export const paintClock = () => {
  if (clock === undefined) return
  const { mode, now, readAt } = clock
  const rate = rateOf(mode)
  const passed = (performance.now() - readAt) * rate
  const instant = rate === 0 ? now : new Date(Math.floor((Date.parse(now) + passed) / 1000) * 1000).toISOString()
  setText(byId("now"), readable(instant))
  byId("now").dateTime = instant
}

/** `3600000 millis` as a person writes it. */
export const durationText = (text) => {
  const millis = Number.parseInt(text, 10)
  const units = [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1000]
  ]
  const [name, size] = units.find(([, size]) => millis >= size && millis % size === 0) ?? ["milli", 1]
  return plural(millis / size, name)
}

export const showClock = ({ allowance, clock: mode, now, savedImages }) => {
  clock = { mode, now, readAt: performance.now() }
  paintClock()
  setText(byId("mode"), mode === "frozen" ? "stands still" : mode === "real" ? "runs" : `runs ${mode}`)
  for (const button of document.querySelectorAll("#modes button")) button.ariaPressed = String(button.value === mode)
  const { algorithm, limit, remaining, resetAt, window } = allowance
  paintRows(
    byId("facts"),
    [
      ["Allowance", `${count(remaining)} of ${count(limit)}`],
      ["Refills", readable(resetAt)],
      ["Rate limit", `${count(limit)} per ${durationText(window).replace(/^1 /, "")}, ${algorithm}`],
      ["Saved images", String(savedImages)]
    ],
    ([name]) => name,
    ([name, value]) => make("div", { children: [make("dt", { text: name }), make("dd", { text: value })] })
  )
}

// ---- nodes and faults

const tones = new Map([
  ["running", "good"],
  ["created", "warm"],
  ["terminate", "bad"]
])

/** A button of a row, which is named with what it is about. */
const rowButton = (text, about, onclick) =>
  make("button", { type: "button", className: "quiet small", text, ariaLabel: `${text} ${plain(about)}`, onclick })

const nodeRow = (node, onChange) => {
  const { createdAt, forced, id, location, locked, name, plan, project, status } = node
  const tags = [tag(status, tones.get(status))]
  if (forced) tags.push(" ", tag("forced"))
  if (locked) tags.push(" ", tag("locked"))
  const cells = [
    ["id", String(id)],
    ["name", isolated(name)],
    ["status", ...tags],
    ["plan", location === undefined ? plan : `${plan} · ${location}, project ${project}`],
    ["created", readable(createdAt)],
    ["act", rowButton("Change", name, () => onChange(node))]
  ]
  return make("tr", { children: cells.map(([className, ...children]) => make("td", { className, children })) })
}

export const showNodes = (nodes, total, skip, onChange) => {
  const last = skip + nodes.length
  setText(
    byId("node-count"),
    total <= pageSize ? count(total) : `${count(skip + 1)} to ${count(last)} of ${count(total)}`
  )
  byId("previous").disabled = skip === 0
  byId("next").disabled = last >= total
  byId("previous").parentElement.hidden = total <= pageSize
  const noneRow = (text) => make("tr", { children: [make("td", { className: "empty", colSpan: 6, text })] })
  paintList("nodes", nodes, (node) => nodeRow(node, onChange), "No nodes.", { noneRow })
}

/** The fields of a fault as it was armed: `status 503 · every 3 · operation nodes.list`. */
const optionsOf = ({ scope, ...options }) =>
  Object.entries({ ...options, ...scope })
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ")

const faultRow = ({ fault, fired, id, seen, ...armed }, onDisarm) => {
  const text = [make("strong", { text: fault }), ` fired at ${count(fired)} of ${plural(seen, "request")}`]
  const options = optionsOf(armed)
  if (options !== "") text.push(make("code", { text: plain(options) }))
  return make("li", { children: [make("div", { children: text }), rowButton("Disarm", id, () => onDisarm(id))] })
}

export const showFaults = (faults, onDisarm) => {
  setText(byId("fault-count"), faults.length === 0 ? "" : String(faults.length))
  byId("disarm").hidden = faults.length === 0
  paintList("faults", faults, (fault) => faultRow(fault, onDisarm), "None: everything answers as it should.")
}

// ---- the journal

const toneOf = (status) => (status === null || status >= 500 ? "bad" : status >= 400 ? "warm" : "good")

const indented = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** A text in full, and how much of it is not shown. */
const bodyText = (title, text, bytes) => [
  make("p", { text: bytes === undefined ? title : `${title}, the beginning of ${count(bytes)} bytes` }),
  make("pre", { text: plainLines(indented(text)), tabIndex: 0 })
]

const headerText = (headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n")

/** One side of a request: its headers, and its body or why there is none to show. */
const side = (name, headers, body, bytes, otherwise) => {
  const parts = [make("h3", { text: name })]
  const lines = headerText(headers)
  if (lines !== "") parts.push(...bodyText("Headers", lines))
  if (body === null || body === "") parts.push(make("p", { text: otherwise }))
  else parts.push(...bodyText("Body", body, bytes))
  return make("div", { children: parts })
}

const searchOf = (query) => {
  const search = new URLSearchParams(query).toString()
  return search === "" ? "" : `?${search}`
}

const entryRow = (entry) => {
  const { at, body, bodyBytes, change, durationMillis, faults, headers, method, operation, path, query } = entry
  const { reply, replyBytes, replyHeaders, seq, status } = entry
  const what = [isolated(`${path}${searchOf(query)}`)]
  for (const name of faults) what.push(" ", tag(name, "bad"))
  if (change !== undefined) what.push(" ", tag(`the world was ${change}`, "warm"))
  const took = status === null ? "–" : `${count(durationMillis)} ms`
  const summary = make("summary", {
    children: [
      make("span", { className: "at", text: readable(at) }),
      make("span", { className: "method", text: plain(method) }),
      make("span", { children: [tag(status === null ? "none" : String(status), toneOf(status))] }),
      make("span", { className: "what", children: what }),
      make("span", { className: "took", text: took })
    ]
  })
  const facts = [`Request ${seq}`, operation ?? "no operation", `answered in ${count(durationMillis)} ms of world time`]
  if (status === null) facts[2] = "a fault prevented the reply"
  const noReply = status === null ? "None." : reply === "" ? "No body." : "The body of a success is not kept."
  const sides = make("div", {
    className: "sides",
    children: [
      side("Request", headers, body, bodyBytes, "No body."),
      side(status === null ? "Reply" : `Reply ${status}`, replyHeaders, reply, replyBytes, noReply)
    ]
  })
  const parts = change === undefined ? [make("p", { text: facts.join(" · ") }), sides] : []
  return make("li", { children: [make("details", { children: [summary, ...parts] })] })
}

/** All that a reader may search for in a request. */
const textOf = ({ body, faults, headers, method, operation, path, query, reply, replyHeaders, status }) =>
  [
    `${method} ${path}${searchOf(query)}`,
    ...Object.entries(query).map(([name, value]) => `${name}=${value}`),
    operation,
    status,
    ...faults,
    headerText(headers),
    body,
    headerText(replyHeaders),
    reply
  ].join("\n")

const statusFilters = new Map([
  ["2xx", ({ status }) => status >= 200 && status < 300],
  ["4xx", ({ status }) => status >= 400 && status < 500],
  ["5xx", ({ status }) => status >= 500],
  ["none", ({ status }) => status === null],
  ["fault", ({ faults }) => faults.length > 0]
])

export const isFiltering = ({ operation, status, text }) => operation !== "" || status !== "" || text !== ""

/** Whether a filter lets a request through. Entries about the world as a whole are no requests. */
const letsThrough = ({ operation, status, text }) => {
  const wanted = text.toLowerCase()
  return (entry) =>
    entry.change === undefined &&
    (operation === "" || entry.operation === operation) &&
    (status === "" || statusFilters.get(status)(entry)) &&
    (wanted === "" || textOf(entry).toLowerCase().includes(wanted))
}

/** How many requests there are, and which of them are shown. */
const journalCount = (isFiltered, matching, shown, requests, total) => {
  const latest = (number) => `latest ${count(number)} of ${count(total)}`
  if (total === 0) return ""
  if (!isFiltered) return shown < total ? latest(shown) : count(total)
  const searched = requests < total ? latest(requests) : plural(total, "request")
  return `${count(matching)} of the ${searched}${shown < matching ? `: the last ${shown} are shown` : ""}`
}

/** Entries come the oldest first, and are shown the latest first. */
export const showJournal = ({ count: total, requests }, filter, isLiving) => {
  setText(byId("journal-name"), isLiving ? "Journal" : "Last journal")
  const isFiltered = isFiltering(filter)
  const matching = isFiltered ? requests.filter(letsThrough(filter)) : requests
  const shown = matching.slice(-maxEntries)
  setText(byId("journal-count"), journalCount(isFiltered, matching.length, shown.length, requests.length, total))
  const none =
    requests.length > 0
      ? "No request matches the filter."
      : isLiving
        ? "No requests yet. Those with the credentials of this world appear here as they come."
        : "There are none."
  paintList("journal", shown.toReversed(), entryRow, none, { keyOf: ({ seq }) => seq })
}
