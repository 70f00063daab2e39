/**
 * The journals of worlds, of those that live and of those that ended last: the latest requests to each with their replies, bounded
 * in number and in bytes, and all together in bytes; and the listeners that get every request as it is answered. Requests are kept
 * as they came; what a reader sees, without credentials, is `JournalEntry.ts`.
 */
import type { World } from "../world/World.ts"
import type { Account } from "../world/WorldSettings.ts"

/** What the control plane can do to a whole world. */
export type WorldChange = "reset" | "restored"
export const worldChanges: ReadonlyArray<WorldChange> = ["reset", "restored"]

/** One request and its reply. Instants are milliseconds of the world's time. */
export interface Recorded {
  /** Counts the entries of the journal, from 1. A number is never used again. */
  readonly seq: number
  /** What became of the world, where this is no request of the service but one that reset or restored it. */
  readonly change: WorldChange | undefined
  /** Counts the events of the server, from 1: the id of this one. */
  readonly event: number
  readonly at: number
  readonly durationMillis: number
  readonly method: string
  /** Path and query, with the credentials in it. */
  readonly url: string
  /** As they came, by their names in lower case, with the credentials in them. */
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body that was read, if one was. */
  readonly body: Uint8Array | undefined
  /** Bytes of the whole body. */
  readonly bodyBytes: number
  /** The status of the reply; `null` when there was none. */
  readonly status: number | null
  /** By their names in lower case; none where there was no reply. */
  readonly replyHeaders: Readonly<Record<string, string>>
  /** Bytes of the whole body of the reply; `undefined` where that is not known. */
  readonly replyBytes: number | undefined
  /** The beginning of the body of a reply that is worth reading: a failure, or one at which faults fired. */
  readonly replyBody: Uint8Array | undefined
  /** The faults that fired, by name. */
  readonly faults: ReadonlyArray<string>
}

/** A request and its reply, to be recorded. */
export type Entry = Omit<Recorded, "seq" | "change" | "event" | "bodyBytes">

/** Bytes of a body that a journal keeps, of a request and of a reply. */
export const maxKeptBodyBytes = 2048

/** Requests a journal keeps. */
export const maxEntries = 1000

/** Bytes a journal keeps. Only requests with long URLs and bodies reach it before `maxEntries`. */
export const maxJournalBytes = 4 * 1024 * 1024

/** What an entry takes besides its texts, roughly. */
const entryOverheadBytes = 256

/** About how much memory an entry takes. */
export const bytesOf = ({ body, headers, replyBody, replyHeaders, url }: Recorded): number =>
  entryOverheadBytes +
  url.length +
  bytesOfHeaders(headers) +
  bytesOfHeaders(replyHeaders) +
  (body?.length ?? 0) +
  (replyBody?.length ?? 0)

const bytesOfHeaders = (headers: Readonly<Record<string, string>>): number => {
  let bytes = 0
  for (const name in headers) bytes += name.length + headers[name]!.length
  return bytes
}

/** The beginning of a body: a copy, so that the rest of a long one can go. */
const beginningOf = (body: Uint8Array | undefined): Uint8Array | undefined =>
  body !== undefined && body.length > maxKeptBodyBytes ? body.slice(0, maxKeptBodyBytes) : body

export class Journal {
  /** The oldest first. */
  #entries: Array<Recorded> = []
  #count = 0
  /** How many requests there had been when they were last forgotten. */
  #forgotten = 0
  #bytes = 0
  /** About how much memory all journals of the server take, this one included. */
  readonly #all: { bytes: number }

  constructor(all = { bytes: 0 }) {
    this.#all = all
  }

  /** How many requests there have been, also those no longer kept. */
  get count(): number {
    return this.#count
  }

  /** How many requests its bounds took since its requests were last forgotten. */
  get dropped(): number {
    return this.#count - this.kept - this.#forgotten
  }

  /** How many of the latest requests are kept. */
  get kept(): number {
    return this.#entries.length
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#bytes
  }

