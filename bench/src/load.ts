/**
 * Sends GET requests as cheaply as possible: bytes on kept-alive sockets, with replies separated by their `content-length` alone. The
 * load shares the machine with the server under test, so it must cost little.
 */
import { connect, type Socket } from "node:net"
import type { ServerProcess } from "./processes.ts"

/** Which requests to send, and how many. */
export interface Load {
  /** Requested in turn. */
  readonly urls: ReadonlyArray<URL>
  readonly headers: Readonly<Record<string, string>>
  /** Requests in all. */
  readonly total: number
}

/** Connections, each with one request under way. */
const connections = 8

/** Sends all requests of a load and returns the seconds it took. Fails on any reply except 200. */
export const run = async ({ headers, total, urls }: Load): Promise<number> => {
  const requests = urls.map((url) => {
    const lines = [`GET ${url.pathname}${url.search} HTTP/1.1`, `host: ${url.host}`]
    for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
    return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`)
  })
  let sent = 0
  const next = () => (sent < total ? requests[sent++ % requests.length] : undefined)
  const startedAt = process.hrtime.bigint()
  await Promise.all(Array.from({ length: connections }, () => keepAsking(urls[0]!, next)))
  return Number(process.hrtime.bigint() - startedAt) / 1e9
}

/** CPU time per request of `server` under a load, in microseconds. */
export const cpuPerRequest = async (server: ServerProcess, load: Load): Promise<number> => {
  const before = server.cpuMicros()
  await run(load)
  return (server.cpuMicros() - before) / load.total
}

/** One connection: sends the next request after each reply, until none is left. */
const keepAsking = ({ hostname, port }: URL, next: () => Buffer | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true })
    const askNext = () => {
      const request = next()
      if (request !== undefined) return void socket.write(request)
      socket.destroy()
      resolve()
    }
    let head = ""
    let missing = 0
    socket.once("connect", askNext)
    socket.once("error", reject)
    socket.once("close", () => reject(new Error("the connection was closed")))
    socket.on("data", (bytes: Buffer) => {
      let body = bytes.length
      if (missing === 0) {
        head += bytes.toString("latin1")
        const end = head.indexOf("\r\n\r\n")
        if (end < 0) return
        if (!head.startsWith("HTTP/1.1 200 ")) return reject(new Error(`a reply of ${head.split("\r\n", 1)[0]}`))
        const length = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, end))?.[1]
        if (length === undefined) return reject(new Error("a reply without content-length"))
        missing = Number(length)
        body = head.length - end - 4
        head = ""
      }
      missing -= body
      if (missing === 0) askNext()
    })
  })
