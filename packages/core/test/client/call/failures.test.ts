import { layer, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Nodes } from "../../../src/client/Nodes.ts"
import type { BerthError } from "../../../src/domain/BerthError.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"
import vectors from "@berthkit/testing/vectors/failures.json" with { type: "json" }

interface Vector {
  readonly name: string
  readonly operation: string
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
  readonly expect: {
    readonly reason: string
    readonly retryable?: boolean
    readonly fields?: Record<string, ReadonlyArray<string>>
    readonly retryAfterSeconds?: number
  }
}

const id = NodeId.make(7)
const spec = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-22.04" }

const operations: Record<string, Effect.Effect<unknown, BerthError, Nodes>> = {
  "nodes.get": Nodes.use((nodes) => nodes.get(id)),
  "nodes.list": Nodes.use((nodes) => nodes.listPage()),
  "nodes.create": Nodes.use((nodes) => nodes.create(spec)),
  "nodes.delete": Nodes.use((nodes) => nodes.delete(id))
}

describe("replies that are failures", () => {
  it.effect("of a change, with errors that are not named, are told in the words of the service alone", () =>
    Effect.gen(function* () {
      for (const body of [
        { errors: true, message: "The node has a protected volume" },
        { code: 200, errors: ["The node has a protected volume"], message: "Failed", data: {} }
      ]) {
        const service = layer(({ method }) => (method === "GET" ? ok([]) : { status: 200, body: JSON.stringify(body) }))
        for (const operation of ["nodes.create", "nodes.delete"]) {
          const error = yield* inTime(Effect.flip(operations[operation]!)).pipe(Effect.provide(service))
          const told = `${error.message} ${String(error.cause)}`
          assert.include(told, "The node has a protected volume", operation)
          assert.notInclude(told, "500", operation)
          assert.strictEqual(error.reply?.status, 200)
        }
      }
    })
  )

  for (const vector of vectors as ReadonlyArray<Vector>) {
    it.effect(`${vector.name} is ${vector.expect.reason}`, () =>
      Effect.gen(function* () {
        const error = yield* inTime(Effect.flip(operations[vector.operation]!))
        assert.strictEqual(error.reason._tag, vector.expect.reason)
        assert.strictEqual(error.operation, vector.operation)
        if (vector.expect.retryable !== undefined) assert.strictEqual(error.retryable, vector.expect.retryable)
        if (vector.expect.fields !== undefined) {
          assert.strictEqual(error.reason._tag, "InvalidRequest")
          if (error.reason._tag === "InvalidRequest") assert.deepStrictEqual(error.reason.fields, vector.expect.fields)
        }
        if (vector.expect.retryAfterSeconds !== undefined) {
          assert.property(error.reason, "retryAfterMillis")
          if ("retryAfterMillis" in error.reason) {
            assert.strictEqual(error.reason.retryAfterMillis, vector.expect.retryAfterSeconds * 1000)
          }
        }
        assert.isNotEmpty(error.attempts)
        for (const attempt of error.attempts) {
          assert.strictEqual(attempt.status, vector.status)
          assert.strictEqual(attempt.outcome, vector.expect.reason)
        }
        const again = error.retryable && (vector.operation !== "nodes.create" || vector.status === 429)
        assert.strictEqual(error.attempts.length > 1, again)
        assert.match(error.message, /^[A-Z].*\.$/s)
        assert.match(error.hint, /^[A-Z].*\.$/s)
      }).pipe(
        Effect.provide(
          // A create reads the list before and after its request; the account has no nodes.
          layer(({ method }) => (vector.operation === "nodes.create" && method === "GET" ? ok([]) : vector))
        )
      )
    )
  }
})
