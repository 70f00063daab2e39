/**
 * Reads JSON while it arrives, so that what cannot be accepted is refused before it fills the memory. It follows strings and
 * brackets only: that is enough to bound the depth and the number of values, and to find the elements of long arrays, which
 * are handed over in batches. `JSON.parse` reads the batches and what is around them, each short enough to block nothing.
 */
import { fail, type Failure } from "@berth/core/api/Envelope"
import { Result } from "effect"
import { countKeys, duplicateKey } from "./duplicateKeys.ts"
import { maxBodyBytes } from "./limits.ts"

/** How deep arrays and objects may be nested. */
export const maxDepth = 64

/** Values in a body, or in one element of a long array. */
export const maxValues = 20_000

/** A batch ends with the first element past so many bytes, which are fewer than the values that one may have. */
const batchBytes = 16 * 1024

/** How deep a long array may be. */
const maxPathLength = 2

/** Some elements of a long array, in order. */
export interface Batch {
  /** The path of the array, as in `allowance.grants`. */
  readonly array: string
  /** The index of the first element. */
  readonly from: number
  readonly elements: ReadonlyArray<unknown>
  /** Gives the elements anew: to keep this for later takes less memory than to keep them. */
  readonly again: () => ReadonlyArray<unknown>
}

export type Unreadable = Failure<400> | Failure<413> | Failure<422>

interface ReaderOptions {
  /** Paths of arrays whose elements go to `onBatch` and are left out of the value. Default none. */
  readonly longArrays?: ReadonlyArray<string>
  /** What it gives ends the reading. */
  readonly onBatch?: (batch: Batch) => Unreadable | undefined
}

const malformed = fail(400, "The body is not well-formed JSON.")
const tooLarge = (what: string) => fail(413, `${what} is larger than ${maxBodyBytes} bytes.`)
const invalid = (path: string, sentence: string) => fail(422, `The field ${path} is not valid.`, { [path]: [sentence] })
const unacceptable = (path: string, sentence: string) => (path === "" ? fail(422, sentence) : invalid(path, sentence))

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

export class JsonReader {
  readonly #longArrays: ReadonlySet<string>
  readonly #onBatch: (batch: Batch) => Unreadable | undefined
  /** The text without the elements of long arrays. */
  readonly #frame = new Text()
  /** The text of the batch that is being collected. */
  readonly #batch = new Text()
  /** The long array that is being read. */
  #open: { readonly path: string; readonly depth: number; from: number; index: number } | undefined
  #depth = 0
  /** What closes each open array or object, by depth from 1. */
  readonly #closers = new Uint8Array(maxDepth + 1)
  /** The latest key of each open object, by depth from 1. */
  readonly #keys: Array<string> = []
  #isInString = false
  #isEscaped = false
  #isAfterColon = false
  /** Where the latest string of the frame is. */
  #stringStart = 0
  #stringEnd = 0

  constructor({ longArrays = [], onBatch = () => undefined }: ReaderOptions = {}) {
    this.#longArrays = new Set(longArrays)
    this.#onBatch = onBatch
  }

