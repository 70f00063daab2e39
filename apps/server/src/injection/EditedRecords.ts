/**
 * The records of a success while faults change them, one after another: read once, changed in place, written once. To read and
 * write a list of thousands for each of a hundred faults would hold the loop.
 */
import type { Reply } from "../http/Exchange.ts"
import { type JsonObject, recordsOf, successOf, withJson } from "./replyBody.ts"

/** What a fault does to them; `first` is the first of them. */
export type EditRecords = (records: EditedRecords, first: JsonObject) => void

export class EditedRecords {
  readonly #reply: Reply
  readonly #envelope: Record<string, unknown>
  #records: ReadonlyArray<Record<string, unknown>>
  /** Whether the change that is under way has changed anything. */
  #isChanged = false

  /** Of a reply that `successOf` takes for a success. */
  constructor(reply: Reply) {
    this.#reply = reply
    this.#envelope = { ...successOf(reply) }
    this.#records = recordsOf(this.#envelope)
  }

  /** Lets a fault change them. Gives whether it does. */
  edit(change: EditRecords): boolean {
    const first = this.#records.find((record) => Object.keys(record).length > 0)
    if (first === undefined) return false
    this.#isChanged = false
    change(this, first)
    return this.#isChanged
  }

  /** Gives each of them a field, in the place of one that is there. */
  set(field: string, value: unknown): void {
    for (const record of this.#records) this.#put(record, field, value)
  }

  /** Changes a field where it is there. */
  change(field: string, to: (value: unknown) => unknown): void {
    for (const record of this.#records) {
      if (Object.hasOwn(record, field)) this.#put(record, field, to(record[field]))
    }
  }

  remove(field: string): void {
    for (const record of this.#records) {
      if (!Object.hasOwn(record, field)) continue
      delete record[field]
      this.#isChanged = true
    }
  }

  /** Takes them all away, if they are a list. */
  empty(): void {
    if (!Array.isArray(this.#envelope["data"])) return
    this.#envelope["data"] = this.#records = []
    this.#isChanged = true
  }

  /** The reply with them as they are now. */
  written(): Reply {
    return withJson(this.#reply, this.#envelope)
  }

  #put(record: Record<string, unknown>, field: string, value: unknown): void {
    if (Object.hasOwn(record, field) && isSame(record[field], value)) return
    this.#isChanged = true
    // As a field like any other: to assign it would set the prototype.
    Object.defineProperty(record, field, { configurable: true, enumerable: true, writable: true, value })
  }
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other ||
  (typeof one === "object" && typeof other === "object" && JSON.stringify(one) === JSON.stringify(other))
