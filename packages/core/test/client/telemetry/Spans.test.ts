import { failure, layer, lost, ok, type Reply } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Tracer } from "effect"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"

const node = { id: 7, name: "web", created_at: "2026-03-01T10:20:30Z", status: "running" }
const get = Nodes.use((nodes) => nodes.get(NodeId.make(7)))

/** A client that records the span in which each of its requests is sent. */
const noting = (seen: Array<Tracer.Span | undefined>, replies: ReadonlyArray<Reply> = [ok(node)]) =>
  layer(() =>
    Effect.flatMap(Effect.option(Effect.currentSpan), (span) => {
      seen.push(Option.getOrUndefined(span))
      const reply = replies[seen.length - 1]!
      return reply === lost ? Effect.fail("gone") : Effect.succeed(reply)
    })
  )

const traced = Effect.withTracer(Tracer.nativeTracer)
const attributesOf = (span: Tracer.Span | undefined) => Object.fromEntries(span!.attributes)

describe("a call", () => {
  it.effect("is a span around one span per attempt if the program has a tracer", () => {
    const seen: Array<Tracer.Span | undefined> = []
    return Effect.gen(function* () {
      yield* Effect.withSpan(get, "the caller's").pipe(Effect.withTracer(Tracer.nativeTracer))
      const attempt = seen[0]!
      assert.deepStrictEqual([attempt.name, attempt.kind], ["GET", "client"])
      const call = Option.getOrThrow(attempt.parent) as Tracer.Span
      assert.strictEqual(call.name, "nodes.get")
      assert.strictEqual((Option.getOrThrow(call.parent) as Tracer.Span).name, "the caller's")
    }).pipe(Effect.provide(noting(seen)))
  })

  it.effect(
    "gives its attempts the attributes of OpenTelemetry's HTTP conventions, the key in the address masked",
    () => {
      const seen: Array<Tracer.Span | undefined> = []
      const request = {
        "http.request.method": "GET",
        "server.address": "berth.test",
        "server.port": 443,
        "url.full": "https://berth.test/myaccount/api/v1/nodes/7/?apikey=<redacted>"
      }
      return Effect.gen(function* () {
        yield* traced(inTime(get))
        assert.deepStrictEqual(seen.map(attributesOf), [
          { ...request, "http.response.status_code": 503, "error.type": "503" },
          { ...request, "http.request.resend_count": 1, "error.type": "Unreachable" },
          { ...request, "http.request.resend_count": 2, "http.response.status_code": 200 }
        ])
      }).pipe(Effect.provide(noting(seen, [failure(503, "busy"), lost, ok(node)])))
    }
  )

  it.effect("that takes several has a span of its own around them, of the same name as its operation", () => {
    const seen: Array<Tracer.Span | undefined> = []
    return Effect.gen(function* () {
      const create = Nodes.use((nodes) => nodes.create({ name: "web", plan: "P", image: "I" }))
      yield* traced(inTime(Effect.ignore(create)))
      const names = [Option.getOrThrow(seen.at(-1)!.parent) as Tracer.Span]
      names.push(Option.getOrThrow(names[0]!.parent) as Tracer.Span)
      assert.deepStrictEqual(
        names.map(({ name }) => name),
        ["nodes.create", "nodes.create"]
      )
    }).pipe(Effect.provide(noting(seen, [ok([]), failure(422, "no")])))
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
