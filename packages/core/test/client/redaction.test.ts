import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Logger, References, Tracer } from "effect"
import { Base64, Base64Url } from "effect/encoding"
import { HttpClientError } from "effect/http"
import { inspect } from "node:util"
import type { BerthError } from "../../src/domain/BerthError.ts"
import { Nodes } from "../../src/client/Nodes.ts"
import { RawApi } from "../../src/client/RawApi.ts"
import { NodeId } from "../../src/domain/Node.ts"
import { collected } from "../Telemetry.ts"
import { accessToken, apiKey, clientOver, inTime, type ScriptedReply } from "../ScriptedService.ts"
import failures from "../vectors/failures.json" with { type: "json" }

const spellings = [apiKey, accessToken].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  Base64.encode(secret),
  Base64Url.encode(secret)
])

/** Replies that repeat the request's credentials, as an error page of a proxy does. */
const echoes: ReadonlyArray<ScriptedReply> = spellings.flatMap((spelling) => [
  {
    status: 401,
    body: JSON.stringify({ message: `bad key ${spelling}`, code: 401, data: {}, errors: { key: [spelling] } })
  },
  { status: 422, body: JSON.stringify({ code: 422, errors: { [spelling]: [spelling], plan: [`no ${spelling}`] } }) },
  { status: 502, body: `<html>GET /nodes/7/?apikey=${spelling}</html>` },
  { status: 200, body: `<html>${spelling}</html>` },
  { status: 200, body: JSON.stringify({ code: 200, data: { id: spelling } }) },
  { status: 302, headers: { location: `https://portal.test/?next=${spelling}` } }
])

/** Everything a run shows to anybody: its exit in every rendering, its log at the lowest level, its spans. */
const shown = Effect.fnUntraced(function* (answer: ScriptedReply | "refused") {
  const output: Array<string> = []
  const client = clientOver((request) =>
    answer === "refused"
      ? Effect.fail(
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.TransportError({
              request,
              cause: new Error(`connect ECONNREFUSED ?apikey=${encodeURIComponent(apiKey)}`)
            })
          })
        )
      : Effect.succeed(answer)
  )
  const logger = Logger.make((options) => {
    output.push(inspect(options.message, { depth: 12 }), Cause.pretty(options.cause))
  })
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const end = span.end.bind(span)
      span.end = (time, exit) => {
        end(time, exit)
        output.push(span.name, inspect(Array.from(span.attributes), { depth: 12 }))
        if (Exit.isFailure(exit)) output.push(inspect(exit, { depth: 12 }))
      }
      return span
    }
  })
  const calls = Effect.gen(function* () {
    const all: ReadonlyArray<Effect.Effect<unknown, BerthError, Nodes | RawApi>> = [
      Nodes.use((nodes) => nodes.get(NodeId.make(7))),
      Nodes.use((nodes) => nodes.create({ name: "web", plan: "P", image: "I" })),
      RawApi.use((raw) => raw.request({ method: "GET", path: "/nodes/" }))
    ]
    for (const call of all) {
      // The data of a success is the caller's to show; what Berth shows of it is that it came.
      const exit = yield* inTime(Effect.exit(Effect.asVoid(call)))
      yield* Effect.logTrace("done", exit)
      output.push(inspect(exit, { depth: 12 }), JSON.stringify(exit), String(exit))
      if (Exit.isFailure(exit)) {
        const error = Cause.squash(exit.cause)
        output.push(Cause.pretty(exit.cause), String(error), error instanceof Error ? String(error.stack) : "")
      }
    }
  })
  yield* calls.pipe(
    Effect.provide(client),
    Effect.withTracer(tracer),
    Effect.provide(Logger.layer([logger])),
    Effect.provideService(References.MinimumLogLevel, "All")
  )
  const { payloads } = yield* collected(Effect.provide(calls, client))
  return { own: output.join("\n"), payloads }
})

describe("credentials", () => {
  it.effect(
    "appear in no error, log line, span or metric, nor in what OTLP sends of them, whatever the service repeats of them",
    () =>
      Effect.gen(function* () {
        const answers = [...echoes, ...failures, "refused" as const, { status: 200, body: `{"data":{"id":1}}` }]
        for (const answer of answers) {
          const { own, payloads } = yield* shown(answer)
          assert.include(own, "nodes.get")
          assert.include(own, "attempt")
          for (const signal of ["/v1/logs", "/v1/traces", "/v1/metrics", "berth_requests_total"]) {
            assert.include(payloads, signal)
          }
          for (const spelling of spellings) assert.notInclude(own + payloads, spelling, JSON.stringify(answer))
        }
      })
  )
})
