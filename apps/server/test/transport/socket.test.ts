import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { exchange, type RawReply } from "./rawSocket.ts"
import { expectFailure, nodeOf, prefix, send } from "../http/service.ts"

const auth = "Authorization: Bearer berth-token\r\n"
const get = `GET ${prefix}/nodes/?apikey=berth-key HTTP/1.1\r\nHost: x\r\n${auth}\r\n`
const post = (headers: string, body = "") =>
  `POST ${prefix}/nodes/?apikey=berth-key HTTP/1.1\r\nHost: x\r\n${auth}Content-Type: application/json\r\n${headers}\r\n${body}`
const creation = JSON.stringify(nodeOf("raw"))

/** Checks that a failure has the envelope and the headers of every reply. */
const expectEnvelope = (reply: RawReply | undefined, status: number): void => {
  expect(reply?.status).toBe(status)
  expectFailure(status, reply!.headers["content-type"], JSON.parse(reply!.body))
  for (const name of ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"]) {
    expect(reply!.headers[name]).toMatch(/^\d+$/)
  }
  expect(reply!.headers["date"]).toMatch(/ 2026 .* GMT$/)
}

const fails = (status: number, pieces: ReadonlyArray<string | Uint8Array>, options: object = { enough: 1 }) =>
  Effect.gen(function* () {
    const { baseUrl } = yield* TestServer
    const { replies } = yield* exchange(baseUrl, pieces, options)
    expect(replies.length).toBe(1)
    expectEnvelope(replies[0], status)
    return replies[0]!
  })

const large = { limit: 1_000_000, window: 3_600_000, algorithm: "fixed-window" } as const

