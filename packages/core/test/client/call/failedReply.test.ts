import { layer, lost, ok, type Reply } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { RawReply } from "../../../src/api/Reply.ts"
import type { CallOptions } from "../../../src/client/call/Operation.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { RawApi } from "../../../src/client/RawApi.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"
import { accessToken, apiKey, oddCredentials } from "../../oddCredentials.ts"
import { seenOf, spellingsOf } from "@berthkit/testing/spellings"

const secrets = [apiKey, accessToken]
const get = (options?: CallOptions) => Nodes.use((nodes) => nodes.get(NodeId.make(7), options))

/** A service that always returns the same reply. */
const always = (reply: Reply) => layer(() => reply, { credentials: oddCredentials })
const failed = (reply: Reply) => Effect.provide(inTime(Effect.flip(get())), always(reply))

/** A service that returns these replies in order. */
const inTurn = (replies: ReadonlyArray<Reply>) =>
  layer(replies, { credentials: oddCredentials, maxAttempts: Math.min(4, replies.length) })

describe("an error has the reply that its call failed with", () => {
  it.effect("as received: status, headers, the beginning of the body", () =>
    Effect.gen(function* () {
      const body = `{"code":422,"errors":{"name":["taken"]}}\n`
      const { reply } = yield* failed({ status: 422, headers: { "X-Request-Id": "r-1", "X-Zone": "b" }, body })
      assert.deepStrictEqual(reply, {
        status: 422,
        requestId: "r-1",
        headers: { "content-type": "text/plain;charset=UTF-8", "x-request-id": "r-1", "x-zone": "b" },
        excerpt: body
      })
    })
  )

  it.effect("without credentials, in any spelling and position", () =>
    Effect.gen(function* () {
      for (const spelled of secrets.flatMap((secret) => Object.values(spellingsOf(secret)))) {
        for (const before of [0, 1014, 1020, 2040]) {
          const text = ".".repeat(before) + spelled
          const { reply } = yield* failed({
            status: 401,
            headers: { "x-echo": text, location: `/?apikey=${text}`, "x-request-id": spelled },
            body: text
          })
          const shown = JSON.stringify(reply)
          assert.deepStrictEqual(seenOf(shown, secrets), [])
          for (const secret of secrets) assert.notInclude(shown, secret.slice(0, 8))
        }
      }
    })
  )

  it.effect("without other secrets, and bounded", () =>
    Effect.gen(function* () {
      const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`x-many-${at}`, "y".repeat(5000)]))
      const { reply } = yield* failed({
        status: 409,
        headers: { "set-cookie": "a=b", authorization: "c", "x-api-key": "d", "x-auth-token": "e", ...many },
        body: "z".repeat(5000)
      })
      if (reply === null) return assert.fail("no reply")
      assert.strictEqual(reply.excerpt, "z".repeat(2048))
      assert.strictEqual(reply.headers["x-many-0"], "y".repeat(1024))
      assert.lengthOf(Object.keys(reply.headers), 64)
      assert.notInclude(JSON.stringify(reply), "a=b")
      for (const name of ["set-cookie", "authorization", "x-api-key", "x-auth-token"]) {
        assert.notProperty(reply.headers, name)
      }
    })
  )

  it.effect("the last reply, if the last attempts had none", () =>
    Effect.gen(function* () {
      const { attempts, reason, reply } = yield* inTime(Effect.flip(get()))
      assert.deepStrictEqual([reason._tag, attempts.length], ["Unreachable", 4])
      assert.deepStrictEqual([reply?.status, reply?.excerpt], [502, "second"])
    }).pipe(Effect.provide(inTurn([{ status: 503, body: "first" }, { status: 502, body: "second" }, lost, lost])))
  )

  it.effect("and none where no attempt had one", () =>
    Effect.gen(function* () {
      assert.isNull((yield* inTime(Effect.flip(get()))).reply)
      assert.isNull((yield* Effect.flip(Nodes.use((nodes) => nodes.get(-1 as NodeId)))).reply)
    }).pipe(Effect.provide(inTurn([lost, lost, lost, lost])))
  )

  it.effect("also where it could not be understood", () =>
    Effect.gen(function* () {
      const { reply } = yield* failed({ status: 200, headers: { "cf-ray": "8f-BOM" }, body: "<html>" })
      assert.deepStrictEqual([reply?.status, reply?.requestId, reply?.excerpt], [200, "8f-BOM", "<html>"])
    })
  )

  it.effect("and for a wait the reply to its last request", () =>
    Effect.gen(function* () {
      const { reply } = yield* inTime(
        Effect.flip(Nodes.use((nodes) => nodes.awaitStatus(NodeId.make(7), "running", { timeout: "2 seconds" })))
      )
      assert.strictEqual(reply?.status, 503)
    }).pipe(Effect.provide(always({ status: 503 })))
  )
})

