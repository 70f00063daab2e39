/**
 * The journals of all worlds, of those that live and of those that ended last, bounded together; and the listeners that get
 * every request as it is answered.
 */
import type { World } from "../world/World.ts"
import type { Account } from "../world/WorldSettings.ts"
import { type Entry, Journal, type Recorded, type WorldChange } from "./Journal.ts"

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

/** How much of them goes when there are more. */
const roomShare = 1 / 64

/** How much of them ended worlds keep when there are more, each of them as much as any other. */
const endedShare = 1 / 4

const endEvent = (ended: EndedJournal): JournalEvent => ({ id: ended.ended.event, in: ended, recorded: undefined })

export class Journals {
  readonly #byWorld = new WeakMap<World, Journal>()
  /** The journals of living worlds that keep anything; the one that was written last stands last. */
  readonly #byQuiet = new Set<Journal>()
  /** By the id of their world; the one that ended last stands last. */
  readonly #ended = new Map<string, EndedJournal>()
  readonly #listeners = new Set<Listener>()
  readonly #maxBytes: number
  #lastWritten: Journal | undefined
  #bytes = 0
  #events = 0

  constructor(maxBytes = maxAllBytes) {
    this.#maxBytes = maxBytes
  }

  /** About how much memory they take. */
  get bytes(): number {
    return this.#bytes
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
    const journal = this.#journalOf(world)
    this.#leave(journal)
    journal.clear()
  }

  /** A request that is answered after its world has ended is in no journal. */
  record(world: World, entry: Entry, change?: WorldChange): void {
    const journal = this.#journalOf(world)
    if (journal.isClosed) return
    this.#events += 1
    const before = journal.bytes
    const recorded = journal.record(entry, this.#events, change)
    this.#bytes += journal.bytes - before
    if (this.#lastWritten !== journal) {
      this.#byQuiet.delete(journal)
      this.#byQuiet.add(journal)
      this.#lastWritten = journal
    }
    if (this.#bytes > this.#maxBytes) this.#makeRoom()
    if (this.#listeners.size > 0) this.#report({ id: recorded.event, in: this.of(world), recorded })
  }

  /** Keeps the journal of a world that has just ended. `at` is in milliseconds of the world's time. */
  end(world: World, at: number, reason: EndReason): void {
    this.#events += 1
    const ended = { ...this.of(world), ended: { at, reason, event: this.#events } }
    ended.journal.isClosed = true
    this.#byQuiet.delete(ended.journal)
    this.#ended.set(world.id, ended)
    if (this.#ended.size > maxEndedWorlds) this.#dropFirstEnded()
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

  /** Gives what ends the listening. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #journalOf(world: World): Journal {
    const known = this.#byWorld.get(world)
    if (known !== undefined) return known
    const begun = new Journal()
    this.#byWorld.set(world, begun)
    return begun
  }

  /** Takes a journal out of those of living worlds. */
  #leave(journal: Journal): void {
    this.#byQuiet.delete(journal)
    this.#bytes -= journal.bytes
    if (this.#lastWritten === journal) this.#lastWritten = undefined
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
      const before = journal.bytes
      // The last request is the one that a test which failed asks about.
      while (this.#bytes - (before - journal.bytes) > target && journal.bytes > maxEndedBytes && journal.kept > 1) {
        journal.dropOldest()
      }
      this.#bytes -= before - journal.bytes
    }
    while (this.#bytes > target && this.#byQuiet.size > 0) {
      for (const journal of this.#byQuiet) {
        const before = journal.bytes
        for (let half = Math.ceil(journal.kept / 2); half > 0; half--) journal.dropOldest()
        this.#bytes -= before - journal.bytes
        if (journal.kept === 0) this.#leave(journal)
        if (this.#bytes <= target) return
      }
    }
  }

  #dropFirstEnded(): void {
    const [first] = this.#ended.values()
    this.#ended.delete(first!.id)
    this.#bytes -= first!.journal.bytes
  }
}
