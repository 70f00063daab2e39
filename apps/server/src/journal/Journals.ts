/**
 * The journals of all worlds: the latest thousand requests to each with their replies, and the listeners that get every
 * request as it is answered. A journal keeps requests as they came; what a reader sees, without credentials, is
 * `JournalEntry.ts`.
 */
import type { World } from "../world/World.ts"

/** One request and its reply. Instants are milliseconds of the world's time. */
export interface Recorded {
  /** Counts the requests of the world, from 1. */
  readonly seq: number
  /** Counts the requests of the server, from 1: the id of its event. */
  readonly event: number
  readonly at: number
  readonly durationMillis: number
  readonly method: string
  /** Path and query, with the credentials in it. */
  readonly url: string
  /** The beginning of the body that was read, if one was. */
  readonly body: Uint8Array | undefined
  /** Bytes of the whole body. */
  readonly bodyBytes: number
  /** The status of the reply; `null` when there was none. */
  readonly status: number | null
  /** The faults that fired, by name. */
  readonly faults: ReadonlyArray<string>
}

/** A request and its reply, to be recorded. */
export type Entry = Omit<Recorded, "seq" | "event" | "bodyBytes">

/** Bytes of a body that a journal keeps. */
export const maxKeptBodyBytes = 2048

/** Requests a journal keeps. */
export const maxEntries = 1000

export class Journal {
  /** Grows up to its limit, then the newest replaces the oldest. */
  readonly #ring: Array<Recorded> = []
  #next = 0
  #count = 0

  /** How many requests there have been, also those no longer kept. */
  get count(): number {
    return this.#count
  }

  /** `event` is the number of the request on the server. */
  record(entry: Entry, event: number): Recorded {
    this.#count += 1
    const { at, body, durationMillis, faults, method, status, url } = entry
    const bodyBytes = body?.length ?? 0
    // A copy, so that the rest of a long body can go.
    const kept = bodyBytes > maxKeptBodyBytes ? body!.slice(0, maxKeptBodyBytes) : body
    // One literal and no spreading: every request passes here.
    const recorded: Recorded = {
      seq: this.#count,
      event,
      at,
      durationMillis,
      method,
      url,
      body: kept,
      bodyBytes,
      status,
      faults
    }
    this.#ring[this.#next] = recorded
    this.#next = (this.#next + 1) % maxEntries
    return recorded
  }

  /** What is kept, the oldest first. */
  entries(): ReadonlyArray<Recorded> {
    return this.#ring.length < maxEntries
      ? [...this.#ring]
      : [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)]
  }

  /** Forgets what it keeps. It goes on counting. */
  clear(): void {
    this.#ring.length = 0
    this.#next = 0
  }
}

export type Listener = (world: World, recorded: Recorded) => void

/** Writes every journal. Listeners keep nothing: what one of them missed is in the journals. */
export class Journals {
  readonly #byWorld = new WeakMap<World, Journal>()
  readonly #listeners = new Set<Listener>()
  #count = 0

  of(world: World): Journal {
    const known = this.#byWorld.get(world)
    return known ?? this.begin(world)
  }

  /** Begins the journal of a world anew, as a reset does. */
  begin(world: World): Journal {
    const journal = new Journal()
    this.#byWorld.set(world, journal)
    return journal
  }

  record(world: World, entry: Entry): void {
    this.#count += 1
    const recorded = this.of(world).record(entry, this.#count)
    for (const listener of this.#listeners) listener(world, recorded)
  }

  /** Gives what ends the listening. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
