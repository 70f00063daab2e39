/** Bodies that exceed the bounds: the status decides what the reply means, and excerpts of the body are short. */
import { layer, ok, type Reply } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Nodes } from "../../../src/client/Nodes.ts"
import type { ClientOptions } from "../../../src/client/options/Settings.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"

const get = Nodes.use((nodes) => nodes.get(NodeId.make(7), { retry: false }))
const over = (reply: Reply, options?: Partial<ClientOptions>) =>
  Effect.provide(
    inTime(Effect.flip(get)),
    layer(() => reply, options)
  )

const mib = 2 ** 20
const bodies: Record<string, readonly [body: string, expected: string]> = {
  "longer than may be read": [`{"message":"${"x".repeat(3 * mib)}"}`, "a body of at most 2097152 bytes (maxBodyBytes)"],
  "nested too deep": ["[".repeat(mib), "JSON nested at most 64 deep"],
  "of too many tokens": [`[${"{},".repeat(200_000)}{}]`, "JSON of at most 200000 tokens (maxBodyTokens)"]
}

for (const [name, [body, expected]] of Object.entries(bodies)) {
  describe(`a body ${name}`, () => {
    it.effect("fails as a success, and the error names the bound", () =>
      Effect.gen(function* () {
        const { reason } = yield* over({ status: 200, body })
        assert.strictEqual(reason._tag, "UnexpectedResponse")
        if (reason._tag !== "UnexpectedResponse") return
        assert.strictEqual(reason.expected, expected)
        assert.strictEqual(reason.excerpt, `${body.slice(0, 199)}…`)
      })
    )

    for (const [status, tag] of [
      [500, "ServiceFault"],
      [503, "ServiceUnavailable"],
      [429, "RateLimited"],
      [401, "Unauthorized"],
      [422, "InvalidRequest"]
    ] as const) {
      it.effect(`is a failure by its status: ${status}`, () =>
        Effect.gen(function* () {
          const { message, reason } = yield* over({ status, body })
          assert.strictEqual(reason._tag, tag)
          if ("detail" in reason) assert.strictEqual(reason.detail, `${body.slice(0, 199)}…`)
          assert.isBelow(message.length, 300)
        })
      )
    }
  })
}

it.effect("a success that is too long fails a delete, too, which needs no data", () =>
  Effect.gen(function* () {
    const { reason } = yield* Effect.flip(Nodes.use((nodes) => nodes.delete(NodeId.make(7))))
    assert.strictEqual(reason._tag, "UnexpectedResponse")
  }).pipe(Effect.provide(layer(() => ({ status: 200, body: " ".repeat(3 * mib) }))))
)

describe("a caller may move the bounds", () => {
  const node = { id: 7, name: "web", created_at: "2026-01-01T00:00:00Z" }
  const padded = ok({ ...node, notes: "x".repeat(3 * mib) })
  const crowded = ok({ ...node, numbers: Array.from({ length: 250_000 }, () => 1) })

  for (const [name, reply, options] of [
    ["length", padded, { maxBodyBytes: 4 * mib }],
    ["tokens", crowded, { maxBodyTokens: 300_000 }]
  ] as const) {
    it.effect(`up: ${name}`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* over(reply)).reason._tag, "UnexpectedResponse")
        const { id } = yield* Effect.provide(
          get,
          layer(() => reply, options)
        )
        assert.strictEqual(id, 7)
      })
    )
  }

  it.effect("down", () =>
    Effect.gen(function* () {
      for (const options of [{ maxBodyBytes: 50 }, { maxBodyTokens: 10 }]) {
        const { message } = yield* over(ok(node), options)
        assert.include(message, Object.keys(options).join())
      }
    })
  )
})

describe("the texts of a failure are bounded", () => {
  const many = <A>(make: (at: number) => A) => Array.from({ length: 1000 }, (_, at) => make(at))
  for (const [what, errors] of [
    ["fields", Object.fromEntries(many((at) => [`field-${at}`, ["no"]]))],
    ["messages of a field", { name: many(() => "no") }],
    ["errors with a field", many((at) => ({ field: `field-${at}`, message: "no" }))],
    ["errors", many(() => "no")],
    ["characters of a message", { name: ["x".repeat(mib)] }],
    ["characters of a name", { ["x".repeat(mib)]: ["no"] }],
    ["characters of a text", "x".repeat(mib)],
    ["values in an error", { name: [many((at) => ({ at }))] }],
    ["levels of an error", { name: [JSON.parse("[".repeat(60) + "]".repeat(60))] }]
  ] as const) {
    it.effect(what, () =>
      Effect.gen(function* () {
        const { message, reason } = yield* over({ status: 422, body: JSON.stringify({ code: 422, errors }) })
        assert.strictEqual(reason._tag, "InvalidRequest")
        assert.isBelow(message.length, 2000)
        // The field's texts are in the message, and again by field.
        assert.isBelow(JSON.stringify(reason).length, 2500)
      })
    )
  }
})
