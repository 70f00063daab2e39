/**
 * The one world that the page shows: it reads the world that its address names, and reads it again when something happens there. All of it is
 * in signals, which the parts of the page show.
 */
import { signal } from "@preact/signals"
import { Refused } from "@berthkit/web/components/client"
import { sameValues } from "@berthkit/web/components/sameValues"
import {
  forgetToken,
  type Living,
  readWorld,
  readWorlds,
  type Seen,
  sentenceOf,
  watchWorld,
  type Worlds
} from "./controlPlane.ts"
import { type Filter, isFiltering, noFilter } from "./wording.ts"

/** Nodes on one page of them. */
export const pageSize = 100

/** Requests that are shown of a journal. */
export const maxEntries = 100

/** Requests that a journal keeps, and a filter searches. */
const maxKept = 1000

/** Time passes without requests, too, and other worlds come and go. */
const refreshMillis = 2000

/** How old the list of worlds may be: less than that, so that each refresh reads it. */
const maxListAgeMillis = 1000

/** A busy world is read and painted so often at most. */
const minPauseMillis = 200

const worldOfAddress = (): string => {
  const text = location.hash.slice(1)
  try {
    return decodeURIComponent(text) || "default"
  } catch {
    return text
  }
}

/** Whether the page is up to date, or why not. */
export type Connection = "connecting" | "live" | "no connection" | "refused" | "token needed"

export const world = signal(worldOfAddress())
/** Nodes on the pages before the one that is shown. */
export const skip = signal(0)
export const filter = signal<Filter>(noFilter)
/** What was read of the world last; nothing before the first reply. */
export const seen = signal<Seen | undefined>(undefined)
/** When that was, on the clock of the page. */
export const readAtMillis = signal(0)
export const worlds = signal<Worlds>({ living: [], ended: [] })
export const connection = signal<Connection>("connecting")
/** What went wrong with the last action or reading. */
export const trouble = signal<string | undefined>(undefined)
/** What the last action did: to the world, and to its clock. */
export const done = signal("")
export const happened = signal("")

/** The world that is shown, while it lives. */
export const living = (): Living | undefined => (seen.value?.is === "living" ? seen.value : undefined)

let isReading = false
let isAskedAgain = false
let soon: ReturnType<typeof setTimeout> | undefined
let worldsReadAt = Number.NEGATIVE_INFINITY

/** Reads. Asked for while it reads, it reads once more. */
export const refresh = async (): Promise<void> => {
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
const refreshSoon = (): void => {
  soon ??= setTimeout(() => {
    soon = undefined
    if (!document.hidden) void refresh()
  }, minPauseMillis)
}

/** Has the next reading read the list of worlds, too. */
export const forgetList = (): void => {
  worldsReadAt = Number.NEGATIVE_INFINITY
}

const readList = async (): Promise<void> => {
  worlds.value = await readWorlds()
  worldsReadAt = performance.now()
}

/** A filter searches all that is kept. */
const entriesWanted = (): number => (isFiltering(filter.value) ? maxKept : maxEntries)

const readAll = async (): Promise<void> => {
  const [id, skipped, limit] = [world.value, skip.value, entriesWanted()]
  try {
    if (performance.now() - worldsReadAt >= maxListAgeMillis) await readList()
    const wanted = { skip: skipped, pageSize, maxEntries: limit, seen: seen.value, worlds: worlds.value }
    const next = await readWorld(id, wanted)
    if (next.is !== "living" && seen.value?.is === "living") await readList()
    // The reader has gone on meanwhile: another reading follows. Fewer requests than a filter searches would take away what it found.
    if (world.value !== id || skip.value !== skipped || entriesWanted() > limit) return
    if (connection.value !== "live") trouble.value = undefined
    connection.value = "live"
    if (next.is === "living" && skipped > 0 && skipped >= next.world.nodes) {
      return turnPage(Math.floor((next.world.nodes - 1) / pageSize) * pageSize - skipped)
    }
    readAtMillis.value = performance.now()
    seen.value = keptFrom(seen.value, next)
    if (next.is === "living") void watch()
    else unwatch()
  } catch (error) {
    disconnected(error)
  }
}

/** Keeps what is as it was, and of a world that nothing is known of any more what was seen of it. */
const keptFrom = (before: Seen | undefined, next: Seen): Seen => {
  const known = before?.journal
  if (next.journal === undefined) return next.is === "unknown" ? { ...next, journal: known } : next
  const requests = sameValues(known?.requests ?? [], next.journal.requests, ({ seq }) => seq)
  return { ...next, journal: { ...next.journal, requests } } as Seen
}

/** What was shown stays until the server is there again, but not before a reader whose token is refused. */
const disconnected = (error: unknown): void => {
  unwatch()
  if (!(error instanceof Refused)) connection.value = "no connection"
  else if (error.status !== 401) {
    connection.value = "refused"
    trouble.value = sentenceOf(error)
  } else {
    connection.value = "token needed"
    if (forgetToken(error)) trouble.value = "The server refuses this control token."
  }
}

let watching: AbortController | undefined

/** Follows the world that is shown. A hidden page follows nothing: a browser has few connections for one server. */
const watch = async (): Promise<void> => {
  if (watching !== undefined || document.hidden) return
  const own = new AbortController()
  watching = own
  try {
    await watchWorld(world.value, own.signal, refreshSoon)
    refreshSoon()
  } catch {
    // The server is gone, or the reader is: the next reading shows which, or watches again.
    if (watching === own) refreshSoon()
  }
  if (watching === own) watching = undefined
}

const unwatch = (): void => {
  watching?.abort()
  watching = undefined
}

export const turnPage = (by: number): void => {
  skip.value = Math.max(0, skip.value + by)
  void refresh()
}

export const filterRequests = (change: Partial<Filter>): void => {
  filter.value = { ...filter.value, ...change }
  void refresh()
}

/** Begins to show the world of the address. `onLeave` is called before another one is shown, of which nothing is known yet. */
export const startWorld = (onLeave: () => void): void => {
  addEventListener("hashchange", () => {
    const id = worldOfAddress()
    if (id === world.value) return
    unwatch()
    forgetList()
    world.value = id
    skip.value = 0
    seen.value = undefined
    happened.value = ""
    done.value = ""
    trouble.value = undefined
    onLeave()
    void refresh()
  })
  document.addEventListener("visibilitychange", () => (document.hidden ? unwatch() : void refresh()))
  setInterval(() => document.hidden || void refresh(), refreshMillis)
  void refresh()
}