layer(TestServer.layer({ rateLimit: large }))("input that is no request gets the envelope", (it) => {
  for (const [title, bytes] of [
    ["a line of garbage", "garbage\r\n\r\n"],
    ["an unknown method", "FOO / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a TLS hello", new Uint8Array([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])],
    ["a version there is not", "GET / HTTP/9.9\r\nHost: x\r\n\r\n"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a header without a colon", "GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n"],
    ["a header with a zero byte", "GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n"],
    ["a length that is no number", post("Content-Length: ten\r\n", "{}")],
    ["two lengths that differ", post("Content-Length: 2\r\nContent-Length: 3\r\n", "{} ")],
    ["a length and chunks", post("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")],
    ["a chunk whose size is no number", post("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n")],
    ["a coding after chunked", post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n")],
    ["no host", `GET ${prefix}/nodes/?apikey=berth-key HTTP/1.1\r\n${auth}\r\n`],
    ["a host that is none", get.replace("Host: x", "Host: a b/c@d")],
    ["two hosts", get.replace("Host: x\r\n", "Host: x\r\nHOST: y\r\n")],
    ["one host twice, of HTTP/1.0", get.replace("HTTP/1.1\r\nHost: x\r\n", "HTTP/1.0\r\nHost: x\r\nHost: x\r\n")]
  ] as const) {
    it.effect(`${title}: 400`, () => fails(400, [bytes]))
  }

  it.effect("CONNECT: 405 with Allow, and the connection closes", () =>
    Effect.gen(function* () {
      const reply = yield* fails(405, ["CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n"], {})
      expect(reply.headers["allow"]).toContain("GET")
    })
  )

  it.effect("a URL over 8 KiB: 414, whether the parser still takes it or not, in one piece or many", () =>
    Effect.gen(function* () {
      for (const length of [8 * 1024, 17_000, 40_000, 200_000]) {
        const url = `/${"a".repeat(length)}`
        yield* fails(414, [`GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`])
      }
      const half = "a".repeat(9_000)
      yield* fails(414, [`GET /${half}`, `${half}a`, `${half} HTTP/1.1\r\nHost: x\r\n\r\n`])
      const long = "a".repeat(60_000)
      yield* fails(414, [`GET /${long}`, `${half} HTTP/1.1\r\nHost: x\r\nA: b\r\n\r\n`])
    })
  )

  it.effect("headers over 16 KiB: 431, one large or many small", () =>
    Effect.gen(function* () {
      yield* fails(431, [`GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(17_000)}\r\n\r\n`])
      yield* fails(431, [`GET / HTTP/1.1\r\nHost: x\r\n${"A: bbbbbbbbbbbbbbbbbbbb\r\n".repeat(1_000)}\r\n`])
      yield* fails(431, [`GET / HTTP/1.1\r\nHost: x\r\n${"A: bbbbbbbbbbbbbbbbbbbb\r\n".repeat(10_000)}\r\n`])
      const upTo = (bytes: number) => {
        const head = get.replace("\r\n\r\n", "\r\nA: \r\n\r\n")
        return head.replace("A: ", `A: ${"a".repeat(bytes - head.length + 2)}`)
      }
      yield* fails(431, [upTo(16 * 1024 + 1)])
      const { baseUrl } = yield* TestServer
      expect((yield* exchange(baseUrl, [upTo(16 * 1024)], { enough: 1 })).replies[0]!.status).toBe(200)
    })
  )
})

layer(TestServer.layer({ rateLimit: large }))("bodies on a socket", (it) => {
  it.effect("a length over 1 MiB is 413 before any of the body has come", () =>
    fails(413, [post("Content-Length: 1048577\r\n")])
  )

  it.effect("an expectation to continue is not encouraged where the body would be too large", () =>
    fails(413, [post("Expect: 100-continue\r\nContent-Length: 1048577\r\n")])
  )

  it.effect("chunks without end are 413 once they pass 1 MiB, and the reading stops", () =>
    Effect.gen(function* () {
      const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`
      const reply = yield* fails(
        413,
        [post("Transfer-Encoding: chunked\r\n"), ...Array.from({ length: 400 }, () => chunk)],
        {}
      )
      expect(reply.headers["connection"]).toBe("close")
    })
  )

  it.effect("a body in chunks, in single bytes, or after an expectation is read like any other", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const chunked = [...creation].map((byte) => `1\r\n${byte}\r\n`).join("")
      const length = `Content-Length: ${creation.length}\r\n`
      for (const pieces of [
        [post("Transfer-Encoding: chunked\r\n"), `${chunked}0\r\n\r\n`],
        [post("Transfer-Encoding: chunked\r\n"), `${chunked}0\r\nTrailer-Field: x\r\n\r\n`],
        [...post(length, creation)],
        [post(`Expect: 100-continue\r\n${length}`), creation],
        [post(`Expect: something-else\r\n${length}`), creation]
      ]) {
        const { replies } = yield* exchange(baseUrl, pieces, { enough: 1 })
        expect(replies.map(({ status }) => status)).toEqual([202])
      }
    })
  )

  it.effect("a body without a type is JSON where a program sends it, and 415 where a page does", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const untyped = (headers: string) =>
        post(`${headers}Content-Length: ${creation.length}\r\n`, creation).replace(/Content-Type: .*\r\n/, "")
      const { replies } = yield* exchange(
        baseUrl,
        [
          untyped(""),
          ...["Origin: null", "Origin: http://evil.test", "Sec-Fetch-Site: cross-site"].map((header) =>
            untyped(`${header}\r\n`)
          )
        ],
        { enough: 4 }
      )
      expect(replies.map(({ status }) => status)).toEqual([202, 415, 415, 415])
    })
  )

  it.effect("a client that goes away in the middle of its body makes no node and disturbs no other client", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const count = Effect.map(
        exchange(baseUrl, [get.replace("?", "?per_page=100&")], { enough: 1 }),
        ({ replies }) => JSON.parse(replies[0]!.body).data.length
      )
      const before = yield* count
      const { replies } = yield* exchange(baseUrl, [post("Content-Length: 500\r\n", creation)], { halfClose: true })
      for (const reply of replies) expectEnvelope(reply, 400)
      expect(yield* count).toBe(before)
    })
  )

  for (const expectation of ["", "Expect: 100-continue\r\n"]) {
    it.effect(
      `a fault in the chunks of a body is 400, once${expectation === "" ? "" : ", after an expectation too"}`,
      () =>
        Effect.gen(function* () {
          const { baseUrl } = yield* TestServer
          const pieces = [post(`${expectation}Transfer-Encoding: chunked\r\n`), "2\r\n{}\r\n", "nonsense\r\n"]
          const { closedByServer, replies, rest } = yield* exchange(baseUrl, pieces)
          expect([replies.length, rest, closedByServer]).toEqual([1, "", true])
          expectEnvelope(replies[0], 400)
        })
    )
  }

  it.effect("an unneeded body does not keep a GET from being answered, nor the next request", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const withBody = get.replace("\r\n\r\n", `\r\nContent-Length: ${creation.length}\r\n\r\n${creation}`)
      const { replies } = yield* exchange(baseUrl, [withBody, get], { enough: 2 })
      expect(replies.map(({ status }) => status)).toEqual([200, 200])
    })
  )
})

layer(TestServer.layer({ rateLimit: large }))("connections", (it) => {
  it.effect("requests sent without waiting are answered in their order, each once", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const length = `Content-Length: ${creation.length}\r\n`
      const requests = [get, post(length, creation), get.replace("nodes", "nope"), get.replace("GET", "HEAD"), get]
      const { replies } = yield* exchange(baseUrl, [requests.join("").repeat(20)], {
        enough: 100,
        headReplies: Array.from({ length: 20 }, (_, index) => index * 5 + 3)
      })
      expect(replies.map(({ status }) => status)).toEqual(
        Array.from({ length: 20 }, () => [200, 202, 404, 200, 200]).flat()
      )
    })
  )

  it.effect("requests that were good are answered before the garbage behind them is refused", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const length = `Content-Length: ${creation.length}\r\n`
      const { closedByServer, replies } = yield* exchange(baseUrl, [`${post(length, creation)}${get}garbage\r\n\r\n`])
      expect(replies.map(({ status }) => status)).toEqual([202, 200, 400])
      expectEnvelope(replies[2], 400)
      expect(closedByServer).toBe(true)
    })
  )

  it.effect("an offer to upgrade is answered as the request it is", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      for (const protocol of ["websocket", "h2c", "nonsense"]) {
        const offer = get.replace("\r\n\r\n", `\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`)
        const { replies } = yield* exchange(baseUrl, [offer], { enough: 1 })
        expect(replies.map(({ status }) => status)).toEqual([200])
      }
    })
  )

  it.effect("the target may be a whole URL, and OPTIONS may ask for all of the server", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const absolute = get.replace("GET /", "GET http://elsewhere.example/")
      const { replies } = yield* exchange(baseUrl, [absolute, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"], { enough: 2 })
      expect(replies.map(({ status }) => status)).toEqual([200, 204])
      expect(replies[1]!.headers["allow"]).toContain("GET")
    })
  )

  it.effect("the page of the worlds asks for a host, and for one, as everything does", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      for (const hosts of ["", "Host: localhost\r\nHost: localhost\r\n"]) {
        const { replies } = yield* exchange(baseUrl, [`GET /_mock/ HTTP/1.1\r\n${hosts}\r\n`], { enough: 1 })
        expect(replies.map(({ status }) => status)).toEqual([400])
      }
    })
  )

  it.effect("a path is the same path with escapes that it does not need, for faults and the journal too", () =>
    Effect.gen(function* () {
      const { arm, baseUrl } = yield* TestServer
      yield* arm([{ fault: "status", status: 418, scope: { operation: "nodes.list" } }])
      const { replies } = yield* exchange(baseUrl, [get.replace("nodes", "node%73").replace("api", "%61%70i")], {
        enough: 1
      })
      yield* arm([])
      expect(replies.map(({ status }) => status)).toEqual([418])
      const journal = yield* send(`${baseUrl}/_mock/worlds/default/requests?limit=1`)
      expect(journal.json.requests[0]).toMatchObject({ path: `${prefix}/nodes/`, operation: "nodes.list" })
      const others = [get.replace("/?", "/;a=b?"), get.replace("nodes", "%6Eodes%2F")]
      const unknown = yield* exchange(baseUrl, others, { enough: 2 })
      expect(unknown.replies.map(({ status }) => status)).toEqual([404, 404])
    })
  )

  it.effect("HTTP/1.0 is answered without a host, and then closed", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const old = get.replace("HTTP/1.1\r\nHost: x", "HTTP/1.0")
      const { closedByServer, replies } = yield* exchange(baseUrl, [old])
      expect([replies.map(({ status }) => status), closedByServer]).toEqual([[200], true])
    })
  )
})

describe("slow clients", () => {
  const slow = TestServer.layer({
    rateLimit: large,
    timeouts: { headersMillis: 200, requestMillis: 400, keepAliveMillis: 200 }
  })

  it.effect("headers that do not come: 408 and the connection closes", () =>
    Effect.gen(function* () {
      yield* fails(408, ["GET / HTTP/1.1\r\nHost"], {})
    }).pipe(Effect.provide(slow))
  )

  it.effect("a body that does not come: 408 and the connection closes", () =>
    Effect.gen(function* () {
      yield* fails(408, [post("Content-Length: 100\r\n", "{")], {})
    }).pipe(Effect.provide(slow))
  )

  it.effect("a connection that is idle between requests is closed, without a byte", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const { closedByServer, replies, rest } = yield* exchange(baseUrl, [get])
      expect([replies.map(({ status }) => status), rest, closedByServer]).toEqual([[200], "", true])
    }).pipe(Effect.provide(slow))
  )
})
