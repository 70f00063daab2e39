/**
 * The body of a reply as text, read chunk by chunk, to its end or to a limit: what is counted on arrival cannot grow.
 */
import type { Body, Head } from "./Transport.ts"

/** What is read of a body that is known to be too long: its beginning is shown. */
const beginningBytes = 16 * 1024

const lengthOf = (headers: Head["headers"]) => Number(headers["content-length"] ?? Number.NaN)

/** Takes the chunks of one body. */
export class ReplyText {
  readonly #decoder = new TextDecoder()
  #room: number
  #text = ""

  constructor(headers: Head["headers"], maxBytes: number) {
    this.#room = lengthOf(headers) > maxBytes ? Math.min(beginningBytes, maxBytes) : maxBytes
  }

  /** Whether there is room for more; of a chunk that goes beyond it the rest is left out. */
  readonly add = (chunk: Uint8Array): boolean => {
    const fits = chunk.length <= this.#room
    this.#text += this.#decoder.decode(fits ? chunk : chunk.subarray(0, Math.max(0, this.#room)), { stream: true })
    this.#room -= chunk.length
    return fits
  }

  /** What was read, after the last chunk. */
  end(): Body {
    return { body: this.#text + this.#decoder.decode(), whole: this.#room >= 0 }
  }
}

/**
 * Whether the headers of a reply say that its body is no longer than it may be, so that it need not be counted as it
 * comes. What is counted before it is unpacked may be of any size after.
 */
export const isShort = (headers: Head["headers"], maxBytes: number): boolean =>
  lengthOf(headers) <= maxBytes && headers["content-encoding"] === undefined

/** The body of a web response. The signal ends the reading. */
export const webText = async (
  response: Response,
  headers: Head["headers"],
  maxBytes: number,
  signal: AbortSignal
): Promise<Body> => {
  const text = new ReplyText(headers, maxBytes)
  if (response.body === null) return text.end()
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader()
  const stop = () => void reader.cancel().catch(() => {})
  signal.addEventListener("abort", stop)
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return text.end()
      if (!text.add(value)) {
        stop()
        return text.end()
      }
    }
  } finally {
    signal.removeEventListener("abort", stop)
  }
}
