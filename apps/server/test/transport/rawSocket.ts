/**
 * Bytes on a socket and the replies to them: for requests that no HTTP client would send.
 */
import { connect, type Socket } from "node:net"
import { Effect } from "effect"

export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The bytes received until the server closed the connection, or until `enough`. */
export interface Exchange {
  readonly replies: ReadonlyArray<RawReply>
  /** Bytes after the last whole reply. */
  readonly rest: string
  readonly closedByServer: boolean
}

/**
 * Sends each piece when the one before it has been handed to the system, then waits for the server to close or for `enough` replies.
 * `headReplies` are the indexes of replies to HEAD, which have no body even if their headers state one.
 */
export const exchange = (
  baseUrl: string,
  pieces: ReadonlyArray<string | Uint8Array>,
  options: { readonly enough?: number; readonly headReplies?: ReadonlyArray<number>; readonly halfClose?: boolean } = {}
): Effect.Effect<Exchange> =>
  Effect.callback<Exchange>((resume) => {
    const { hostname, port } = new URL(baseUrl)
    const received: Array<Buffer> = []
    const read = (closedByServer: boolean): Exchange => ({
      ...readReplies(Buffer.concat(received).toString("latin1"), options.headReplies ?? []),
      closedByServer
    })
    const socket: Socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => sendFrom(0))
    const sendFrom = (index: number): void => {
      const piece = pieces[index]
      if (socket.destroyed) return
      if (piece === undefined) return void (options.halfClose === true && socket.end())
      socket.write(piece, () => sendFrom(index + 1))
    }
    const finish = (closedByServer: boolean) => {
      socket.destroy()
      resume(Effect.succeed(read(closedByServer)))
    }
    socket.on("data", (data: Buffer) => {
      received.push(data)
      if (options.enough !== undefined && read(false).replies.length >= options.enough) finish(false)
    })
    socket.on("end", () => finish(true))
    // A server that cuts off a connection may reset it. The bytes that came before the reset count.
    socket.on("error", () => finish(true))
    return Effect.sync(() => socket.destroy())
  })

const readReplies = (
  text: string,
  headReplies: ReadonlyArray<number>
): { readonly replies: ReadonlyArray<RawReply>; readonly rest: string } => {
  const replies: Array<RawReply> = []
  let rest = text
  for (;;) {
    const head = /^HTTP\/1\.1 (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest)
    if (head === null) return { replies, rest }
    const headers = Object.fromEntries(
      [...head[2]!.matchAll(/([^:\r\n]+): ?([^\r\n]*)\r\n/g)].map(([, name, value]) => [name!.toLowerCase(), value!])
    )
    const status = Number(head[1])
    const hasBody = status >= 200 && status !== 204 && !headReplies.includes(replies.length)
    const length = hasBody ? Number(headers["content-length"] ?? 0) : 0
    if (rest.length < head[0].length + length) return { replies, rest }
    if (status >= 200) replies.push({ status, headers, body: rest.slice(head[0].length, head[0].length + length) })
    rest = rest.slice(head[0].length + length)
  }
}
