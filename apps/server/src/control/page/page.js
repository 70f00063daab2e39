// What the page does: it reads the world that its address names, reads it again when something happens there, and acts on
// that world and on no other. A world that ends takes its buttons along and leaves its journal.
import {
  ask,
  hasToken,
  keepToken,
  maxMakingMillis,
  readWorld,
  readWorlds,
  Refused,
  sentenceOf,
  watchWorld,
  worldPath
} from "./controlPlane.js"
import {
  askForFault,
  askForNode,
  askForRateLimit,
  askForWorld,
  askWhether,
  closeDialog,
  readOperations
} from "./dialogs.js"
import {
  addressOf,
  byId,
  durationText,
  isFiltering,
  maxEntries,
  maxKept,
  pageSize,
  paintClock,
  readable,
  showClock,
  showFaults,
  showJournal,
  showNodes,
  showNotice,
  showTrouble,
  showWorlds
} from "./panels.js"
import { make, plain, setText } from "@berthkit/web/rows.js"

/** Time passes without requests, too, and other worlds come and go. */
const refreshMillis = 2000

/** How old the list of worlds may be: less than that, so that each refresh reads it. */
const maxListAgeMillis = 1000

/** A busy world is read and painted so often at most. */
const minPauseMillis = 200

const worldOfAddress = () => {
  const text = location.hash.slice(1)
  try {
    return decodeURIComponent(text) || "default"
  } catch {
    return text
  }
}

const state = {
  /** The one world that is shown and acted on. */
  world: worldOfAddress(),
  /** Nodes on the pages before the one that is shown. */
  skip: 0,
  /** Which requests are shown. */
  filter: { text: "", operation: "", status: "" },
  /** What was read of the world last; nothing before the first reply. */
  seen: undefined,
  worlds: { living: [], ended: [] },
  /** Whether the last reading succeeded. */
  isConnected: false,
  /** Ends the watching of the world. */
  watching: undefined
}

// ---- painting

const connection = (name, text) => {
  byId("connection").dataset.state = name
  setText(byId("connection"), text)
}

/** Worlds to go on with: the main one, and the newest. */
const offers = () => {
  const [main, ...made] = state.worlds.living.map(({ id }) => id)
  return main === undefined ? [] : [main, ...made.toReversed().slice(0, 4)].filter((id) => id !== state.world)
}

const endedText = ({ at, reason }) =>
  `${reason === "idle" ? "It was not used for a while" : "It was deleted"}, at ${readable(at)} of its own time. ` +
  "Its last journal is below."

const notice = () => {
  const { isConnected, seen, world } = state
  if (!isConnected) {
    const text = "You see the last known state. This page keeps trying."
    return { sentence: "No connection to the server.", text, worlds: [] }
  }
  if (seen.is === "ended") {
    return { sentence: `World ${world} has ended.`, text: endedText(seen.journal.ended), worlds: offers() }
  }
  if (seen.is === "unknown") {
    const text = seen.journal === undefined ? "Nothing is kept of it." : "Below is what this page saw last."
    return { sentence: seen.sentence ?? `There is no world ${plain(world)}.`, text, worlds: offers() }
  }
  return undefined
}

const paint = () => {
  const { filter, seen, skip, world, worlds } = state
  document.title = `${plain(world)} · Berth mock`
  setText(byId("world"), plain(world))
  const seed = seen?.journal?.seed
  setText(byId("seed"), seed === undefined ? "" : `seed ${seed}`)
  showWorlds(worlds, world)
  const isLiving = seen?.is === "living"
  const hadFocus = byId("living").contains(document.activeElement)
  // What could be done with a world goes with it.
  for (const name of ["living", "world-actions", "forget"]) byId(name).hidden = !isLiving
  // It is always there; the control plane would refuse.
  byId("delete").hidden = world === "default"
  byId("journal-section").hidden = seen?.journal === undefined
  showNotice(seen === undefined && state.isConnected ? undefined : notice())
  if (seen?.journal !== undefined) showJournal(seen.journal, filter, isLiving)
  if (isLiving) {
    showClock(seen.world)
    showFaults(seen.faults, disarm)
    showNodes(seen.nodes, seen.world.nodes, skip, changeNode)
  } else if (hadFocus) {
    byId("notice").focus()
  }
}

// ---- reading

let isReading = false
let isAskedAgain = false
let soon
let worldsReadAt = Number.NEGATIVE_INFINITY

/** Reads and paints. Asked for while it reads, it reads once more. */
const refresh = async () => {
  isAskedAgain = true
  if (isReading) return
  isReading = true
  while (isAskedAgain) {
    isAskedAgain = false
    await readAll()
  }
  isReading = false
}

