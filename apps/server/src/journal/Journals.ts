/**
 * The journals of the worlds that are running and of those that have ended last, and the listeners that receive every
 * answered request. A journal keeps the latest requests to a world with their replies, exactly as they came;
 * `JournalEntry.ts` makes the view for readers, without credentials. Entries and bytes are limited for each world, and bytes
 * for all worlds together.
 */
import type { World } from "../world/World.ts"
import type { Account } from "../world/WorldSettings.ts"

/** What the control plane can do to a whole world. */
export type WorldChange = "reset" | "restored"
export const worldChanges: ReadonlyArray<WorldChange> = ["reset", "restored"]

/** One request and its reply. Instants are milliseconds of the world's time. */
export interface Recorded {
  /** Number of the entry in its journal, from 1. Numbers are never reused. */
  readonly seq: number
  /** The change that the control plane made to the world; undefined if the entry is a request of the service. */
  readonly change: WorldChange | undefined
  /** Number of the entry among all events of this server, from 1. */
  readonly event: number
  readonly at: number
  readonly durationMillis: number
  readonly method: string
  /** Path and query, with credentials. */
  readonly url: string
  /** The headers of the request as received, with credentials, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body, if the server has read a body. */
  readonly body: Uint8Array | undefined
  /** Number of bytes of the whole body. */
  readonly bodyBytes: number
  /** The status of the reply; `null` if there was none. */
  readonly status: number | null
  /** The headers of the reply by their names in lower case; empty if there was no reply. */
  readonly replyHeaders: Readonly<Record<string, string>>
  /** Number of bytes of the reply's whole body; `undefined` if unknown. */
  readonly replyBytes: number | undefined
  /**
   * The beginning of the reply's body. It is kept only if the reply is a failure or faults have fired, because nobody reads
   * the others.
   */
  readonly replyBody: Uint8Array | undefined
  /** The faults that fired, by name. */
  readonly faults: ReadonlyArray<string>
}

/** A request and its reply, before it is recorded. */
export type Entry = Omit<Recorded, "seq" | "change" | "event" | "bodyBytes">

/** Maximum bytes that a journal keeps of each body. */
export const maxKeptBodyBytes = 2048

/** Maximum number of entries in a journal. */
export const maxEntries = 1000

/** Maximum bytes of a journal. Only requests with long URLs and bodies reach it before `maxEntries`. */
export const maxJournalBytes = 4 * 1024 * 1024

/** Rough number of bytes that an entry takes apart from its strings. */
const entryOverheadBytes = 256

/** Approximate memory of an entry. */
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

/** A copy of the beginning of a body, so that the rest of a long one can be freed. */
const beginningOf = (body: Uint8Array | undefined): Uint8Array | undefined =>
  body !== undefined && body.length > maxKeptBodyBytes ? body.slice(0, maxKeptBodyBytes) : body

export class Journal {
  /** Oldest first. */
  #entries: Array<Recorded> = []
  #count = 0
  /** The number of entries so far when the journal was last cleared. */
  #forgotten = 0
  #bytes = 0
  /** Approximate memory of all journals of the server, including this one. */
  readonly #all: { bytes: number }

  constructor(all = { bytes: 0 }) {
    this.#all = all
  }

  /** Number of entries so far, including those that are no longer kept. */
  get count(): number {
    return this.#count
  }

  /** Number of entries that the full journal has dropped since it was last cleared. */
  get dropped(): number {
    return this.#count - this.kept - this.#forgotten
  }

  /** Number of entries that are kept. */
  get kept(): number {
    return this.#entries.length
  }

  /** Approximate memory of this journal. */
  get bytes(): number {
    return this.#bytes
  }

  /** `event` is the number of the event on the server. */
  record(entry: Entry, event: number, change?: WorldChange): Recorded {
    this.#count += 1
    const { at, body, durationMillis, faults, headers, method, replyBody, replyBytes, replyHeaders, status, url } =
      entry
    // Do not spread here: a plain object literal is faster, and every request passes here.
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

  /** Drops the oldest entry. */
  dropOldest(): void {
    const dropped = this.#entries.shift()
    if (dropped !== undefined) this.#weigh(-bytesOf(dropped))
  }

  #weigh(bytes: number): void {
    this.#bytes += bytes
    this.#all.bytes += bytes
  }

  /** The number of the latest event that is kept; 0 if none is. */
  get lastEvent(): number {
    return this.#entries.at(-1)?.event ?? 0
  }

  /** The kept entries, oldest first. */
  entries(): ReadonlyArray<Recorded> {
    return this.#entries.slice()
  }

