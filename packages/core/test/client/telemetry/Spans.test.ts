import { layer, ok } from "@berth/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Tracer } from "effect"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"

const node = { id: 7, name: "web", created_at: "2026-03-01T10:20:30Z", status: "running" }
const get = Nodes.use((nodes) => nodes.get(NodeId.make(7)))

/** A client that records the span in which each of its requests is sent. */
const noting = (seen: Array<Tracer.Span | undefined>) =>
  layer(() =>
    Effect.map(Effect.option(Effect.currentSpan), (span) => {
      seen.push(Option.getOrUndefined(span))
      return ok(node)
    })
  )

describe("a call", () => {
  it.effect("is a span around one per attempt where the program has a tracer", () => {
    const seen: Array<Tracer.Span | undefined> = []
    return Effect.gen(function* () {
      yield* Effect.withSpan(get, "the caller's").pipe(Effect.withTracer(Tracer.nativeTracer))
      const attempt = seen[0]!
      assert.strictEqual(attempt.name, "attempt")
      assert.deepStrictEqual(Object.fromEntries(attempt.attributes), { attempt: 1, status: 200 })
      const call = Option.getOrThrow(attempt.parent) as Tracer.Span
      assert.strictEqual(call.name, "nodes.get")
      assert.strictEqual((Option.getOrThrow(call.parent) as Tracer.Span).name, "the caller's")
    }).pipe(Effect.provide(noting(seen)))
  })

  it.effect("makes no span, and does not change the caller's, where it has none", () => {
    const seen: Array<Tracer.Span | undefined> = []
    return Effect.gen(function* () {
      yield* Effect.withSpan(get, "the caller's")
      assert.strictEqual(seen[0]?.name, "the caller's")
      assert.strictEqual(seen[0]?.attributes.size, 0)
    }).pipe(Effect.provide(noting(seen)))
  })
})
