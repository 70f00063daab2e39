/**
 * The world that the page shows. The address of the page names the world, and the page reads it again whenever something
 * happens in it. The state is in signals, which the parts of the page display.
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

/** Nodes per page. */
export const pageSize = 100

/** Journal entries that the page shows. */
export const maxEntries = 100

/** Maximum number of entries that a journal keeps. A filter searches all of them. */
const maxKept = 1000

/** Pause between two reads without an event. It reads even then, because time passes without requests, and other worlds come and go. */
const refreshMillis = 2000

/** Maximum age of the list of worlds. It is shorter than `refreshMillis`, so that each refresh reads the list again. */
const maxListAgeMillis = 1000

/** Minimum pause before the page reads a busy world again. */
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
/** Number of nodes on the earlier pages. */
export const skip = signal(0)
export const filter = signal<Filter>(noFilter)
/** The data that the page has read last about the world; undefined before the first reply. */
export const seen = signal<Seen | undefined>(undefined)
/** When the page has read it, on the page's clock. */
export const readAtMillis = signal(0)
export const worlds = signal<Worlds>({ living: [], ended: [] })
export const connection = signal<Connection>("connecting")
/** The error of the last action or read. */
export const trouble = signal<string | undefined>(undefined)
/** The result of the last action on the world; `happened`: on the world's clock. */
export const done = signal("")
export const happened = signal("")

/** The world that is shown, if it is running. */
export const living = (): Living | undefined => (seen.value?.is === "living" ? seen.value : undefined)

let isReading = false
let isAskedAgain = false
let soon: ReturnType<typeof setTimeout> | undefined
let worldsReadAt = Number.NEGATIVE_INFINITY

/** Reads the world. A call during a read causes one more read afterwards. */
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

/** The same, but throttled, because events may come thousands of times a second. */
const refreshSoon = (): void => {
  soon ??= setTimeout(() => {
    soon = undefined
    if (!document.hidden) void refresh()
  }, minPauseMillis)
}

/** Makes the next read fetch the list of worlds, too. */
export const forgetList = (): void => {
  worldsReadAt = Number.NEGATIVE_INFINITY
}

const readList = async (): Promise<void> => {
  worlds.value = await readWorlds()
  worldsReadAt = performance.now()
}

/** How many entries to read: all that the journal keeps if there is a filter, because a filter searches all of them. */
const entriesWanted = (): number => (isFiltering(filter.value) ? maxKept : maxEntries)

const readAll = async (): Promise<void> => {
  const [id, skipped, limit] = [world.value, skip.value, entriesWanted()]
  try {
    if (performance.now() - worldsReadAt >= maxListAgeMillis) await readList()
    const wanted = { skip: skipped, pageSize, maxEntries: limit, seen: seen.value, worlds: worlds.value }
    const next = await readWorld(id, wanted)
    if (next.is !== "living" && seen.value?.is === "living") await readList()
    // The reader has changed the view in the meantime, so another read follows. Do not show this reply: it may be about
    // another world or page, or have fewer entries than a new filter searches.
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

/** Keeps the objects of entries that have not changed. If the world is unknown by now, keeps its last journal. */
const keptFrom = (before: Seen | undefined, next: Seen): Seen => {
  const known = before?.journal
  if (next.journal === undefined) return next.is === "unknown" ? { ...next, journal: known } : next
  const requests = sameValues(known?.requests ?? [], next.journal.requests, ({ seq }) => seq)
  return { ...next, journal: { ...next.journal, requests } } as Seen
}

/**
 * Shows why there is no connection. The page keeps showing the old data until the server is back, but hides it from a reader
 * whose token the server refuses.
 */
const disconnected = (error: unknown): void => {
  unwatch()
  if (!(error instanceof Refused)) connection.value = "no connection"
  else if (error.status !== 401) {
    connection.value = "refused"
    trouble.value = sentenceOf(error)
  } else {
    connection.value = "token needed"
    if (forgetToken(error)) trouble.value = "The server rejected this control token."
  }
}

let watching: AbortController | undefined

/**
 * Follows the world that is shown. A hidden page follows nothing, because a browser allows only few connections to a server.
 */
const watch = async (): Promise<void> => {
  if (watching !== undefined || document.hidden) return
  const own = new AbortController()
  watching = own
  try {
    await watchWorld(world.value, own.signal, refreshSoon)
    refreshSoon()
  } catch {
    // The stream broke off. If the page still follows this world, the next read shows whether the server is gone, or follows
    // the world again.
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

/** Starts to show the world that the address names. Calls `onLeave` when the reader goes to another world, before that world is read. */
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
