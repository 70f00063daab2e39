/**
 * Writes a text as its bytes, piece by piece, into one buffer that is used again for the next. Strings that are put together
 * from many pieces and then encoded cost twice as much: each piece is visited again when the whole is.
 */
const utf8 = new TextEncoder()

/** The bytes of a text that is written often. */
export const encoded = (text: string): Uint8Array => utf8.encode(text)

const zero = 48

export class ByteWriter {
  #bytes = new Uint8Array(64 * 1024)
  #length = 0

  /** Forgets what was begun: a text that failed halfway is no part of the next. */
  clear(): void {
    this.#length = 0
  }

  /** ASCII text. */
  ascii(text: string): void {
    this.#reserve(text.length)
    const bytes = this.#bytes
    let at = this.#length
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i)
    this.#length = at
  }

  /** A string as JSON writes it, quotes included. */
  jsonString(text: string): void {
    if (isPlain(text)) {
      this.ascii('"')
      this.ascii(text)
      return this.ascii('"')
    }
    const json = JSON.stringify(text)
    this.#reserve(3 * json.length)
    this.#length += utf8.encodeInto(json, this.#bytes.subarray(this.#length)).written
  }

  /** Bytes that are there already. */
  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** A whole number from 0, with zeros before it up to `width` digits. */
  digits(value: number, width = 1): void {
    if (value >= 2 ** 31) return this.ascii(String(value).padStart(width, "0"))
    let count = 1
    for (let rest = value; rest >= 10; rest = (rest / 10) | 0) count += 1
    if (count < width) count = width
    this.#reserve(count)
    const bytes = this.#bytes
    let rest = value
    for (let at = this.#length + count - 1; at >= this.#length; at--) {
      const left = (rest / 10) | 0
      bytes[at] = zero + rest - left * 10
      rest = left
    }
    this.#length += count
  }

  /** Everything since the last time. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length)
    this.#length = 0
    return taken
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = new Uint8Array(2 * (this.#length + more))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

/** Whether JSON writes the text as it stands, and every character is one byte. */
const isPlain = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false
  }
  return true
}
