import { layer, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { RawApi } from "../../src/client/RawApi.ts"
import { inTime } from "../inTime.ts"

const refusal = (status: number) => ({ status, body: `{"code":${status},"errors":{"detail":["no"]}}` })

const exchange = RawApi.use((api) => api.exchange({ method: "GET", path: "/nodes/" }))

describe("an exchange", () => {
  it.effect("is the reply of a success without a failure", () =>
    Effect.gen(function* () {
      const { failure, reply } = yield* exchange
      assert.deepStrictEqual([failure, reply.status, reply.body], [null, 200, ok([]).body])
    }).pipe(Effect.provide(layer([ok([])])))
  )

  for (const [reply, tag] of [
    [refusal(404), "PathNotFound"],
    [{ ...refusal(422), status: 200 }, "InvalidRequest"],
    [{ status: 302, headers: { location: "/login" }, body: "" }, "UnexpectedResponse"]
  ] as const) {
    it.effect(`is the reply of a failure with that failure: ${reply.status} ${tag}`, () =>
      Effect.gen(function* () {
        const { failure, reply: received } = yield* exchange
        assert.deepStrictEqual([received.status, received.body], [reply.status, reply.body])
        assert.strictEqual(failure?.reason._tag, tag)
      }).pipe(Effect.provide(layer(() => reply)))
    )
  }

  it.effect("has the reply of the last attempt, if any", () => {
    let asked = 0
    const client = layer(() => (asked++ === 3 ? Effect.never : refusal(503)), { maxAttempts: 4 })
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(exchange))
      assert.strictEqual(reason._tag, "TimedOut")
      assert.strictEqual(asked, 4)
      const { failure, reply } = yield* inTime(exchange)
      assert.deepStrictEqual([failure?.reason._tag, failure?.attempts.length], ["ServiceUnavailable", 4])
      assert.strictEqual(reply.body, refusal(503).body)
    }).pipe(Effect.provide(client))
  })
})

describe("the image list", () => {
  const large = ok("x".repeat(3_000_000))

  for (const path of ["/images/", "images", "/myaccount/api/v1/images/"]) {
    it.effect(`may be as long as for the typed calls: ${path}`, () =>
      Effect.gen(function* () {
        const { body } = yield* RawApi.use((api) => api.request({ method: "GET", path }))
        assert.strictEqual(body, large.body)
      }).pipe(Effect.provide(layer(() => large)))
    )
  }

  it.effect("is the only reply that may be so long, unless the client's options allow more", () =>
    Effect.gen(function* () {
      const { reason } = yield* Effect.flip(exchange)
      assert.match(reason.message, /at most 2097152 bytes/)
    }).pipe(Effect.provide(layer(() => large)))
  )
})

describe("the hint of a refused request", () => {
  for (const [reply, hint] of [
    [refusal(405), "Use a method that the path supports."],
    [refusal(422), "Correct the request and send it again."],
    [
      { status: 422, body: `{"code":422,"errors":{"name":["taken"]}}` },
      "Correct the named fields and send the request again."
    ]
  ] as const) {
    it.effect(`is ${hint}`, () =>
      Effect.gen(function* () {
        const { failure } = yield* exchange
        assert.strictEqual(failure?.hint, hint)
      }).pipe(Effect.provide(layer(() => reply)))
    )
  }
})

describe("a path", () => {
  for (const path of [
    "/../v1/nodes/",
    "..",
    "/nodes/.",
    "/x/..%2fnodes/",
    "/%252e%252E/v1",
    "/..;a/v1",
    "/x/.. ",
    "/.\t./v1",
    "\\nodes"
  ]) {
    it.effect(`that may be resolved to another is refused before it is sent: ${JSON.stringify(path)}`, () => {
      let sent = 0
      return Effect.gen(function* () {
        const { reason } = yield* Effect.flip(RawApi.use((api) => api.request({ method: "DELETE", path })))
        assert.strictEqual(reason._tag, "InvalidRequest")
        assert.strictEqual(sent, 0)
      }).pipe(
        Effect.provide(
          layer(() => {
            sent++
            return ok([])
          })
        )
      )
    })
  }

  for (const path of ["/nodes/a..b/", "/nodes/.well-known/", "/x/...", "/nodes/%20a/"]) {
    it.effect(`that names nothing else is sent: ${path}`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* RawApi.use((api) => api.request({ method: "GET", path }))).status, 200)
      }).pipe(Effect.provide(layer([ok([])])))
    )
  }
})
