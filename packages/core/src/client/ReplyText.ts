/**
 * The body of a reply as text, read chunk by chunk, to its end or to a limit: what is counted on arrival cannot grow.
 */
import type { Head } from "./Transport.ts"

/** Largest body that is read: the longest image list has less than a hundredth of it. */
export const largestBodyBytes = 16 * 1024 * 1024

/** Takes the chunks of one body. */
export class ReplyText {
  readonly #decoder = new TextDecoder()
  #bytes = 0
  #text = ""

  /** Whether the body is still of a size that makes sense; a chunk that goes beyond it is left out. */
  readonly add = (chunk: Uint8Array): boolean => {
    this.#bytes += chunk.length
    if (this.#bytes > largestBodyBytes) return false
    this.#text += this.#decoder.decode(chunk, { stream: true })
    return true
  }

  /** The whole body, after the last chunk. */
  end(): string {
    return this.#text + this.#decoder.decode()
  }
}

/**
 * Whether the headers of a reply say that its body is of a size that makes sense, so that it need not be counted as it
 * comes. What is counted before it is unpacked may be of any size after.
 */
export const isShort = (headers: Head["headers"]): boolean =>
  Number(headers["content-length"] ?? Number.NaN) <= largestBodyBytes && headers["content-encoding"] === undefined

/** The body of a web response; undefined when it is larger than any that makes sense. The signal ends the reading. */
export const webText = async (response: Response, signal: AbortSignal): Promise<string | undefined> => {
  if (response.body === null) return ""
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader()
  const stop = () => void reader.cancel().catch(() => {})
  signal.addEventListener("abort", stop)
  try {
    const text = new ReplyText()
    while (true) {
      const { done, value } = await reader.read()
      if (done) return text.end()
      if (!text.add(value)) {
        stop()
        return undefined
      }
    }
  } finally {
    signal.removeEventListener("abort", stop)
  }
}
