/**
 * Events as they are sent, made once for all streams that keep up: a request with many parameters takes milliseconds to be shown.
 */
import * as Sse from "effect/encoding/Sse"
import type { JournalEvent } from "../journal/Journals.ts"
import { showEntry } from "../journal/JournalEntry.ts"

/** How many of the latest texts are kept. */
const maxKept = 64

export class EventTexts {
  readonly #kept = new Map<JournalEvent, string>()

  of(event: JournalEvent): string {
    const known = this.#kept.get(event)
    if (known !== undefined) return known
    const text = textOf(event)
    this.#kept.set(event, text)
    const [first] = this.#kept.keys()
    if (this.#kept.size > maxKept) this.#kept.delete(first!)
    return text
  }
}

const textOf = (event: JournalEvent): string => {
  const { account, id: world } = event.in
  const [name, data] =
    event.recorded === undefined
      ? ["world-ended", { world, reason: event.in.ended.reason }]
      : ["request", { world, ...showEntry(account, event.recorded) }]
  return Sse.encoder.write({ _tag: "Event", event: name, id: String(event.id), data: JSON.stringify(data) })
}