  /** Takes the next bytes. What it gives is why the rest need not come. */
  push(bytes: Uint8Array): Unreadable | undefined {
    /** Where the bytes begin that no text has yet. */
    let from = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === backslash) this.#isEscaped = true
        else if (byte === quote) {
          this.#isInString = false
          this.#stringEnd = this.#frame.length + at + 1 - from
        }
        continue
      }
      switch (byte) {
        case quote:
          this.#isInString = true
          this.#stringStart = this.#frame.length + at - from
          break
        case colon:
          this.#text.keys += 1
          if (this.#open === undefined && this.#depth <= maxPathLength) {
            this.#frame.append(bytes, from, at)
            from = at
            this.#keys[this.#depth] = this.#readKey()
          }
          this.#isAfterColon = true
          break
        case comma: {
          this.#isAfterColon = false
          this.#text.values += 1
          if (this.#open?.depth !== this.#depth) break
          this.#open.index += 1
          if (this.#batch.length + at - from < batchBytes) break
          // The next batch begins with its comma: without an element after it, that is malformed.
          this.#batch.append(bytes, from, at)
          from = at
          const refusal = this.#finishBatch(this.#open)
          if (refusal !== undefined) return refusal
          break
        }
        case openBracket:
        case openBrace: {
          if (this.#depth === maxDepth) {
            return unacceptable(this.#path(), `Expected at most ${maxDepth} levels of arrays and objects.`)
          }
          this.#text.values += 1
          const path = byte === openBracket && this.#isAfterColon ? this.#longArrayHere() : undefined
          this.#isAfterColon = false
          this.#closers[++this.#depth] = byte === openBracket ? closeBracket : closeBrace
          if (path === undefined) break
          this.#frame.append(bytes, from, at + 1)
          from = at + 1
          this.#open = { path, depth: this.#depth, from: 0, index: 0 }
          break
        }
        case closeBracket:
        case closeBrace: {
          if (this.#depth === 0 || this.#closers[this.#depth] !== byte) return malformed
          if (this.#open?.depth === this.#depth) {
            this.#batch.append(bytes, from, at)
            from = at
            const refusal = this.#finishBatch(this.#open)
            if (refusal !== undefined) return refusal
            this.#open = undefined
          }
          this.#depth -= 1
        }
      }
    }
    this.#text.append(bytes, from, bytes.length)
    return this.#tooMuch()
  }

  #tooMuch(): Unreadable | undefined {
    if (this.#batch.isFull) return tooLarge(`The element ${this.#path()}`)
    if (this.#frame.isFull) {
      return tooLarge(this.#longArrays.size === 0 ? "The body" : `The body without ${[...this.#longArrays].join(", ")}`)
    }
    return Math.max(this.#frame.values, this.#batch.values) > maxValues
      ? unacceptable(this.#path(), `Expected at most ${maxValues} values.`)
      : undefined
  }

  /** The value of the whole text, in which long arrays are empty. */
  end(): Result.Result<unknown, Unreadable> {
    return this.#depth > 0 || this.#isInString
      ? Result.fail(malformed)
      : Result.map(parse(this.#frame), ({ value }) => value)
  }

  /** The text that is being read. */
  get #text(): Text {
    return this.#open === undefined ? this.#frame : this.#batch
  }

  #readKey(): string {
    const read = Result.try(() => String(JSON.parse(this.#frame.read(this.#stringStart, this.#stringEnd))))
    return Result.getOrElse(read, () => "")
  }

  /** The path of an array that begins here, if it is a long one. */
  #longArrayHere(): string | undefined {
    if (this.#longArrays.size === 0 || this.#open !== undefined || this.#depth > maxPathLength) return undefined
    for (let depth = 1; depth <= this.#depth; depth++) if (this.#closers[depth] !== closeBrace) return undefined
    const path = this.#keys.slice(1, this.#depth + 1).join(".")
    return this.#longArrays.has(path) ? path : undefined
  }

  /** Where the reading is, as far as it is known. */
  #path(): string {
    if (this.#open !== undefined) return `${this.#open.path}.${this.#open.index}`
    return this.#closers[1] === closeBrace ? (this.#keys[1] ?? "") : ""
  }

  #finishBatch(open: { readonly path: string; from: number }): Unreadable | undefined {
    if (this.#batch.isFull) return this.#tooMuch()
    const { from } = open
    const read = parse(this.#batch, open)
    this.#batch.clear()
    if (Result.isFailure(read)) return read.failure
    const elementsOf = (values: unknown) => (values as ReadonlyArray<unknown>).slice(from === 0 ? 0 : 1)
    const { json, value } = read.success
    const elements = elementsOf(value)
    open.from += elements.length
    const again = () => elementsOf(JSON.parse(json))
    return elements.length === 0 ? undefined : this.#onBatch({ array: open.path, from, elements, again })
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true })
const utf8WithMark = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Reads the text of a body, or of a batch of a long array. */
const parse = (
  text: Text,
  batch?: { readonly path: string; readonly from: number }
): Result.Result<{ readonly json: string; readonly value: unknown }, Unreadable> => {
  const read = Result.try(() => {
    if (batch === undefined) return utf8.decode(text.bytes)
    // A batch that is not the first begins with a comma: `0` is in the place of what was before.
    return `[${batch.from === 0 ? "" : "0"}${utf8WithMark.decode(text.bytes)}]`
  }).pipe(Result.flatMap((json) => Result.try(() => ({ json, value: JSON.parse(json) as unknown }))))
  if (Result.isFailure(read)) return Result.fail(malformed)
  const { json, value } = read.success
  // As many colons as keys, or a key has come twice, of which `JSON.parse` kept one.
  if (countKeys(value) === text.keys) return Result.succeed({ json, value })
  const path = duplicateKey(json)
  if (batch !== undefined) path.splice(0, 1, batch.path, Number(path[0]) + Math.max(0, batch.from - 1))
  return Result.fail(invalid(path.join("."), "The field is given twice."))
}

/** Text that grows up to the limit of a body. What is beyond it is left out. */
class Text {
  #buffer = new Uint8Array(1024)
  length = 0
  isFull = false
  /** Colons outside strings. */
  keys = 0
  /** Commas and opening brackets outside strings. */
  values = 0

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length)
  }

  read(from: number, to: number): string {
    return utf8WithMark.decode(this.#buffer.subarray(from, to))
  }

  append(bytes: Uint8Array, from: number, to: number): void {
    const length = this.length + to - from
    if (length > maxBodyBytes) {
      this.isFull = true
      return
    }
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.min(maxBodyBytes, Math.max(length, this.#buffer.length * 2)))
      larger.set(this.bytes)
      this.#buffer = larger
    }
    this.#buffer.set(bytes.subarray(from, to), this.length)
    this.length = length
  }

  clear(): void {
    this.length = 0
    this.keys = 0
    this.values = 0
  }
}
