/** A client of one world for tests of faults. It reports how a call ended, even if any bytes arrive. */
import { connect } from "node:net"
import { Effect, Redacted } from "effect"
import type { TestWorld } from "../../src/testing.ts"
import { type Account, attempt, type CallOptions, nodeOf, type Outcome, requestAs } from "../http/service.ts"

/** One call over the socket, as any client makes it. */
export const ask = (world: Account, method: string, path: string, options?: CallOptions): Effect.Effect<Outcome> =>
  attempt(...requestAs(world, method, path, options))

export const list = (world: Account, query: Readonly<Record<string, string>> = {}) =>
  ask(world, "GET", "/nodes/", { query })

export const create = (world: TestWorld, name = "web") => ask(world, "POST", "/nodes/", { body: nodeOf(name) })

export const get = (world: TestWorld, id: number) => ask(world, "GET", `/nodes/${id}/`)

/** The actual number of nodes. */
export const countNodes = (world: TestWorld): Effect.Effect<number> =>
  Effect.orDie(
    Effect.map(
      world.control.nodes.list({ params: { world: world.id }, query: { count: 1000 } }),
      (nodes) => nodes.length
    )
  )

/** The bytes of a reply to a list, and how the connection ended. */
export const rawList = (
  world: TestWorld
): Effect.Effect<{ readonly bytes: Buffer; readonly ended: "end" | "reset" | "kept" }> =>
  Effect.callback((resume) => {
    const [url] = requestAs(world, "GET", "/nodes/")
    const received: Array<Buffer> = []
    const socket = connect({ host: url.hostname, port: Number(url.port) })
    socket.write(
      `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${Redacted.value(world.accessToken)}\r\n\r\n`
    )
    const finish = (ended: "end" | "reset" | "kept") => {
      socket.destroy()
      resume(Effect.succeed({ bytes: Buffer.concat(received), ended }))
    }
    socket.on("data", (data: Buffer) => {
      received.push(data)
      if (isWhole(Buffer.concat(received).toString("latin1"))) finish("kept")
    })
    socket.on("end", () => finish("end"))
    socket.on("error", () => finish("reset"))
    return Effect.sync(() => socket.destroy())
  })

const isWhole = (text: string): boolean => {
  const head = text.indexOf("\r\n\r\n")
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1]
  return head >= 0 && length !== undefined && text.length >= head + 4 + Number(length)
}