  /** `event` is the number of the event on the server. */
  record(entry: Entry, event: number, change?: WorldChange): Recorded {
    this.#count += 1
    const { at, body, durationMillis, faults, headers, method, replyBody, replyBytes, replyHeaders, status, url } =
      entry
    // One literal and no spreading: every request passes here.
    const recorded: Recorded = {
      seq: this.#count,
      change,
      event,
      at,
      durationMillis,
      method,
      url,
      headers,
      body: beginningOf(body),
      bodyBytes: body?.length ?? 0,
      status,
      replyHeaders,
      replyBytes,
      replyBody: beginningOf(replyBody),
      faults
    }
    if (this.kept === maxEntries) this.dropOldest()
    this.#entries.push(recorded)
    this.#weigh(bytesOf(recorded))
    while (this.#bytes > maxJournalBytes) this.dropOldest()
    return recorded
  }

  /** Forgets the oldest request that is kept. */
  dropOldest(): void {
    const dropped = this.#entries.shift()
    if (dropped !== undefined) this.#weigh(-bytesOf(dropped))
  }

  #weigh(bytes: number): void {
    this.#bytes += bytes
    this.#all.bytes += bytes
  }

  /** The number of the latest event that is kept; 0 where none is. */
  get lastEvent(): number {
    return this.#entries.at(-1)?.event ?? 0
  }

  /** What is kept, the oldest first. */
  entries(): ReadonlyArray<Recorded> {
    return this.#entries.slice()
  }

  /** What is kept of the events after number `event`. */
  since(event: number): ReadonlyArray<Recorded> {
    return this.#entries.slice(this.#entries.findLastIndex((entry) => entry.event <= event) + 1)
  }

  /** Forgets what it keeps. It goes on counting. */
  clear(): void {
    this.#entries = []
    this.#forgotten = this.#count
    this.#weigh(-this.#bytes)
  }
}

/** Why a world ended: a request of the control plane, or no use for longer than `--world-ttl`. */
export type EndReason = "deleted" | "idle"
export const endReasons: ReadonlyArray<EndReason> = ["deleted", "idle"]

/** The end of a world. */
interface WorldEnd {
  /** In milliseconds of the world's time. */
  readonly at: number
  readonly reason: EndReason
  /** Counts the events of the server, from 1: the id of this one. */
  readonly event: number
}

/** The journal of a world with what a reader needs to know of the world, which may have ended. */
export interface WorldJournal {
  readonly id: string
  readonly seed: number
  /** Whose credentials are to be hidden. */
  readonly account: Account
  readonly journal: Journal
  readonly ended?: WorldEnd
}

/** The journal of a world that has ended. */
export type EndedJournal = Required<WorldJournal>

/** A request, or the end of a world: one object for all listeners, which show it when they send it. */
export type JournalEvent =
  | { readonly id: number; readonly in: WorldJournal; readonly recorded: Recorded }
  | { readonly id: number; readonly in: EndedJournal; readonly recorded: undefined }

/** What follows the journals. Listeners keep what they have not sent yet; what one of them missed is in the journals. */
export type Listener = (event: JournalEvent) => void

/** How many ended worlds keep their journals. */
export const maxEndedWorlds = 20

/** Bytes of all journals together, those of ended worlds included. */
const maxAllBytes = 128 * 1024 * 1024

/** Beyond that, this share of them is removed. */
const roomShare = 1 / 64

/** Beyond that, ended worlds together keep this share, each the same part. */
const endedShare = 1 / 4

const endEvent = (ended: EndedJournal): JournalEvent => ({ id: ended.ended.event, in: ended, recorded: undefined })

export class Journals {
  readonly #byWorld = new WeakMap<World, Journal>()
  readonly #living = new Set<Journal>()
  /** By the id of their world; the one that ended last stands last. */
  readonly #ended = new Map<string, EndedJournal>()
  readonly #listeners = new Set<Listener>()
  readonly #maxBytes: number
  readonly #all = { bytes: 0 }
  #events = 0

  constructor(maxBytes = maxAllBytes) {
    this.#maxBytes = maxBytes
  }

  /** About how much memory they take. */
  get bytes(): number {
    return this.#all.bytes
  }

  of(world: World): WorldJournal {
    return {
      id: world.id,
      seed: world.settings.seed,
      account: world.settings.account,
      journal: this.#journalOf(world)
    }
  }

