// The parts of the page, each shown from what the control plane has replied.
import { empty, isolated, make, paintRows, plain, plainLines, setText, tag } from "@berth/web/rows.js"

export const byId = (id) => document.getElementById(id)

/** Nodes on one page of them. */
export const pageSize = 100

/** Requests that are shown of a journal. */
export const maxEntries = 100

/** Worlds in the list; a suite that never deletes its own makes ten thousand. */
const maxWorlds = 50

export const readable = (instant) => instant.replace("T", " ").replace(/\.?0*Z$/, "")

const count = (number) => number.toLocaleString("en")

const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`

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
    ({ id }) => id,
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
    ({ id }) => id,
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

export const showClock = ({ allowance, clock: mode, now, savedImages }) => {
  clock = { mode, now, readAt: performance.now() }
  paintClock()
  setText(byId("mode"), mode === "frozen" ? "stands still" : mode === "real" ? "runs" : `runs ${mode}`)
  const { algorithm, limit, remaining, resetAt } = allowance
  paintRows(
    byId("facts"),
    [
      ["Allowance", `${count(remaining)} of ${count(limit)}`],
      ["Refills", readable(resetAt)],
      ["Rate limit", algorithm],
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

const nodeRow = ({ createdAt, forced, id, locked, name, plan, status }) => {
  const tags = [tag(status, tones.get(status))]
  if (forced) tags.push(" ", tag("forced"))
  if (locked) tags.push(" ", tag("locked"))
  const cells = [[String(id)], [isolated(name)], tags, [plan], [readable(createdAt)]]
  return make("tr", { children: cells.map((children) => make("td", { children })) })
}

export const showNodes = (nodes, total, skip) => {
  const last = skip + nodes.length
  setText(
    byId("node-count"),
    total <= pageSize ? count(total) : `${count(skip + 1)} to ${count(last)} of ${count(total)}`
  )
  byId("previous").disabled = skip === 0
  byId("next").disabled = last >= total
  byId("previous").parentElement.hidden = total <= pageSize
  const none = () => make("tr", { children: [make("td", { className: "empty", colSpan: 5, text: "No nodes." })] })
  if (nodes.length === 0) paintRows(byId("nodes"), [{}], () => "none", none)
  else paintRows(byId("nodes"), nodes, ({ id }) => id, nodeRow)
}

/** The fields of a fault as it was armed: `status 503 · every 3 · operation nodes.list`. */
const optionsOf = ({ scope, ...options }) =>
  Object.entries({ ...options, ...scope })
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ")

const faultRow = ({ fault, fired, id: _id, seen, ...armed }) => {
  const children = [make("strong", { text: fault }), ` fired at ${count(fired)} of ${plural(seen, "request")}`]
  const options = optionsOf(armed)
  if (options !== "") children.push(make("code", { text: plain(options) }))
  return make("li", { children })
}

export const showFaults = (faults) => {
  setText(byId("fault-count"), faults.length === 0 ? "" : String(faults.length))
  byId("disarm").hidden = faults.length === 0
  if (faults.length > 0) {
    const numbered = faults.map((fault, index) => [index, fault])
    paintRows(
      byId("faults"),
      numbered,
      ([index]) => index,
      ([, fault]) => faultRow(fault)
    )
  } else {
    paintRows(
      byId("faults"),
      [{}],
      () => "none",
      () => empty("None: everything answers as it should.")
    )
  }
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

/** A body, and how much of it is not shown. */
const bodyText = (title, text, bytes) => [
  make("p", { text: bytes === undefined ? `${title}:` : `${title}, the beginning of ${count(bytes)} bytes:` }),
  make("pre", { text: plainLines(indented(text)) })
]

const entryRow = (entry) => {
  const { at, body, bodyBytes, change, durationMillis, faults, headers, method, operation, path, query } = entry
  const { reply, replyBytes, seq, status } = entry
  const search = new URLSearchParams(query).toString()
  const what = [isolated(search === "" ? path : `${path}?${search}`)]
  for (const name of faults) what.push(" ", tag(name, "bad"))
  if (change !== undefined) what.push(" ", tag(`the world was ${change}`, "warm"))
  const summary = make("summary", {
    children: [
      make("span", { className: "at", text: readable(at) }),
      make("span", { className: "method", text: plain(method) }),
      make("span", { children: [tag(status === null ? "none" : String(status), toneOf(status))] }),
      make("span", { className: "what", children: what })
    ]
  })
  const facts = [`Request ${seq}`, operation ?? "no operation", `answered in ${count(durationMillis)} ms of world time`]
  if (status === null) facts[2] = "a fault let no reply be made"
  const details = [make("p", { text: facts.join(" · ") })]
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  if (lines.length > 0) details.push(...bodyText("Headers", lines.join("\n")))
  if (body === null || body === "") details.push(make("p", { text: "No body." }))
  else details.push(...bodyText("Body", body, bodyBytes))
  if (reply !== null && reply !== "") details.push(...bodyText("Reply", reply, replyBytes))
  return make("li", { children: [make("details", { children: [summary, ...details] })] })
}

/** `name` is the heading. Entries come the oldest first, and are shown the latest first. */
export const showJournal = (name, { count: total, requests }) => {
  setText(byId("journal-name"), name)
  const isPart = requests.length < total
  setText(
    byId("journal-count"),
    isPart ? `latest ${requests.length} of ${count(total)}` : total === 0 ? "" : count(total)
  )
  if (requests.length === 0)
    paintRows(
      byId("journal"),
      [{}],
      () => "none",
      () => empty("No requests yet.")
    )
  else paintRows(byId("journal"), requests.toReversed(), ({ seq }) => seq, entryRow)
}