describe("the id of a request", () => {
  for (const [headers, id] of [
    [{ "x-request-id": "a", "cf-ray": "b" }, "a"],
    [{ "x-request-id": "", "x-correlation-id": "c" }, "c"],
    [{ "x-amzn-requestid": "d" }, "d"],
    [{ "x-request-id": "e".repeat(200) }, "e".repeat(128)],
    [{ "x-zone": "b" }, null]
  ] as const) {
    it.effect(`of ${JSON.stringify(headers).slice(0, 60)} is ${id?.slice(0, 10)}`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* failed({ status: 500, headers })).reply?.requestId, id)
      })
    )
  }

  it.effect("is in the hint where the service is at fault, and nowhere else", () =>
    Effect.gen(function* () {
      const hint = (status: number) =>
        Effect.map(failed({ status, headers: { "request-id": "r-9" }, body: "x" }), ({ hint }) => hint)
      for (const status of [500, 503, 200]) assert.match(yield* hint(status), /\. Request id: r-9\.$/)
      for (const status of [401, 404, 409, 422]) assert.notInclude(yield* hint(status), "r-9")
    })
  )
})

describe("onReply is called with the reply that a call ended with", () => {
  const collecting = (replies: Array<RawReply>) => ({
    onReply: (reply: RawReply) => Effect.sync(() => void replies.push(reply))
  })

  it.effect("once, even if the call failed, after any number of attempts", () =>
    Effect.gen(function* () {
      const replies: Array<RawReply> = []
      yield* inTime(Effect.flip(get(collecting(replies))))
      assert.deepStrictEqual(
        replies.map(({ body, status }) => [status, body]),
        [[503, "fourth"]]
      )
    }).pipe(Effect.provide(inTurn(["first", "second", "third", "fourth"].map((body) => ({ status: 503, body })))))
  )

  it.effect("masked if the call failed, and as received if it succeeded", () =>
    Effect.gen(function* () {
      const replies: Array<RawReply> = []
      const request = RawApi.use((api) => api.request({ method: "GET", path: "/" }, collecting(replies)))
      yield* Effect.flip(request)
      yield* request
      assert.deepStrictEqual(
        replies.map(({ body }) => body),
        ["no <redacted>", ok(apiKey).body]
      )
    }).pipe(Effect.provide(inTurn([{ status: 400, body: `no ${apiKey}` }, ok(apiKey)])))
  )

  it.effect("not at all without a lease", () =>
    Effect.gen(function* () {
      const replies: Array<RawReply> = []
      yield* inTime(Effect.flip(get(collecting(replies))))
      assert.isEmpty(replies)
    }).pipe(Effect.provide(inTurn([lost, lost, lost, lost])))
  )

  it.effect("and neither delays nor changes a failure", () =>
    Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(get({ deadline: "2 seconds", onReply: () => Effect.never })))
      assert.strictEqual(reason._tag, "Forbidden")
    }).pipe(Effect.provide(always({ status: 403 })))
  )
})
