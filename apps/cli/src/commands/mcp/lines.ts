/**
 * Splits the client's input into lines before the toolkit (Effect's MCP server) parses it. The toolkit would drop a whole chunk because of
 * one line that is not JSON, and an endless line would fill the memory. Invalid messages are answered here. Pure.
 */
import { Predicate } from "effect"

/** Maximum length of a line, in bytes. Tools need far less. */
const maxLineBytes = 1024 * 1024

/** The decision about a line: pass it on, or answer it. */
export interface Judged {
  readonly pass?: string
  readonly reply?: string
}

const errorLine = (code: number, message: string, id: unknown = null): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`

const isId = (id: unknown): boolean => Predicate.isString(id) || Number.isSafeInteger(id)

/** A message of JSON-RPC: a request, a notification or a reply. */
const isMessage = (message: unknown): boolean => {
  if (!Predicate.isObject(message) || message["jsonrpc"] !== "2.0") return false
  const { id, method, params } = message
  if (method === undefined) return isId(id) && ("result" in message || "error" in message)
  if (!Predicate.isString(method) || method === "") return false
  return (id === undefined || isId(id)) && (params === undefined || Predicate.isObject(params))
}

/** Judges one line. */
const judge = (line: string): Judged => {
  if (line.trim() === "") return {}
  let message: unknown
  try {
    message = JSON.parse(line)
  } catch {
    return { reply: errorLine(-32_700, "Parse error: a line is one JSON-RPC message.") }
  }
  // Few revisions of the protocol have batches, and the toolkit answers them itself.
  if (Array.isArray(message)) return { pass: line }
  if (isMessage(message)) return { pass: line }
  const id = Predicate.isObject(message) && isId(message["id"]) ? message["id"] : null
  return { reply: errorLine(-32_600, "Invalid Request: not a message of JSON-RPC 2.0.", id) }
}

/** Cuts chunks into lines; drops the bytes of a line that is too long. */
export const lineCutter = () => {
  const decoder = new TextDecoder()
  let pending: Array<Uint8Array> = []
  let length = 0
  let isTooLong = false

  const take = (part: Uint8Array) => {
    length += part.length
    if (length > maxLineBytes) {
      isTooLong = true
      pending = []
    } else pending.push(part)
  }

  const end = (): Judged => {
    const line = isTooLong ? undefined : decoder.decode(Buffer.concat(pending))
    pending = []
    length = 0
    isTooLong = false
    return line === undefined
      ? { reply: errorLine(-32_600, `Invalid Request: a line is at most ${maxLineBytes} bytes long.`) }
      : judge(line)
  }

  /** Returns the decisions for the lines that end in this chunk. */
  return (chunk: Uint8Array): ReadonlyArray<Judged> => {
    const judged: Array<Judged> = []
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, at))
      judged.push(end())
      from = at + 1
    }
    // Copy, because the reader may reuse its buffer.
    if (from < chunk.length) take(chunk.slice(from))
    return judged
  }
}
