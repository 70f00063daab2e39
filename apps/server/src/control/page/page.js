// What runs on the page at /_mock/: it reads the control plane, follows the journal as it is written, and advances the
// clock. All it shows comes from the control plane.

const pageSize = 100
const maxEntries = 100
const tokenKey = "berth-control-token"

const state = { world: decodeURIComponent(location.hash.slice(1)) || "default", skip: 0, listening: null, entries: [] }

const byId = (id) => document.getElementById(id)

/** An element with text, which is never markup. */
const make = (tag, { children = [], text, ...properties } = {}) => {
  const element = Object.assign(document.createElement(tag), properties)
  if (text !== undefined) element.textContent = text
  element.append(...children)
  return element
}

// ---- the control plane

class Refused extends Error {}

const ask = async (path, { body, method = "GET", ...options } = {}) => {
  const headers = { accept: "application/json" }
  const token = sessionStorage.getItem(tokenKey)
  if (token !== null) headers.authorization = `Bearer ${token}`
  if (body !== undefined) headers["content-type"] = "application/json"
  const reply = await fetch(`/_mock${path}`, { method, headers, body: body && JSON.stringify(body), ...options })
  if (reply.ok) return reply
  if (reply.status === 401) {
    sessionStorage.removeItem(tokenKey)
    byId("token-form").hidden = false
  }
  const failure = await reply.json().catch(() => undefined)
  const [detail] = Object.values(failure?.errors ?? {}).flat()
  throw Object.assign(new Refused(detail ?? failure?.message ?? `The server answered ${reply.status}.`), {
    status: reply.status
  })
}

const read = async (path) => (await ask(path)).json()

const worldPath = (path = "") => `/worlds/${encodeURIComponent(state.world)}${path}`

const showTrouble = (message) => {
  byId("trouble").hidden = message === undefined
  byId("trouble").textContent = message ?? ""
}

const connection = (name, text) => {
  byId("connection").dataset.state = name
  byId("connection").textContent = text
}

// ---- what is shown

/** Replaces the children of an element only when they change, so that nothing under a finger or a cursor jumps. */
const show = (element, value, childrenOf) => {
  const key = JSON.stringify(value)
  if (element.shown === key) return
  element.shown = key
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined
  element.replaceChildren(...childrenOf(value))
  if (focused !== undefined) element.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus()
}

const empty = (text) => make("li", { className: "empty", text })

const readable = (instant) => instant.replace("T", " ").replace(/\.?0*Z$/, "")

