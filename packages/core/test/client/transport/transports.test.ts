/**
 * Every transport against a server with the replies and failures of real services and networks, over real sockets: all must
 * report the same.
 */
import { HttpService } from "@berthkit/testing/HttpService"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted, type Scope } from "effect"
import * as http from "node:http"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import * as FetchTransport from "../../../src/client/transport/FetchTransport.ts"
import { type Head, type SignedRequest, Transport } from "../../../src/client/transport/Transport.ts"
import { transports } from "../../transports.ts"

type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void

/** A server, and its address. */
const serve = (answer: Answer) => Effect.map(HttpService.start(answer), ({ url }) => `${url}/base/nodes/`)

const requestTo = (url: string, over: Partial<SignedRequest> = {}): SignedRequest => ({
  method: "GET",
  url,
  query: [
    ["page_no", "1"],
    ["name", "a b&c"],
    ["apikey", Redacted.make("key/+&")]
  ],
  token: Redacted.make("token"),
  body: undefined,
  headers: {},
  maxBodyBytes: 2 ** 21,
  ...over
})

const heads: Array<Head> = []
const send = (request: SignedRequest) =>
  Effect.suspend(() => {
    heads.length = 0
    return Transport.use(({ send }) => send(request, (head) => heads.push(head)))
  })

/** An address without a listener. */
const nowhere = Effect.scoped(serve(() => {}))

