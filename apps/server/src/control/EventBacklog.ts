/**
 * The events that wait for one client of the stream: references to what the journals record, not the texts that are sent. A client
 * that reads slowly misses the oldest of them.
 */
import { bytesOf, type JournalEvent } from "../journal/Journals.ts"

/** Events that wait. */
export const maxWaiting = 1000

/** Bytes of their requests, which the journals may have dropped since: as many as a journal keeps. */
export const maxWaitingBytes = 4 * 1024 * 1024

export class EventBacklog {
  readonly #waiting: Array<JournalEvent> = []
  #bytes = 0
  #onOffer: (() => void) | undefined

  /** How many events wait. */
  get size(): number {
    return this.#waiting.length
  }

  offer(event: JournalEvent): void {
    this.#waiting.push(event)
    this.#bytes += bytesOfEvent(event)
    while (this.size > maxWaiting || (this.#bytes > maxWaitingBytes && this.size > 1)) this.take()
    this.#onOffer?.()
  }

  /** The oldest event, which no longer waits. */
  take(): JournalEvent | undefined {
    const event = this.#waiting.shift()
    if (event !== undefined) this.#bytes -= bytesOfEvent(event)
    return event
  }

  /** Calls back once, when there is an event. What it gives ends the waiting. */
  whenOffered(resume: () => void): () => void {
    if (this.size > 0) resume()
    else {
      this.#onOffer = () => {
        this.#onOffer = undefined
        resume()
      }
    }
    return () => void (this.#onOffer = undefined)
  }
}

const bytesOfEvent = ({ recorded }: JournalEvent): number => (recorded === undefined ? 0 : bytesOf(recorded))
