import { request as send } from "node:http"
import { connect } from "node:net"
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { errorsOf, send as fetchText } from "../http/service.ts"
import { control } from "./plane.ts"

const fleet = TestServer.layer({ scenario: { fleet: 50_000 } })

const takeSnapshot = (world = "default") => Effect.map(control("GET", `/worlds/${world}/snapshot`), ({ text }) => text)

const json = { "content-type": "application/json" }

/** Puts a snapshot, with its length or, in pieces, without. */
const put = (world: string, text: string, pieces = false) =>
  Effect.flatMap(TestServer, ({ baseUrl }) => {
    const url = `${baseUrl}/_mock/worlds/${world}/snapshot`
    if (!pieces) return fetchText(url, { method: "PUT", headers: json, body: text })
    const body = ReadableStream.from(
      Array.from({ length: Math.ceil(text.length / 50_000) }, (_, index) =>
        new TextEncoder().encode(text.slice(index * 50_000, (index + 1) * 50_000))
      )
    )
    return fetchText(url, { method: "PUT", headers: json, body, duplex: "half" })
  })

interface Begun {
  /** Everything received by the time the connection closes. */
  readonly reply: Promise<string>
  /** The first bytes that are received. */
  readonly replied: Promise<string>
  readonly more: (text?: string) => void
  readonly cut: () => void
}

/** Begins a PUT of this many bytes and sends only `text`. */
const beginPut = (text: string, length: number, world = "default", headers = "") =>
  Effect.flatMap(TestServer, ({ baseUrl }) =>
    Effect.acquireRelease(
      Effect.callback<Begun>((resume) => {
        const { hostname, port } = new URL(baseUrl)
        let received = ""
        // The socket is read only once everything is written. Bytes that arrive before a reset are then lost, as with many clients.
        const socket = connect({ host: hostname, port: Number(port) }).pause()
        socket.on("data", (data: Buffer) => (received += data.toString("latin1")))
        const reply = new Promise<string>((done) =>
          socket.on("error", () => undefined).on("close", () => done(received))
        )
        const replied = new Promise<string>((done) => socket.once("data", () => done(received)))
        const head = `PUT /_mock/worlds/${world}/snapshot HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}Content-Length: ${length}`
        socket.write(`${head}\r\n\r\n${text}`, () => {
          socket.resume()
          resume(
            Effect.succeed({ reply, replied, more: (text = " ") => socket.write(text), cut: () => socket.destroy() })
          )
        })
      }),
      ({ cut }) => Effect.sync(cut)
    )
  )

describe("a snapshot of 50 000 nodes", () => {
  it.effect("is exported and restored, with and without its length, as the same bytes", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const text = yield* takeSnapshot()
      expect(text.length).toBeGreaterThan(5_000_000)
      expect(JSON.parse(text).nodes.length).toBe(50_000)
      for (const pieces of [false, true]) {
        const world = yield* makeWorld({ seed: 9 })
        expect((yield* put(world.id, text, pieces)).json.nodes).toBe(50_000)
        assert((yield* takeSnapshot(world.id)) === text)
      }
    }).pipe(Effect.provide(fleet))
  )

  it.effect("may have its fields in any order, and white space between them", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const text = yield* takeSnapshot()
      const reversed = Object.fromEntries(Object.entries(JSON.parse(text)).reverse())
      const world = yield* makeWorld()
      expect((yield* put(world.id, JSON.stringify(reversed, null, 2))).status).toBe(200)
      assert((yield* takeSnapshot(world.id)) === text)
    }).pipe(Effect.provide(fleet))
  )

  it.effect("is refused by the field at fault, however late it comes, and then nothing is changed", () =>
    Effect.gen(function* () {
      const text = yield* takeSnapshot()
      const bad = JSON.parse(text)
      for (const [field, change] of [
        ["plan", { plan: "Z-1VCPU-1RAM-1DISK" }],
        ["id", { id: bad.nodes[0].id }],
        ["name", { name: 1 }],
        ["toString", { toString: 1 }]
      ] as const) {
        const nodes = bad.nodes.with(49_000, { ...bad.nodes[49_000], ...change })
        const reply = yield* put("default", JSON.stringify({ ...bad, nodes }))
        expect(Object.keys(errorsOf(reply, 422))).toEqual([`nodes.49000.${field}`])
      }
      errorsOf(yield* put("default", text.slice(0, -1)), 400)
      assert((yield* takeSnapshot()) === text)
    }).pipe(Effect.provide(fleet))
  )
})

describe("a snapshot whose body is late", () => {
  it.live("is 404 if its world was deleted in the meantime", () =>
    Effect.gen(function* () {
      const { id } = (yield* control("POST", "/worlds", {})).json
      const text = yield* takeSnapshot(id)
      const late = yield* beginPut("", text.length, id, "Expect: 100-continue\r\n")
      // The server has found the world, and asks for the body.
      expect(yield* Effect.promise(() => late.replied)).toMatch(/^HTTP\/1.1 100 /)
      expect((yield* control("DELETE", `/worlds/${id}`)).status).toBe(204)
      late.more(text)
      expect(yield* Effect.promise(() => late.reply)).toMatch(/HTTP\/1.1 404 .*has ended/s)
    }).pipe(Effect.provide(TestServer.layer({ timeouts: { keepAliveMillis: 100 } })))
  )
})

describe("the limit of a body", () => {
  it.effect("is that of the route", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const mebibyte = 1024 * 1024
      for (const [method, at, length, status] of [
        ["POST", "/worlds", mebibyte + 1, 413],
        ["POST", "/worlds/default/reset", mebibyte + 1, 413],
        ["PUT", "/worlds/default/faults", 200 * mebibyte, 413],
        ["GET", "/worlds/default/snapshot", mebibyte + 1, 413],
        ["PUT", "/worlds/default/snapshot", 16 * mebibyte + 1, 413],
        ["PUT", "/default/snapshot", 16 * mebibyte + 1, 413],
        ["PUT", "/worlds/w99/snapshot", 16 * mebibyte, 404]
      ] as const) {
        const reply = yield* Effect.callback<number>((resume) => {
          const headers = { ...json, "content-length": length, expect: "100-continue" }
          const asked = send(`${baseUrl}/_mock${at}`, { method, headers }, (replied) => {
            resume(Effect.succeed(replied.statusCode!))
            asked.destroy()
          })
          asked.on("error", () => undefined).flushHeaders()
        })
        expect([at, length, reply]).toEqual([at, length, status])
      }
      const long = JSON.stringify({ name: "x".repeat(mebibyte) })
      errorsOf(yield* fetchText(`${baseUrl}/_mock/worlds`, { method: "POST", headers: json, body: long }), 413)
    }).pipe(Effect.provide(TestServer.layer()))
  )
})
