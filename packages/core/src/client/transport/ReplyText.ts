/**
 * Reads the body of a reply as text, chunk by chunk, to its end or to a limit. Counts bytes as they arrive.
 */
import type { Body, Head } from "./Transport.ts"

/** Bytes to read of a body that is known to be too long, for the excerpt in the error. */
const beginningBytes = 16 * 1024

const lengthOf = (headers: Head["headers"]) => Number(headers["content-length"] ?? Number.NaN)

/** Collects the chunks of one body. */
export class ReplyText {
  readonly #decoder = new TextDecoder()
  #room: number
  #text = ""

  constructor(headers: Head["headers"], maxBytes: number) {
    this.#room = lengthOf(headers) > maxBytes ? Math.min(beginningBytes, maxBytes) : maxBytes
  }

  /** Adds as much of a chunk as fits. Returns whether all of it did. */
  readonly add = (chunk: Uint8Array): boolean => {
    const fits = chunk.length <= this.#room
    this.#text += this.#decoder.decode(fits ? chunk : chunk.subarray(0, Math.max(0, this.#room)), { stream: true })
    this.#room -= chunk.length
    return fits
  }

  /** Returns the text after the last chunk. */
  end(): Body {
    return { body: this.#text + this.#decoder.decode(), whole: this.#room >= 0 }
  }
}

/**
 * Whether the headers prove that the body is within the limit, so that it need not be counted. A compressed body may have any size once it
 * is decompressed.
 */
export const isShort = (headers: Head["headers"], maxBytes: number): boolean =>
  lengthOf(headers) <= maxBytes && headers["content-encoding"] === undefined

/**
 * The coding with which a gateway compressed a body although `identity` was requested; undefined if there is none or it cannot be
 * decompressed here.
 */
export const codingOf = (headers: Head["headers"]): "gzip" | "deflate" | "br" | undefined => {
  const coding = headers["content-encoding"]?.trim().toLowerCase()
  if (coding === "gzip" || coding === "x-gzip") return "gzip"
  return coding === "deflate" || coding === "br" ? coding : undefined
}

/** Reads the body of a web response. The signal stops the reading. */
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
