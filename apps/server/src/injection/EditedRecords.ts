/**
 * The records of a success while faults change them, one after another: read once, changed in place, written once. To read and
 * write a list of thousands for each of a hundred faults would hold the loop.
 */
import type { Reply } from "../http/Exchange.ts"
import { type JsonObject, recordsOf, successOf, withJson } from "./replyBody.ts"

/** What a fault does to them; `first` is the first of them. */
export type EditRecords = (records: EditedRecords, first: JsonObject) => void

interface EditedRecord {
  readonly value: Record<string, unknown>
  /** How many fields it has now. */
  fields: number
}

export class EditedRecords {
  readonly #reply: Reply
  readonly #envelope: Record<string, unknown>
  readonly #isHead: boolean
  #records: ReadonlyArray<EditedRecord>
  /** Whether the change that is under way has changed anything, and for HEAD by how many bytes. */
  #isChanged = false
  #addedBytes = 0
  /** Bytes of what the change wrote or took away so far: mostly the same field and value in each record. */
  readonly #bytesOf = new Map<unknown, number>()

  /** Of a reply that `successOf` takes for a success. */
  constructor(reply: Reply, method: string) {
    this.#reply = reply
    this.#envelope = { ...successOf(reply) }
    this.#isHead = method === "HEAD"
    this.#records = recordsOf(this.#envelope).map((value) => ({ value: value as never, fields: fieldCount(value) }))
  }

  /** Lets a fault change them. Gives whether its client notices, which gets only the length of a reply to HEAD. */
  edit(change: EditRecords): boolean {
    const first = this.#records.find(({ fields }) => fields > 0)
    if (first === undefined) return false
    this.#isChanged = false
    this.#addedBytes = 0
    this.#bytesOf.clear()
    change(this, first.value)
    return this.#isHead ? this.#addedBytes !== 0 : this.#isChanged
  }

  /** Gives each of them a field, in the place of one that is there. */
  set(field: string, value: unknown): void {
    for (const record of this.#records) this.#put(record, field, value)
  }

  /** Changes a field where it is there. */
  change(field: string, to: (value: unknown) => unknown): void {
    for (const record of this.#records) {
      if (Object.hasOwn(record.value, field)) this.#put(record, field, to(record.value[field]))
    }
  }

  remove(field: string): void {
    for (const record of this.#records) {
      if (!Object.hasOwn(record.value, field)) continue
      const value = record.value[field]
      delete record.value[field]
      record.fields -= 1
      this.#note(-1, () => this.#memberBytes(record, field, value))
    }
  }

  /** Takes them all away, if they are a list. */
  empty(): void {
    const { data } = this.#envelope
    if (!Array.isArray(data)) return
    this.#envelope["data"] = this.#records = []
    this.#note(-1, () => this.#jsonBytes(data) - this.#jsonBytes([]))
  }

  /** The reply with them as they are now. */
  written(): Reply {
    return withJson(this.#reply, this.#envelope)
  }

  #put(record: EditedRecord, field: string, value: unknown): void {
    const isThere = Object.hasOwn(record.value, field)
    const before = isThere ? record.value[field] : undefined
    if (isThere && isSame(before, value)) return
    this.#note(1, () =>
      isThere ? this.#jsonBytes(value) - this.#jsonBytes(before) : this.#memberBytes(record, field, value)
    )
    if (!isThere) record.fields += 1
    // As a field like any other: to assign it would set the prototype.
    if (field === "__proto__") Object.defineProperty(record.value, field, { ...plain, value })
    else record.value[field] = value
  }

  #note(sign: 1 | -1, bytes: () => number): void {
    this.#isChanged = true
    if (this.#isHead) this.#addedBytes += sign * bytes()
  }

  #jsonBytes(value: unknown): number {
    const known = this.#bytesOf.get(value)
    if (known !== undefined) return known
    const bytes = Buffer.byteLength(JSON.stringify(value))
    this.#bytesOf.set(value, bytes)
    return bytes
  }

  /** Bytes of a field beside the others of its record, its comma included where there are any. */
  #memberBytes({ fields }: EditedRecord, field: string, value: unknown): number {
    return this.#jsonBytes(field) + 1 + this.#jsonBytes(value) + (fields === 0 ? 0 : 1)
  }
}

const plain = { configurable: true, enumerable: true, writable: true }

const fieldCount = (record: JsonObject): number => Object.keys(record).length

const isSame = (one: unknown, other: unknown): boolean =>
  one === other ||
  (typeof one === "object" && typeof other === "object" && JSON.stringify(one) === JSON.stringify(other))
