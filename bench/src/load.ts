/**
 * A load of GET requests, as cheap to make as it gets: bytes on kept-alive sockets, replies told apart by their
 * `content-length` alone. What makes the load shares the machine with what is measured, so it has to be the lesser part.
 */
import { connect, type Socket } from "node:net"

/** What to ask, and how hard. */
export interface Load {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Requests in all. */
  readonly total: number
  /** Connections, each with one request on its way. Default 8. */
  readonly connections?: number
}

/** Sends all requests of a load and gives the seconds it took. Fails on any reply but 200. */
export const run = async ({ connections = 8, headers, total, url }: Load): Promise<number> => {
  const lines = [`GET ${url.pathname}${url.search} HTTP/1.1`, `host: ${url.host}`]
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  const request = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`)
  let left = total
  const startedAt = process.hrtime.bigint()
  await Promise.all(Array.from({ length: connections }, () => ask(url, request, () => left-- > 0)))
  return Number(process.hrtime.bigint() - startedAt) / 1e9
}

/** One connection: asks again after each reply for as long as there is `more` to ask. */
const ask = (url: URL, request: Buffer, more: () => boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
    const next = () => {
      if (more()) return void socket.write(request)
      socket.destroy()
      resolve()
    }
    let head = ""
    let missing = 0
    socket.once("connect", next)
    socket.once("error", reject)
    socket.once("close", () => reject(new Error(`${url.pathname}: the connection was closed`)))
    socket.on("data", (bytes) => {
      let body = bytes.length
      if (missing === 0) {
        head += bytes.latin1Slice()
        const end = head.indexOf("\r\n\r\n")
        if (end < 0) return
        if (!head.startsWith("HTTP/1.1 200 ")) return reject(new Error(`${url.pathname}: ${head.split("\r\n", 1)[0]}`))
        const length = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, end))?.[1]
        if (length === undefined) return reject(new Error(`${url.pathname}: a reply without content-length`))
        missing = Number(length)
        body = head.length - end - 4
        head = ""
      }
      missing -= body
      if (missing === 0) next()
    })
  })