/** The same for what happens by itself, perhaps thousands of times a second. */
const refreshSoon = () => {
  soon ??= setTimeout(() => {
    soon = undefined
    if (!document.hidden) void refresh()
  }, minPauseMillis)
}

const readList = async () => {
  state.worlds = await readWorlds()
  worldsReadAt = performance.now()
}

/** A filter searches all that is kept. */
const entriesWanted = () => (isFiltering(state.filter) ? maxKept : maxEntries)

const readAll = async () => {
  const { skip, world } = state
  const limit = entriesWanted()
  try {
    if (performance.now() - worldsReadAt >= maxListAgeMillis) await readList()
    const seen = await readWorld(world, {
      skip,
      pageSize,
      maxEntries: limit,
      seen: state.seen,
      worlds: state.worlds
    })
    if (seen.is !== "living" && state.seen?.is === "living") await readList()
    // The reader has gone on meanwhile: another reading follows. Fewer requests than a filter searches would take away what it found.
    if (state.world !== world || state.skip !== skip || entriesWanted() > limit) return
    connected()
    if (seen.is === "living" && skip > 0 && skip >= seen.world.nodes) {
      return turnPage(Math.floor((seen.world.nodes - 1) / pageSize) * pageSize - skip)
    }
    // A world that nothing is known of any more leaves what was seen of it.
    state.seen = seen.journal === undefined ? { ...seen, journal: state.seen?.journal } : seen
    paint()
    if (seen.is === "living") void watch()
    else unwatch()
  } catch (error) {
    disconnected(error)
  }
}

const connected = () => {
  if (!state.isConnected) showTrouble()
  state.isConnected = true
  connection("live", "live")
  byId("token-form").hidden = true
  byId("layout").hidden = false
  byId("description").hidden = hasToken()
  offerOperations()
}

/** What was shown stays until the server is there again, but not before a reader whose token is refused. */
const disconnected = (error) => {
  state.isConnected = false
  unwatch()
  if (error.status === 401) return askForToken(error)
  connection("lost", error instanceof Refused ? "refused" : "no connection")
  if (error instanceof Refused) showTrouble(error.message)
  byId("layout").hidden = false
  paint()
}

const askForToken = ({ showedToken }) => {
  connection("lost", "token needed")
  byId("layout").hidden = true
  byId("description").hidden = true
  const isAsked = !byId("token-form").hidden
  byId("token-form").hidden = false
  if (showedToken) showTrouble("The server refuses this control token.")
  if (showedToken || !isAsked) byId("token").focus()
}

/** Follows the world that is shown. A hidden page follows nothing: a browser has few connections for one server. */
const watch = async () => {
  if (state.watching !== undefined || document.hidden) return
  const watching = new AbortController()
  state.watching = watching
  try {
    await watchWorld(state.world, watching.signal, refreshSoon)
    refreshSoon()
  } catch {
    // The server is gone, or the reader is: the next reading shows which, or watches again.
    if (state.watching === watching) refreshSoon()
  }
  if (state.watching === watching) state.watching = undefined
}

const unwatch = () => {
  state.watching?.abort()
  state.watching = undefined
}

// ---- what can be done

const done = (text) => setText(byId("done"), text)

const happened = (text) => setText(byId("happened"), text)

/** Acts on the world that is shown, as its id was when its reader asked for it. */
const act = async (path, options, onReply) => {
  const { seen, world } = state
  if (seen?.is !== "living") return
  let trouble
  try {
    const reply = await ask(worldPath(world, path), options)
    if (state.world === world) await onReply?.(reply)
  } catch (error) {
    trouble = sentenceOf(error)
  }
  if (state.world === world) showTrouble(trouble)
  await refresh()
}

/**
 * What a dialog sends about the world that is shown when it opens, whichever is shown later. `text` states from the reply what was
 * done.
 */
const sender = (method, path, text, maxMillis) => {
  const { world } = state
  return async (body) => {
    const reply = await ask(worldPath(world, path), { method, body, maxMillis })
    if (state.world === world) {
      showTrouble()
      done(await text(reply))
    }
    void refresh()
  }
}

/** Does something with the world that is shown, as it was seen last, while it lives. */
const whileLiving = (use) => () => state.seen?.is === "living" && use(state.world, state.seen.world)

const moveClock = (body) =>
  act("/clock", { method: "POST", body }, async (reply) => {
    const { events, now } = await reply.json()
    if (events === undefined) return happened(`Now ${readable(now)}.`)
    const names = events.map(({ kind, nodeId }) => (nodeId === undefined ? kind : `${kind} of ${nodeId}`))
    happened(names.length === 0 ? "There is no next event." : `${names.join(", ")}.`)
  })

const disarm = (id) => act(`/faults/${encodeURIComponent(id)}`, { method: "DELETE" }, () => done(`${id} is disarmed.`))