for (const [name, transport] of Object.entries(transports)) {
  const over = <A, E>(body: Effect.Effect<A, E, Transport | Scope.Scope>) =>
    Effect.provide(Effect.scoped(body), transport)

  describe(`the transport ${name}`, () => {
    it.live("sends the request as it is, with its credentials, and returns the reply as received", () =>
      over(
        Effect.gen(function* () {
          const seen: Array<unknown> = []
          const url = yield* serve((request, response) => {
            const { authorization, accept, "content-type": type } = request.headers
            let body = ""
            request.on("data", (chunk) => (body += chunk))
            request.on("end", () => {
              const { searchParams } = new URL(request.url!, "http://service.test")
              seen.push([request.method, Object.fromEntries(searchParams), authorization, accept, type, body])
              response.writeHead(201, { "X-Left": "7" }).end('{"data":"ä€😀"}')
            })
          })
          const reply = yield* send(requestTo(url, { method: "POST", body: '{"name":"ä€😀"}' }))
          assert.deepStrictEqual([reply.status, reply.body, reply.headers["x-left"]], [201, '{"data":"ä€😀"}', "7"])
          assert.deepStrictEqual(seen, [
            [
              "POST",
              { page_no: "1", name: "a b&c", apikey: "key/+&" },
              "Bearer token",
              "application/json",
              "application/json",
              '{"name":"ä€😀"}'
            ]
          ])
          assert.deepStrictEqual(
            heads.map(({ status }) => status),
            [201]
          )
        })
      )
    )

    it.live("sends further headers, but does not replace its own", () =>
      over(
        Effect.gen(function* () {
          const seen: Array<unknown> = []
          const url = yield* serve((request, response) => {
            const { accept, authorization, "user-agent": agent, "x-gateway": gateway } = request.headers
            seen.push([gateway, agent, accept, authorization])
            response.end("{}")
          })
          const headers = { "x-gateway": "blue", "user-agent": "deploy/1.0", accept: "x/y", authorization: "none" }
          yield* send(requestTo(url, { headers }))
          assert.deepStrictEqual(seen, [["blue", "deploy/1.0", "application/json", "Bearer token"]])
        })
      )
    )

    it.live("joins a repeated header", () =>
      over(
        Effect.gen(function* () {
          const url = yield* serve((_, response) => void response.writeHead(200, { "x-twice": ["a", "b"] }).end("{}"))
          assert.strictEqual((yield* send(requestTo(url))).headers["x-twice"], "a, b")
        })
      )
    )

    it.live("reads a body in many pieces, split within its characters, without a length", () =>
      over(
        Effect.gen(function* () {
          const bytes = Buffer.from("ä€😀".repeat(100))
          const url = yield* serve((_, response) => {
            for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7))
            response.end()
          })
          assert.strictEqual((yield* send(requestTo(url))).body, bytes.toString())
        })
      )
    )

    it.live("reads an empty body, and that of a failure", () =>
      over(
        Effect.gen(function* () {
          const url = yield* serve((request, response) => {
            response.writeHead(request.method === "DELETE" ? 204 : 503).end(request.method === "DELETE" ? "" : "busy")
          })
          const empty = yield* send(requestTo(url, { method: "DELETE" }))
          assert.deepStrictEqual([empty.status, empty.body], [204, ""])
          const failure = yield* send(requestTo(url))
          assert.deepStrictEqual([failure.status, failure.body], [503, "busy"])
        })
      )
    )

    it.live("reads the beginning of a body beyond the limit, and closes the connection", () =>
      over(
        Effect.gen(function* () {
          const piece = Buffer.alloc(64 * 1024, "x")
          let closed = 0
          const url = yield* serve((request, response) => {
            request.socket.on("close", () => closed++)
            if (request.method === "GET") response.writeHead(500, { "content-length": String(1000 * piece.length) })
            const more = () => {
              while (!response.destroyed && response.write(piece));
            }
            response.on("drain", more)
            more()
          })
          for (const [method, status, read] of [
            ["GET", 500, 16 * 1024],
            ["PUT", 200, 100_000]
          ] as const) {
            closed = 0
            const { body, whole, ...reply } = yield* send(requestTo(url, { method, maxBodyBytes: 100_000 }))
            assert.deepStrictEqual([reply.status, whole, body], [status, false, "x".repeat(read)])
            while (closed === 0) yield* Effect.sleep(1)
          }
        })
      )
    )

    it.live("reads a body of the limit's length whole, with a length and without", () =>
      over(
        Effect.gen(function* () {
          const text = "ä".repeat(50_000)
          const url = yield* serve((request, response) => {
            if (request.method === "PUT") response.write("")
            response.end(text)
          })
          for (const method of ["GET", "PUT"] as const) {
            const reply = yield* send(requestTo(url, { method, maxBodyBytes: 100_000 }))
            assert.isTrue(reply.whole)
            assert.strictEqual(reply.body, text)
          }
        })
      )
    )

    it.live("does not follow a redirect, which would pass on the credentials", () =>
      over(
        Effect.gen(function* () {
          let elsewhere = 0
          const other = yield* serve((_, response) => {
            elsewhere++
            response.end("{}")
          })
          const url = yield* serve((_, response) => void response.writeHead(302, { location: other }).end())
          assert.strictEqual((yield* send(requestTo(url))).status, 302)
          assert.strictEqual(elsewhere, 0)
        })
      )
    )

    it.live("reports that nothing was sent if the connection is refused", () =>
      over(
        Effect.gen(function* () {
          const error = yield* Effect.flip(send(requestTo(yield* nowhere)))
          assert.strictEqual(error._tag, "Unreachable")
          if (error._tag === "Unreachable") assert.strictEqual(error.sent, "no")
        })
      )
    )

    it.live("reports that a request may have been carried out if the connection ends without a reply", () =>
      over(
        Effect.gen(function* () {
          const url = yield* serve((request) => request.socket.destroy())
          const error = yield* Effect.flip(send(requestTo(url, { method: "POST", body: "{}" })))
          assert.strictEqual(error._tag, "Unreachable")
          if (error._tag === "Unreachable") assert.strictEqual(error.sent, "maybe")
          assert.isEmpty(heads)
        })
      )
    )

    it.live("reports that a reply had begun if it is cut short", () =>
      over(
        Effect.gen(function* () {
          const url = yield* serve((request, response) => {
            response.writeHead(200, { "content-length": "100" }).write("{", () => request.socket.end())
          })
          const error = yield* Effect.flip(send(requestTo(url)))
          assert.strictEqual(error._tag, "Unreachable")
          if (error._tag === "Unreachable") assert.strictEqual(error.sent, "yes")
          assert.lengthOf(heads, 1)
        })
      )
    )

    for (const [when, begins] of [
      ["before the reply", false],
      ["while a body trickles", true]
    ] as const) {
      for (const length of begins ? ["1000", undefined] : [undefined]) {
        it.live(`closes the connection when it is interrupted ${when}${length ? ", of known length" : ""}`, () =>
          over(
            Effect.gen(function* () {
              const arrived = yield* Deferred.make<void>()
              const left = yield* Deferred.make<void>()
              const url = yield* serve((request, response) => {
                request.socket.on("close", () => Deferred.doneUnsafe(left, Effect.void))
                if (begins) {
                  response.writeHead(200, length === undefined ? {} : { "content-length": length })
                  response.write("{")
                }
                Deferred.doneUnsafe(arrived, Effect.void)
              })
              const fiber = yield* Effect.forkChild(send(requestTo(url)))
              yield* Deferred.await(arrived)
              // Wait until the beginning of a reply is under way.
              if (begins) while (heads.length === 0) yield* Effect.sleep(1)
              yield* Fiber.interrupt(fiber)
              yield* Deferred.await(left)
            })
          )
        )
      }
    }

    it.live("never shows a credential in a failure", () =>
      over(
        Effect.gen(function* () {
          const url = yield* serve((request) => request.socket.destroy())
          const error = yield* Effect.flip(send(requestTo(url)))
          assert.notMatch(JSON.stringify(error) + String(error.stack), /token|key\/|key%2F/i)
        })
      )
    )
  })
}

