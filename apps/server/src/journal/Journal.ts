/**
 * The journal of one world: its latest requests with their replies, bounded in number and in bytes. It keeps requests as
 * they came; what a reader sees, without credentials, is `JournalEntry.ts`.
 */

/** What a request of the control plane makes of a world as a whole. */
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
  /** Whether its world has ended. */
  isClosed = false

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
    this.#bytes += bytesOf(recorded)
    while (this.#bytes > maxJournalBytes) this.dropOldest()
    return recorded
  }

  /** Forgets the oldest request that is kept. */
  dropOldest(): void {
    const dropped = this.#entries.shift()
    if (dropped !== undefined) this.#bytes -= bytesOf(dropped)
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
    this.#bytes = 0
  }
}