  /** The kept entries after event number `event`. */
  since(event: number): ReadonlyArray<Recorded> {
    return this.#entries.slice(this.#entries.findLastIndex((entry) => entry.event <= event) + 1)
  }

  /** Drops all entries. The numbers of later entries continue. */
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
  /** When the world ended, in milliseconds of the world's time. */
  readonly at: number
  readonly reason: EndReason
  /** Number of this end among all events of the server, from 1. */
  readonly event: number
}

/** The journal of a world that is running or has ended, and what a reader needs to know about the world. */
export interface WorldJournal {
  readonly id: string
  readonly seed: number
  /** The account whose credentials are redacted. */
  readonly account: Account
  readonly journal: Journal
  readonly ended?: WorldEnd
}

/** The journal of a world that has ended. */
export type EndedJournal = Required<WorldJournal>

/** A request, or the end of a world. All listeners share one object. A listener formats it when it sends it. */
export type JournalEvent =
  | { readonly id: number; readonly in: WorldJournal; readonly recorded: Recorded }
  | { readonly id: number; readonly in: EndedJournal; readonly recorded: undefined }

/**
 * Receives journal events, and queues those that it has not sent yet. If it misses events, it finds them in the journals.
 */
export type Listener = (event: JournalEvent) => void

/** How many ended worlds keep their journals. */
export const maxEndedWorlds = 20

/** Maximum bytes of all journals together, including those of ended worlds. */
const maxAllBytes = 128 * 1024 * 1024

/** The share of `maxAllBytes` that is freed if the journals exceed it. */
const roomShare = 1 / 64

/** The share of `maxAllBytes` that ended worlds may keep together, divided equally, if the journals exceed it. */
const endedShare = 1 / 4

const endEvent = (ended: EndedJournal): JournalEvent => ({ id: ended.ended.event, in: ended, recorded: undefined })

export class Journals {
  readonly #byWorld = new WeakMap<World, Journal>()
  readonly #living = new Set<Journal>()
  /** The ended worlds by id, in the order in which they ended. */
  readonly #ended = new Map<string, EndedJournal>()
  readonly #listeners = new Set<Listener>()
  readonly #maxBytes: number
  readonly #all = { bytes: 0 }
  #events = 0

  constructor(maxBytes = maxAllBytes) {
    this.#maxBytes = maxBytes
  }

  /** Approximate memory of all journals. */
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

  /** The journals of ended worlds, first ended first. */
  allEnded(): ReadonlyArray<EndedJournal> {
    return [...this.#ended.values()]
  }

  /** Records that the control plane has reset or restored a world. A reset drops the requests before it. */
  changed(world: World, change: WorldChange, { method, url }: Pick<Entry, "method" | "url">): void {
    if (change === "reset") this.forget(world)
    const noBody = { body: undefined, replyHeaders: {}, replyBytes: undefined, replyBody: undefined }
    const entry = { ...noBody, at: world.latest, durationMillis: 0, method, url, headers: {}, status: 200, faults: [] }
    this.record(world, entry, change)
  }

  /** Drops all requests to a world so far. Their numbers are not reused. */
  forget(world: World): void {
    this.#journalOf(world).clear()
  }

  /** Records a request, unless its world has ended in the meantime. */
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

  /**
   * The kept events after number `last`: those in the journals `living` of running worlds, and those in the journals
   * `ended`, including the ends of these worlds.
   */
  since(last: number, living: Iterable<WorldJournal>, ended: Iterable<EndedJournal> = []): ReadonlyArray<JournalEvent> {
    const events: Array<JournalEvent> = []
    for (const kept of [...living, ...ended]) {
      for (const recorded of kept.journal.since(last)) events.push({ id: recorded.event, in: kept, recorded })
    }
    for (const one of ended) if (one.ended.event > last) events.push(endEvent(one))
    return events.sort((a, b) => a.id - b.id)
  }

  /** Number of events so far, which is the number of the last one. */
  get eventCount(): number {
    return this.#events
  }

  #report(event: JournalEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  /** Number of listeners. */
  get listeners(): number {
    return this.#listeners.size
  }

  /** Adds a listener. Returns a function that removes it. */
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
   * Frees enough room for a while, because finding the quietest worlds takes longer than dropping an entry. First, ended
   * worlds that keep more than their share lose their oldest entries, beginning with the world that ended first. Then
   * running worlds lose the older half of their journals, beginning with the world that has been quiet longest.
   */
  #makeRoom(): void {
    const target = this.#maxBytes * (1 - roomShare)
    const maxEndedBytes = (this.#maxBytes * endedShare) / maxEndedWorlds
    for (const { journal } of this.#ended.values()) {
      // Keep the last request, because a failed test most likely asks about it.
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