const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`

const showWorlds = (worlds) =>
  show(byId("worlds"), [state.world, worlds.map(({ id, nodes, seed }) => [id, seed, nodes])], ([current, rows]) =>
    rows.map(([id, seed, nodes]) => {
      const button = make("button", {
        type: "button",
        ariaCurrent: String(id === current),
        onclick: () => choose(id),
        children: [id, make("small", { text: `seed ${seed} · ${plural(nodes, "node")}` })]
      })
      button.dataset.key = id
      return make("li", { children: [button] })
    })
  )

const showClock = ({ allowance, clock, now, savedImages, seed }) => {
  byId("now").textContent = readable(now)
  byId("now").dateTime = now
  byId("mode").textContent = clock === "frozen" ? "stands still" : clock === "real" ? "runs" : `runs ${clock}`
  const { algorithm, limit, remaining, resetAt } = allowance
  show(
    byId("facts"),
    [
      ["Allowance", `${remaining} of ${limit} left, ${algorithm}`],
      ["Refills", readable(resetAt)],
      ["Seed", String(seed)],
      ["Saved images", String(savedImages)]
    ],
    (facts) => facts.flatMap(([name, value]) => [make("dt", { text: name }), make("dd", { text: value })])
  )
}

const tones = { running: "good", created: "warm", terminate: "bad" }

const showNodes = (nodes, count) => {
  const last = state.skip + nodes.length
  byId("node-count").textContent =
    count <= pageSize ? String(count) : `${state.skip + 1} to ${last} of ${count.toLocaleString("en")}`
  byId("previous").disabled = state.skip === 0
  byId("next").disabled = last >= count
  byId("previous").parentElement.hidden = count <= pageSize
  show(byId("nodes"), nodes, (rows) =>
    rows.length === 0
      ? [make("tr", { children: [make("td", { className: "empty", colSpan: 5, text: "No nodes." })] })]
      : rows.map(({ createdAt, forced, id, locked, name, plan, status }) => {
          const tags = [make("span", { className: `tag ${tones[status] ?? ""}`, text: status })]
          if (forced) tags.push(" ", make("span", { className: "tag", text: "forced" }))
          if (locked) tags.push(" ", make("span", { className: "tag", text: "locked" }))
          const cells = [String(id), name, tags, plan, readable(createdAt)]
          return make("tr", { children: cells.map((cell) => make("td", { children: [cell].flat() })) })
        })
  )
}

const showFaults = (faults) => {
  byId("fault-count").textContent = faults.length === 0 ? "" : String(faults.length)
  byId("disarm").hidden = faults.length === 0
  show(byId("faults"), faults, (armed) =>
    armed.length === 0
      ? [empty("None: everything answers as it should.")]
      : armed.map(({ fault, fired, seen, ...options }) => {
          const text = JSON.stringify(options)
          const children = [make("strong", { text: fault }), ` fired at ${fired} of ${plural(seen, "request")}`]
          if (text !== "{}") children.push(make("code", { text }))
          return make("li", { children })
        })
  )
}

const toneOf = (status) => (status === null || status >= 500 ? "bad" : status >= 400 ? "warm" : "good")

const showJournal = () => {
  const { entries } = state
  byId("journal-count").textContent = entries.length === 0 ? "" : `latest ${entries.length}`
  show(byId("journal"), entries, (latest) =>
    latest.length === 0
      ? [empty("No requests yet.")]
      : latest.map(({ at, faults, method, path, query, status }) => {
          const search = new URLSearchParams(query).toString()
          const what = [search === "" ? path : `${path}?${search}`]
          for (const name of faults) what.push(" ", make("span", { className: "tag bad", text: name }))
          return make("li", {
            children: [
              make("span", { className: "at", text: readable(at) }),
              make("span", { text: method }),
              make("span", {
                children: [
                  make("span", { className: `tag ${toneOf(status)}`, text: status === null ? "none" : status })
                ]
              }),
              make("span", { className: "what", children: what })
            ]
          })
        })
  )
}

// ---- reading it

let reading
let again = false

/** Reads everything that is shown. Asked for while it reads, it reads once more. */
const refresh = async () => {
  if (reading !== undefined) {
    again = true
    return reading
  }
  reading = readAll()
  await reading
  reading = undefined
  if (!again) return
  again = false
  return refresh()
}

const readAll = async () => {
  try {
    const worlds = await read("/worlds")
    const asked = state.world
    if (!worlds.some(({ id }) => id === asked)) return choose(worlds[0].id)
    const [nodes, faults] = await Promise.all([
      read(worldPath(`/nodes?skip=${state.skip}&count=${pageSize}`)),
      read(worldPath("/faults"))
    ])
    if (state.world !== asked) return
    const world = worlds.find(({ id }) => id === asked)
    document.querySelector("main").hidden = false
    byId("token-form").hidden = true
    showWorlds(worlds)
    showClock(world)
    showNodes(nodes, world.nodes)
    showFaults(faults)
    if (state.listening === null) listen()
  } catch (error) {
    connection("lost", error instanceof Refused ? "refused" : "no connection")
    if (error.status === 401) document.querySelector("main").hidden = true
  }
}

/** Adds an entry unless it is there; the latest stands first. */
const addEntry = (entry) => {
  if (state.entries.some(({ seq }) => seq === entry.seq)) return
  state.entries = [entry, ...state.entries].sort((a, b) => b.seq - a.seq).slice(0, maxEntries)
}

/** Reads the journal as it is written. Not an EventSource, which could not show the token. */
const listen = async () => {
  const listening = new AbortController()
  state.listening = listening
  try {
    const stream = await ask(`/events?world=${encodeURIComponent(state.world)}`, { signal: listening.signal })
    connection("live", "live")
    const { requests } = await read(worldPath(`/requests?limit=${maxEntries}`))
    if (state.listening !== listening) return
    requests.forEach(addEntry)
    showJournal()
    let text = ""
    for await (const chunk of stream.body.pipeThrough(new TextDecoderStream())) {
      const events = (text + chunk).split("\n\n")
      text = events.pop()
      for (const event of events) {
        const data = /^data: ?(.*)$/m.exec(event)?.[1]
        if (data !== undefined && /^event: request$/m.test(event)) addEntry(JSON.parse(data))
      }
      showJournal()
      void refresh()
    }
  } catch {
    // The next refresh reports the fault, or listens again.
  }
  if (state.listening !== listening) return
  state.listening = null
  connection("lost", "no connection")
}

const choose = (id) => {
  state.listening?.abort()
  Object.assign(state, { world: id, skip: 0, listening: null, entries: [] })
  location.hash = encodeURIComponent(id)
  byId("happened").textContent = ""
  showTrouble()
  showJournal()
  return refresh()
}

// ---- what can be done

const act = async (action) => {
  try {
    await action()
    showTrouble()
  } catch (error) {
    showTrouble(error instanceof Refused ? error.message : "The server cannot be reached.")
  }
  await refresh()
}

const moveClock = (body) =>
  act(async () => {
    const { events, now } = await (await ask(worldPath("/clock"), { method: "POST", body })).json()
    byId("happened").textContent =
      events === undefined
        ? `Now ${readable(now)}.`
        : events.length === 0
          ? "Nothing is to come."
          : `${events.map(({ kind, nodeId }) => (nodeId === undefined ? kind : `${kind} of ${nodeId}`)).join(", ")}.`
  })

byId("advance-form").onsubmit = (event) => {
  event.preventDefault()
  void moveClock({ advance: byId("advance").value })
}
byId("next-event").onclick = () => moveClock({ advanceTo: "next-event" })
byId("disarm").onclick = () => act(() => ask(worldPath("/faults"), { method: "DELETE" }))
byId("token-form").onsubmit = (event) => {
  event.preventDefault()
  sessionStorage.setItem(tokenKey, byId("token").value)
  byId("token").value = ""
  void refresh()
}
const turnPage = (by) => {
  state.skip = Math.max(0, state.skip + by)
  void refresh()
}
byId("previous").onclick = () => turnPage(-pageSize)
byId("next").onclick = () => turnPage(pageSize)
onhashchange = () => {
  const id = decodeURIComponent(location.hash.slice(1)) || "default"
  if (id !== state.world) void choose(id)
}

// Time passes without requests, too.
setInterval(() => document.hidden || void refresh(), 2000)
showJournal()
void refresh()
