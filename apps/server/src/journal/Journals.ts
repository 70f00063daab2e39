/**
 * The journal of a world: what was asked of it and what it answered, the latest thousand requests. It keeps what came as it
 * came; what a reader sees, without credentials, is `JournalEntry.ts`.
 */

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
  /** What was answered; `null` when nothing was. */
  readonly status: number | null
  /** The faults that struck, by name. */
  readonly faults: ReadonlyArray<string>
}

/** What is to be recorded of a request. */
export type Exchange = Omit<Recorded, "seq" | "event" | "bodyBytes">

/** Bytes of a body that a journal keeps. */
export const keptBodyBytes = 2048

/** Requests a journal keeps. */
export const journalCapacity = 1000

export class Journal {
  readonly #capacity: number
  /** Grows up to the capacity, then the oldest gives way to the newest. */
  readonly #ring: Array<Recorded> = []
  #next = 0
  #count = 0

  constructor(capacity: number = journalCapacity) {
    this.#capacity = capacity
  }

  /** How many requests there have been, also those no longer kept. */
  get count(): number {
    return this.#count
  }

  /** `event` is the number of the request on the server. */
  record(exchange: Exchange, event: number): Recorded {
    this.#count += 1
    const { at, body, durationMillis, faults, method, status, url } = exchange
    const bodyBytes = body?.length ?? 0
    // A copy, so that the rest of a long body can go.
    const kept = bodyBytes > keptBodyBytes ? body!.slice(0, keptBodyBytes) : body
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
    this.#next = (this.#next + 1) % this.#capacity
    return recorded
  }

  /** What is kept, the oldest first. */
  entries(): ReadonlyArray<Recorded> {
    return this.#ring.length < this.#capacity
      ? [...this.#ring]
      : [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)]
  }

  /** Forgets what it keeps. It goes on counting. */
  clear(): void {
    this.#ring.length = 0
    this.#next = 0
  }
}