describe("a compressed body", () => {
  it.live("is counted as it is decompressed, because a page in a browser does not see its encoding", () =>
    Effect.gen(function* () {
      const fetch = () => {
        const response = new Response("x".repeat(1000), { headers: { "content-length": "30" } })
        return Promise.resolve(Object.defineProperty(response, "type", { value: "cors" }))
      }
      const reply = yield* Effect.provideService(
        send(requestTo("http://service.test", { maxBodyBytes: 100 })),
        FetchTransport.Fetch,
        fetch
      )
      assert.deepStrictEqual([reply.whole, reply.body.length], [false, 100])
    }).pipe(Effect.provide(FetchTransport.layer))
  )

  it.live("is decompressed by fetch, which requested it", () =>
    Effect.gen(function* () {
      const url = yield* serve((_, response) => {
        const packed = gzipSync('{"data":1}')
        response.writeHead(200, { "content-encoding": "gzip", "content-length": String(packed.length) }).end(packed)
      })
      assert.strictEqual((yield* send(requestTo(url))).body, '{"data":1}')
    }).pipe(Effect.scoped, Effect.provide(FetchTransport.layer))
  )
})

for (const [name, transport] of Object.entries(transports)) {
  describe(`a body that a gateway compresses unasked, over ${name}`, () => {
    const packed = { gzip: gzipSync, "x-gzip": gzipSync, deflate: deflateSync, br: brotliCompressSync }
    for (const [coding, pack] of Object.entries(packed)) {
      it.live(`is read: ${coding}`, () =>
        Effect.gen(function* () {
          const body = pack('{"data":1}')
          const url = yield* serve((_, response) => {
            response.writeHead(200, { "content-encoding": coding, "content-length": String(body.length) }).end(body)
          })
          assert.strictEqual((yield* send(requestTo(url))).body, '{"data":1}')
        }).pipe(Effect.scoped, Effect.provide(transport))
      )
    }

    it.live("is limited by its decompressed size", () =>
      Effect.gen(function* () {
        const body = gzipSync("a".repeat(5_000_000))
        const url = yield* serve((_, response) => {
          response.writeHead(200, { "content-encoding": "gzip", "content-length": String(body.length) }).end(body)
        })
        const reply = yield* send(requestTo(url, { maxBodyBytes: 1_000_000 }))
        assert.isFalse(reply.whole)
        assert.isAtMost(reply.body.length, 1_000_000)
      }).pipe(Effect.scoped, Effect.provide(transport))
    )
  })
}