  /** The journal of a world that has ended, if it is still kept. */
  ofEnded(id: string): EndedJournal | undefined {
    return this.#ended.get(id)
  }

  /** Those of worlds that have ended, the first one first. */
  allEnded(): ReadonlyArray<EndedJournal> {
    return [...this.#ended.values()]
  }

  /** Notes that a request of the control plane has put the world into another state. A reset forgets the requests before it. */
  changed(world: World, change: WorldChange, { method, url }: Pick<Entry, "method" | "url">): void {
    if (change === "reset") this.forget(world)
    const noBody = { body: undefined, replyHeaders: {}, replyBytes: undefined, replyBody: undefined }
    const entry = { ...noBody, at: world.latest, durationMillis: 0, method, url, headers: {}, status: 200, faults: [] }
    this.record(world, entry, change)
  }

  /** Forgets the requests to a world so far. Their numbers are not used again. */
  forget(world: World): void {
    this.#journalOf(world).clear()
  }

  /** A request that is answered after its world has ended is in no journal. */
  record(world: World, entry: Entry, change?: WorldChange): void {
    const journal = this.#journalOf(world)
    if (!this.#living.has(journal)) return
    this.#events += 1
    const recorded = journal.record(entry, this.#events, change)
    if (this.bytes > this.#maxBytes) this.#makeRoom()
    if (this.#listeners.size > 0) this.#report({ id: recorded.event, in: this.of(world), recorded })
  }

  /** Keeps the journal of a world that has just ended. `at` is in milliseconds of the world's time. */
  end(world: World, at: number, reason: EndReason): void {
    this.#events += 1
    const ended = { ...this.of(world), ended: { at, reason, event: this.#events } }
    this.#living.delete(ended.journal)
    this.#ended.set(world.id, ended)
    if (this.#ended.size > maxEndedWorlds) {
      const [first] = this.#ended.values()
      this.#ended.delete(first!.id)
      first!.journal.clear()
    }
    this.#report(endEvent(ended))
  }

  /** What is kept of the events after number `last` in these journals of living worlds, and with `ended` in those of ended ones. */
  since(last: number, living: Iterable<WorldJournal>, ended: Iterable<EndedJournal> = []): ReadonlyArray<JournalEvent> {
    const events: Array<JournalEvent> = []
    for (const kept of [...living, ...ended]) {
      for (const recorded of kept.journal.since(last)) events.push({ id: recorded.event, in: kept, recorded })
    }
    for (const one of ended) if (one.ended.event > last) events.push(endEvent(one))
    return events.sort((a, b) => a.id - b.id)
  }

  /** How many events there have been: the number of the last. */
  get eventCount(): number {
    return this.#events
  }

  #report(event: JournalEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  /** How many listen. */
  get listeners(): number {
    return this.#listeners.size
  }

  /** Gives what ends the listening. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #journalOf(world: World): Journal {
    const known = this.#byWorld.get(world)
    if (known !== undefined) return known
    const begun = new Journal(this.#all)
    this.#byWorld.set(world, begun)
    this.#living.add(begun)
    return begun
  }

  /**
   * Makes room for a while at once, because to find the quietest worlds takes longer than to drop an entry: ended worlds lose
   * their oldest requests beyond what each may keep, the one that ended first before the others; then go the older halves of the
   * journals of the worlds that have been quiet longest.
   */
  #makeRoom(): void {
    const target = this.#maxBytes * (1 - roomShare)
    const maxEndedBytes = (this.#maxBytes * endedShare) / maxEndedWorlds
    for (const { journal } of this.#ended.values()) {
      // The last request is the one that a test which failed asks about.
      while (this.bytes > target && journal.bytes > maxEndedBytes && journal.kept > 1) journal.dropOldest()
    }
    const quietest = [...this.#living].filter(({ kept }) => kept > 0).sort((a, b) => a.lastEvent - b.lastEvent)
    while (this.bytes > target && quietest.some(({ kept }) => kept > 0)) {
      for (const journal of quietest) {
        if (this.bytes <= target) return
        for (let half = Math.ceil(journal.kept / 2); half > 0; half--) journal.dropOldest()
      }
    }
  }
}
