/**
 * Every transport against a service that writes its replies byte by byte: interim replies, and replies that are not HTTP.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { createServer, type AddressInfo, type Socket } from "node:net"
import * as Berth from "../../src/client/Berth.ts"
import { RawApi } from "../../src/client/RawApi.ts"
import { transports } from "../transports.ts"

/** The transports over the runtime's own HTTP, which refuses a `100 Continue` that it did not ask for. */
const refusesContinue = new Set(["HttpClient over fetch", "HttpClient over undici", "fetch"])

/** A server that handles each request with `answer`. */
const serve = (answer: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const sockets: Array<Socket> = []
      const server = createServer((socket) => {
        sockets.push(socket)
        socket.on("error", () => {})
        // The body of a request may arrive separately, so only the head counts.
        socket.on("data", (data) => void (data.includes(" HTTP/1.1\r\n") && answer(socket)))
      }).listen(0, "127.0.0.1", () => {
        const close = () => {
          server.close()
          for (const socket of sockets) socket.destroy()
        }
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
        resume(Effect.succeed({ url, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const written =
  (...pieces: ReadonlyArray<string>) =>
  (socket: Socket) => {
    const write = (at: number): void => {
      if (at === pieces.length || socket.destroyed) return
      socket.write(Buffer.from(pieces[at]!, "latin1"), () => setImmediate(write, at + 1))
    }
    socket.setNoDelay(true)
    write(0)
  }

const credentials = {
  apiKey: Redacted.make("a-key-of-some-length"),
  accessToken: Redacted.make("a-token-of-some-length")
}
const options = { retry: false, deadline: "5 seconds" } as const
const get = RawApi.use((api) => api.request({ method: "GET", path: "/nodes/" }, options))
const post = RawApi.use((api) => api.request({ method: "POST", path: "/nodes/", body: "{}" }, options))

const ok = 'HTTP/1.1 200 OK\r\nx-odd: \xff\xfe\x80\r\ncontent-length: 11\r\n\r\n{"data":{}}'
const interim = (status: number) => `HTTP/1.1 ${status} Wait\r\nx-step: 1\r\n\r\n`

const before: Record<string, ReadonlyArray<string>> = {
  "a 100 in one piece with it": [interim(100) + ok],
  "a 100 in a piece of its own": [interim(100), ok],
  "three of them": [interim(100) + interim(100), interim(100) + ok],
  "a 100 in pieces": Array.from(interim(100) + ok),
  "a 102": [interim(102) + ok],
  "a 103": [interim(103), ok],
  "a 100 and a 103": [interim(100) + interim(103) + ok]
}

for (const [name, transport] of Object.entries(transports)) {
  const over = <A, E>(url: string, call: Effect.Effect<A, E, RawApi>) =>
    Effect.provide(call, Layer.orDie(Berth.layerOver({ baseUrl: url, credentials }, transport)))

  describe(`a reply over ${name}`, () => {
    for (const [what, pieces] of Object.entries(before)) {
      const refused = refusesContinue.has(name) && pieces.join("").includes(" 100 ")
      it.live(`${refused ? "is refused with one sentence" : "comes"} after ${what}`, () =>
        Effect.gen(function* () {
          const { url } = yield* serve(written(...pieces))
          if (refused) {
            const { message, reason } = yield* Effect.flip(over(url, get))
            assert.strictEqual(reason._tag === "Unreachable" && reason.sent, "maybe")
            assert.strictEqual(
              message,
              "The service could not be reached: it sent an unexpected 100 Continue (UND_ERR_SOCKET)."
            )
            return
          }
          const replies = yield* over(url, Effect.all([get, get, post, get]))
          assert.deepStrictEqual(
            replies.map(({ body, status }) => [status, body]),
            Array.from({ length: 4 }, () => [200, '{"data":{}}'])
          )
        }).pipe(Effect.scoped)
      )
    }

    it.live("may have bytes in its headers that are not text", () =>
      Effect.gen(function* () {
        const { url } = yield* serve(written(ok))
        assert.strictEqual((yield* over(url, get)).headers["x-odd"], "\xff\xfe\x80")
      }).pipe(Effect.scoped)
    )

    for (const [what, bytes] of [
      ["a status of 000", "HTTP/1.1 000 Nothing\r\ncontent-length: 2\r\n\r\n{}"],
      ["a status of 099", "HTTP/1.1 099 Nothing\r\ncontent-length: 2\r\n\r\n{}"],
      ["a status of 999", "HTTP/1.1 999 Nothing\r\ncontent-length: 2\r\n\r\n{}"],
      ["a status of two digits", "HTTP/1.1 20 OK\r\ncontent-length: 2\r\n\r\n{}"],
      ["a status of four digits", "HTTP/1.1 2000 OK\r\ncontent-length: 2\r\n\r\n{}"],
      ["another protocol unasked", "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
      ["the greeting of another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
      ["a bare page", "<html></html>\r\n\r\n"],
      ["a control character in a header", "HTTP/1.1 200 OK\r\nx: a\x01b\r\ncontent-length: 2\r\n\r\n{}"],
      ["headers without end", `HTTP/1.1 200 OK\r\nx: ${"a".repeat(100_000)}\r\ncontent-length: 2\r\n\r\n{}`],
      ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}"]
    ] as const) {
      it.live(`fails with one sentence where it is ${what}`, () =>
        Effect.gen(function* () {
          const { url } = yield* serve((socket) => socket.end(Buffer.from(bytes, "latin1")))
          const { message, reason, reply } = yield* Effect.flip(over(url, get))
          assert.include(["Unreachable", "UnexpectedResponse"], reason._tag)
          if (reason._tag === "Unreachable") assert.strictEqual(reason.sent, reply === null ? "maybe" : "yes")
          else assert.isNotNull(reply)
          assert.match(message, /^The [^\n]{10,300}\.$/)
          assert.notMatch(message, /assert|expression|RangeError/)
        }).pipe(Effect.scoped)
      )
    }
  })
}