const armFault = whileLiving((world) => {
  const armed = async (reply) => `${(await reply.json()).id} is armed.`
  void askForFault({ world, send: sender("POST", "/faults", armed) })
})

const changeNode = (node) => {
  if (state.seen?.is !== "living") return
  const changed = async (reply) => {
    const { id, locked, status } = await reply.json()
    return `Node ${id} is ${status}${locked ? " and locked" : ""}.`
  }
  void askForNode({ node, send: sender("PATCH", `/nodes/${node.id}`, changed) })
}

const changeRateLimit = whileLiving((world, { allowance: { algorithm, limit, window } }) => {
  const values = { limit, window: durationText(window).replaceAll(",", ""), algorithm }
  const changed = async (reply) => {
    const { allowance } = await reply.json()
    return `${allowance.remaining} of ${allowance.limit} requests are left.`
  }
  void askForRateLimit({ values, world, send: sender("PATCH", "", changed) })
})

const resetWorld = whileLiving((world) =>
  askWhether({
    title: `Reset ${world}?`,
    text: "Nodes, clock and faults start again. Requests are forgotten; credentials stay.",
    action: "Reset",
    send: sender("POST", "/reset", () => `${world} was reset.`, maxMakingMillis)
  })
)

const deleteWorld = whileLiving((world) =>
  askWhether({
    title: `Delete ${world}?`,
    text: "The world ends, and its credentials stop working. Its last requests stay on this page for a while.",
    action: "Delete",
    send: sender("DELETE", "", () => "")
  })
)

const makeWorld = () =>
  askForWorld({
    addressOf,
    send: async (body) => {
      const made = await (await ask("/worlds", { method: "POST", body, maxMillis: maxMakingMillis })).json()
      worldsReadAt = Number.NEGATIVE_INFINITY
      void refresh()
      return made
    }
  })

/** A link would not show the token. */
const downloadArchive = async () => {
  const { world } = state
  try {
    const archive = await (await ask(worldPath(world, "/requests.har"))).blob()
    const href = URL.createObjectURL(archive)
    make("a", { href, download: `${world}.har` }).click()
    setTimeout(() => URL.revokeObjectURL(href), 60_000)
    showTrouble()
  } catch (error) {
    showTrouble(sentenceOf(error))
  }
}

let offered

/** Offers the operations of the interface, to filter by. */
const offerOperations = () => {
  offered ??= readOperations().then(
    (names) => byId("filter-operation").append(...names.map((name) => make("option", { value: name, text: name }))),
    () => (offered = undefined)
  )
}

const filterRequests = () => {
  const [text, operation, status] = ["text", "operation", "status"].map((name) => byId(`filter-${name}`).value)
  state.filter = { text: text.trim(), operation, status }
  paint()
  void refresh()
}

const turnPage = (by) => {
  state.skip = Math.max(0, state.skip + by)
  void refresh()
}

/** Shows the world that the address names, and nothing of the one before. */
const goToAddress = () => {
  const world = worldOfAddress()
  if (world === state.world) return
  unwatch()
  worldsReadAt = Number.NEGATIVE_INFINITY
  Object.assign(state, { world, skip: 0, seen: undefined })
  happened("")
  done("")
  showTrouble()
  closeDialog()
  paint()
  void refresh()
}

byId("advance-form").onsubmit = (event) => {
  event.preventDefault()
  void moveClock({ advance: byId("advance").value })
}
byId("next-event").onclick = () => moveClock({ advanceTo: "next-event" })
for (const button of document.querySelectorAll("#modes button")) {
  button.onclick = () => moveClock({ mode: button.value })
}
byId("arm").onclick = armFault
byId("disarm").onclick = () => act("/faults", { method: "DELETE" }, () => done("All faults are disarmed."))
byId("rate-limit").onclick = changeRateLimit
byId("reset").onclick = resetWorld
byId("delete").onclick = deleteWorld
byId("make-world").onclick = makeWorld
byId("archive").onclick = downloadArchive
byId("forget").onclick = () => act("/requests", { method: "DELETE" }, () => done("The requests are forgotten."))
for (const name of ["text", "operation", "status"]) byId(`filter-${name}`).oninput = filterRequests
byId("filter-form").onsubmit = (event) => event.preventDefault()
byId("dialog-cancel").onclick = closeDialog
byId("previous").onclick = () => turnPage(-pageSize)
byId("next").onclick = () => turnPage(pageSize)
byId("token-form").onsubmit = (event) => {
  event.preventDefault()
  keepToken(byId("token").value.trim())
  byId("token").value = ""
  showTrouble()
  void refresh()
}
onhashchange = goToAddress
document.onvisibilitychange = () => (document.hidden ? unwatch() : refresh())

setInterval(() => document.hidden || void refresh(), refreshMillis)
setInterval(() => state.isConnected && paintClock(), 250)
void refresh()
