/**
 * HTTP allows a service to send `100 Continue` before any reply; undici closes the connection when it did not expect one. This
 * removes it from the bytes of a connection before undici reads them.
 */
import type { Socket } from "node:net"

const beginning = "HTTP/1.1 100"
const firstDigitAt = beginning.indexOf("100")
const oneDigit = 49
const end = "\r\n\r\n"

/** A longer one goes to undici. */
const maxBytes = 8 * 1024

/**
 * Removes every `100` from the beginning of each reply on a socket of HTTP/1, which carries one exchange at a time: a reply
 * begins after a write.
 */
export const withoutContinue = (socket: Socket): Socket => {
  let atBeginning = false
  let held: Buffer | null = null
  const { read, write } = socket
  socket.write = ((...args: Parameters<typeof write>) => {
    atBeginning = true
    return write.apply(socket, args)
  }) as typeof write
  socket.read = (size?: number) => {
    while (true) {
      const more: Buffer | null = read.call(socket, size)
      if (!atBeginning || more === null) return more
      // For almost every reply the first digit of its status is enough.
      if (held === null && more.length > firstDigitAt && more[firstDigitAt] !== oneDigit) {
        atBeginning = false
        return more
      }
      const chunk: Buffer = held === null ? more : Buffer.concat([held, more])
      held = null
      const first = chunk.toString("latin1", 0, beginning.length)
      if (!beginning.startsWith(first)) {
        atBeginning = false
        return chunk
      }
      const endAt = chunk.indexOf(end)
      if (endAt === -1 && chunk.length > maxBytes) return chunk
      if (endAt === -1) held = chunk
      else if (chunk.length > endAt + end.length) socket.unshift(chunk.subarray(endAt + end.length))
    }
  }
  return socket
}
