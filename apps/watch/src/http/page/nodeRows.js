// The nodes as rows, of which only those in sight are in the document: ten thousand cost as much as thirty.
import { isolated, make, plain, renew, setText, tag } from "@berthkit/web/rows.js"
import { columns, historyBegin, historyOf, model, now, pastOf, priceOf, stripParts } from "./model.js"
import { byId } from "./parts.js"
import { asOfText, beginText, boundText, nameText, spanText, toneOfStatus, wholeInstantText } from "./wording.js"

/** Rows beyond the edges, so that scrolling shows no gap. */
const overscan = 8

const list = byId("rows")
const viewport = byId("scroll")
const narrow = matchMedia("(max-width: 42rem)")

/** In the units of the style sheet, which follow the size of letters that the reader has chosen. */
const rowHeight = () => (narrow.matches ? 4.75 : 2.5625) * view.remPixels

const remPixels = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize)

const view = {
  nodes: [],
  spanMillis: 0,
  /** Where the histories begin. */
  fromMillis: 0,
  prices: undefined,
  /** Accounts of which nothing new is known, with the instant of which their nodes are shown. */
  stale: new Map(),
  active: undefined,
  onOpen: () => {},
  painted: new Map(),
  remPixels: remPixels()
}

const stripStops = (segments, fromMillis) => {
  const stops = []
  let end = "0"
  for (const part of stripParts(segments, fromMillis, now())) {
    const [begin, until] = [part.begin.toFixed(2), part.end.toFixed(2)]
    stops.push(`transparent ${end}% ${begin}%`, `var(--fill-${toneOfStatus(part.status)}) ${begin}% ${until}%`)
    end = until
  }
  stops.push(`transparent ${end}% 100%`)
  return stops.join(", ")
}

/** A bar with the statuses of a node from `fromMillis` until now. Behind `asOfMillis` nothing is known. */
export const makeStrip = (node, fromMillis, { asOfMillis = now(), past = pastOf(node) } = {}) => {
  const strip = make("span", { className: "strip" })
  strip.style.backgroundImage = `linear-gradient(to right, ${stripStops(historyOf(node, past, fromMillis, asOfMillis), fromMillis)})`
  const changes = past.changes.filter(({ atMillis }) => atMillis >= fromMillis).length
  strip.role = "img"
  strip.ariaLabel = `now ${node.status}, changes of status: ${changes}`
  return strip
}

const cell = (name, ...children) => {
  const element = make("span", { className: `cell ${name}`, children })
  element.role = "cell"
  // Where it goes on a narrow screen.
  element.style.setProperty("--area", name)
  return element
}

const ipOf = ({ privateIp, publicIp }) => publicIp ?? privateIp ?? "–"

const makeRow = (node) => {
  const open = make("button", { type: "button", className: "open", children: [isolated(nameText(node.name))] })
  open.tabIndex = -1
  open.title = plain(node.name)
  open.onclick = () => view.onOpen(node.key)
  const since = node.sinceMillis === null ? "" : `since ${wholeInstantText(node.sinceMillis)}`
  const status = tag(node.status, toneOfStatus(node.status))
  status.title = since
  const stale = view.stale.get(node.account)
  const asOf = stale === undefined ? [] : [" ", make("small", { text: asOfText(stale, now()) })]
  const row = make("div", {
    className: stale === undefined ? "row" : "row stale",
    children: [
      cell("name", open, make("small", { text: String(node.id) })),
      cell("account", isolated(node.account)),
      cell("status", status, ...asOf),
      Object.assign(cell("plan", isolated(node.plan ?? "–")), { title: plain(node.plan ?? "") }),
      cell("address", ipOf(node)),
      cell("age", make("span", { text: spanText(now() - node.createdMillis) })),
      cell("price", boundText(priceOf(node))),
      cell("history", makeStrip(node, view.fromMillis, { asOfMillis: stale?.atMillis }))
    ]
  })
  row.role = "row"
  return row
}

/** Rows that are to be in the document: those in sight, and the one that has the focus, wherever it is. */
const indicesInSight = () => {
  const height = rowHeight()
  const first = Math.max(0, Math.floor(viewport.scrollTop / height) - overscan)
  const last = Math.min(view.nodes.length, Math.ceil((viewport.scrollTop + viewport.clientHeight) / height) + overscan)
  const indices = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index)
  const active = view.nodes.findIndex(({ key }) => key === view.active)
  if (active >= 0 && active < first) indices.unshift(active)
  if (active >= last) indices.push(active)
  return indices
}

const paintInSight = () => {
  const focused = document.activeElement?.closest?.("#rows .row")?.dataset.key
  const before = view.painted
  view.painted = new Map()
  for (const index of indicesInSight()) {
    const node = view.nodes[index]
    const known = before.get(node.key)
    const row = known === undefined ? makeRow(node) : known.node === node ? known.row : renew(known.row, makeRow(node))
    row.dataset.key = node.key
    row.style.transform = `translateY(${index * rowHeight()}px)`
    row.ariaRowIndex = String(index + 2)
    row.querySelector(".open").tabIndex = node.key === view.active ? 0 : -1
    view.painted.set(node.key, { node, row })
  }
  for (const [key, { row }] of before) if (view.painted.get(key)?.row !== row) row.remove()
  // They are read out and copied as they stand in the document.
  for (const [index, { row }] of [...view.painted.values()].entries()) {
    if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null)
  }
  const open = view.painted.get(focused)?.row.querySelector(".open")
  if (open !== undefined && open !== document.activeElement) open.focus({ preventScroll: true })
}

