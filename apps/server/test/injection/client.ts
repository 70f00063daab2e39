/**
 * What the tests of faults share: a client of one world that reports how a call ended, whatever the bytes did.
 */
import { connect } from "node:net"
import { Effect, Redacted } from "effect"
import type { TestWorld } from "../../src/testing.ts"
import { nodeOf, prefix } from "../http/service.ts"

/** How a call ended: `failure` where the reply did not come, or not whole. */
export interface Outcome {
  readonly status: number | undefined
  readonly headers: Headers
  readonly text: string
  readonly json: any
  readonly failure: string | undefined
}

export const urlOf = (world: TestWorld, path: string, query: Readonly<Record<string, string>> = {}): URL => {
  const url = new URL(`${world.baseUrl}${prefix}${path}`)
  url.searchParams.set("apikey", Redacted.value(world.apiKey))
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}

export const initOf = (world: TestWorld, method: string, body?: unknown): RequestInit => ({
  method,
  headers: {
    authorization: `Bearer ${Redacted.value(world.accessToken)}`,
    ...(body === undefined ? {} : { "content-type": "application/json" })
  },
  ...(body === undefined ? {} : { body: JSON.stringify(body) })
})

const codeOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)
}

/** One call over the socket, as any client makes it. */
export const ask = (
  world: TestWorld,
  method: string,
  path: string,
  options: { readonly query?: Readonly<Record<string, string>>; readonly body?: unknown } = {}
): Effect.Effect<Outcome> =>
  Effect.promise(async (signal) => {
    const nothing = { status: undefined, headers: new Headers(), text: "", json: undefined }
    let response: Response
    try {
      response = await fetch(urlOf(world, path, options.query), { ...initOf(world, method, options.body), signal })
    } catch (error) {
      return { ...nothing, failure: codeOf(error) }
    }
    const { headers, status } = response
    try {
      const text = await response.text()
      return { status, headers, text, json: parse(text), failure: undefined }
    } catch (error) {
      return { ...nothing, status, headers, failure: codeOf(error) }
    }
  })

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const list = (world: TestWorld, query: Readonly<Record<string, string>> = {}) =>
  ask(world, "GET", "/nodes/", { query })

export const create = (world: TestWorld, name = "web") => ask(world, "POST", "/nodes/", { body: nodeOf(name) })

export const get = (world: TestWorld, id: number) => ask(world, "GET", `/nodes/${id}/`)

/** How many nodes there really are. */
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
    const url = urlOf(world, "/nodes/")
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