const areSame = (a, b) => JSON.stringify([...a]) === JSON.stringify([...b])

/** Columns, their texts, and how many characters of one are shown at most. */
const fitted = [
  ["account", ({ account }) => account, 20],
  ["plan", ({ plan }) => plan ?? "", 24],
  ["address", ipOf, 16]
]

/** Makes columns as wide as their longest text: what is left is for the names. */
const fitColumns = () => {
  const { style } = byId("grid")
  for (const [name, textOf, maxCharacters] of fitted) {
    let longest = 0
    for (const node of model.nodes.values()) longest = Math.max(longest, textOf(node).length)
    style.setProperty(`--${name}-characters`, String(Math.min(longest, maxCharacters)))
  }
}

/** Shows these nodes, in this order. `stale`: see `staleAccounts`. */
export const paintNodes = (nodes, { spanMillis, stale }) => {
  const isNewSpan = view.spanMillis !== spanMillis
  if (view.spanMillis !== spanMillis || view.prices !== model.prices || !areSame(view.stale, stale)) forgetRows()
  view.nodes = nodes
  view.spanMillis = spanMillis
  view.prices = model.prices
  view.stale = stale
  byId("grid").classList.toggle(
    "with-stale",
    nodes.some(({ account }) => stale.has(account))
  )
  fitColumns()
  if (isNewSpan) setBegin()
  if (!nodes.some(({ key }) => key === view.active)) view.active = nodes[0]?.key
  list.style.height = `${nodes.length * rowHeight()}px`
  byId("grid").ariaRowCount = String(nodes.length + 1)
  paintInSight()
}

/** One time for all histories, so that they stand below each other. */
const setBegin = () => {
  const { spanMillis } = view
  view.fromMillis = historyBegin(model.nodes.values(), spanMillis, now())
  setText(byId("history-title"), beginText(view.fromMillis, spanMillis, now()))
}

const forgetRows = () => {
  for (const [key, { row }] of view.painted) view.painted.set(key, { node: undefined, row })
}

/** Makes the rows anew, for time has passed. A row in focus stays as it is. */
export const refreshRows = () => {
  setBegin()
  for (const { node, row } of view.painted.values()) {
    if (node === undefined) continue
    setText(row.querySelector(".age span"), spanText(now() - node.createdMillis))
    row
      .querySelector(".strip")
      .replaceWith(makeStrip(node, view.fromMillis, { asOfMillis: view.stale.get(node.account)?.atMillis }))
  }
}

const moveTo = (index) => {
  const node = view.nodes[Math.min(Math.max(index, 0), view.nodes.length - 1)]
  if (node === undefined) return
  view.active = node.key
  const top = view.nodes.indexOf(node) * rowHeight()
  if (top < viewport.scrollTop) viewport.scrollTop = top
  const bottom = top + rowHeight()
  const inSight = viewport.clientHeight - byId("columns").clientHeight
  if (bottom > viewport.scrollTop + inSight) viewport.scrollTop = bottom - inSight
  paintInSight()
  view.painted.get(node.key)?.row.querySelector(".open").focus({ preventScroll: true })
}

export const focusNodes = () =>
  moveTo(
    Math.max(
      0,
      view.nodes.findIndex(({ key }) => key === view.active)
    )
  )

const onKey = (event) => {
  const index = view.nodes.findIndex(({ key }) => key === view.active)
  const page = Math.max(1, Math.floor(viewport.clientHeight / rowHeight()) - 1)
  const to = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + page,
    PageUp: index - page,
    Home: 0,
    End: view.nodes.length - 1
  }[event.key]
  if (to === undefined) return
  event.preventDefault()
  moveTo(to)
}

/** Begins to show nodes. `onOpen` is called with the key of a node that its reader opens, `onSort` with a column. */
export const startNodes = ({ onOpen, onSort }) => {
  view.onOpen = (key) => {
    view.active = key
    onOpen(key)
  }
  let isDue = false
  const paintSoon = () => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      paintInSight()
    })
  }
  viewport.addEventListener("scroll", paintSoon, { passive: true })
  // It gets larger when a trouble above it ends.
  new ResizeObserver(paintSoon).observe(viewport)
  addEventListener("resize", () => {
    view.remPixels = remPixels()
    paintNodes(view.nodes, view)
  })
  list.addEventListener("keydown", onKey)
  const heads = columns.map(({ name, title }) => {
    const button = make("button", { type: "button", text: title })
    button.onclick = () => onSort(name)
    return [name, button]
  })
  const history = make("span", { id: "history-title" })
  for (const [name, child] of [...heads, ["history", history]]) {
    const head = make("span", { className: `cell ${name}`, children: [child] })
    head.role = "columnheader"
    head.dataset.column = name
    byId("columns").append(head)
  }
}

export const markSort = ({ by, isDescending }) => {
  for (const head of document.querySelectorAll("#columns [data-column]")) {
    if (head.dataset.column === by) head.ariaSort = isDescending ? "descending" : "ascending"
    else head.removeAttribute("aria-sort")
  }
}
