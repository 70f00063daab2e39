/** Options of one call that replace those of its client or are added to them. */
import { failure, layer, ok, scripted } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as Berth from "../../../src/client/Berth.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import type { AttemptReport } from "../../../src/client/options/AttemptReport.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"
import { signedRequests } from "../../signedRequests.ts"

const node = { id: 7, name: "web", created_at: "2026-03-01T10:20:30Z", status: "running" }
const id = NodeId.make(7)
const credentials = { apiKey: Redacted.make("key-of-mine"), accessToken: Redacted.make("token-of-mine") }

describe("a call", () => {
  it.effect("has its own maximum of attempts, above or below that of its client", () =>
    Effect.gen(function* () {
      const attempts = (maxAttempts: number) =>
        Effect.map(
          inTime(Effect.flip(Nodes.use((nodes) => nodes.get(id, { maxAttempts })))),
          ({ attempts }) => attempts.length
        )
      assert.deepStrictEqual([yield* attempts(1), yield* attempts(5)], [1, 5])
    }).pipe(Effect.provide(layer(() => failure(503, "busy"), { maxAttempts: 3 })))
  )

  it.effect("has its own time limit for each attempt", () =>
    Effect.gen(function* () {
      const { attempts, reason } = yield* inTime(
        Effect.flip(Nodes.use((nodes) => nodes.get(id, { attemptTimeout: "2 seconds", maxAttempts: 2 })))
      )
      assert.deepInclude(reason, { _tag: "TimedOut", afterMillis: 2000 })
      assert.deepStrictEqual(
        attempts.map(({ durationMillis }) => durationMillis),
        [2000, 2000]
      )
    }).pipe(Effect.provide(layer(() => Effect.never)))
  )

  it.effect("adds headers to those of its client, and takes the place of some, but of no credential", () => {
    const seen: Array<Readonly<Record<string, string>>> = []
    const service = signedRequests(
      () => ok(node),
      ({ headers }) => seen.push(headers)
    )
    const client = Berth.layer({
      baseUrl: "https://berth.test",
      credentials,
      headers: { "X-Team": "blue", "X-Zone": "a" }
    })
    return Effect.gen(function* () {
      yield* Nodes.use((nodes) => nodes.get(id, { headers: { "x-team": "red", "X-Trace": "7" } }))
      yield* Nodes.use((nodes) => nodes.get(id))
      const own = seen.map((headers) => [headers["x-team"], headers["x-zone"], headers["x-trace"]])
      assert.deepStrictEqual(own, [
        ["red", "a", "7"],
        ["blue", "a", undefined]
      ])
      for (const name of ["authorization", "Authorization", "host", "content-length"]) {
        const error = yield* Effect.flip(Nodes.use((nodes) => nodes.get(id, { headers: { [name]: "Bearer mine" } })))
        assert.include(error.message, `the header "${name}" cannot be set`)
      }
      assert.isTrue(seen.every(({ authorization }) => authorization === "Bearer token-of-mine"))
      assert.lengthOf(seen, 2)
    }).pipe(Effect.provide(Layer.provide(client, service)))
  })

  it.effect("masks the secrets in its headers, and in those of its client, and no other words", () => {
    const echo = failure(400, "no blue-team for gate-pass-123 nor once-only-456, and no visitor-789")
    const options = {
      headers: { "x-gateway-token": "gate-pass-123", "x-team": "blue-team" }
    }
    return Effect.gen(function* () {
      const own = { "Proxy-Authorization": "Basic once-only-456", cookie: "session=visitor-789" }
      const error = yield* Effect.flip(Nodes.use((nodes) => nodes.get(id, { headers: own })))
      assert.include(error.message, "no blue-team for <redacted> nor <redacted>")
      assert.notInclude(JSON.stringify([error.message, error.reason, error.reply]), "gate-pass")
      assert.notInclude(JSON.stringify([error.message, error.reason, error.reply]), "once-only")
      const other = yield* Effect.flip(Nodes.use((nodes) => nodes.get(id)))
      assert.include(other.message, "once-only-456", "secrets of one call are not those of another")
    }).pipe(Effect.provide(layer(() => echo, options)))
  })

  it.effect("reports its attempts to its own hook, after that of its client", () => {
    const told: Array<string> = []
    const tell = (who: string) => (attempt: AttemptReport) =>
      Effect.sync(
        () => void told.push(`${who} ${attempt.operation} ${attempt.number} ${attempt.outcome} ${attempt.url}`)
      )
    const script = scripted([failure(503, "busy"), ok(node), ok(node)])
    return Effect.gen(function* () {
      yield* inTime(Nodes.use((nodes) => nodes.get(id, { onAttempt: tell("call") })))
      yield* Nodes.use((nodes) => nodes.get(id))
      const url = "https://berth.test/myaccount/api/v1/nodes/7/?apikey=<redacted>"
      assert.deepStrictEqual(told, [
        `client nodes.get 1 ServiceUnavailable ${url}`,
        `call nodes.get 1 ServiceUnavailable ${url}`,
        `client nodes.get 2 ok ${url}`,
        `call nodes.get 2 ok ${url}`,
        `client nodes.get 1 ok ${url}`
      ])
    }).pipe(Effect.provide(layer(script, { onAttempt: tell("client") })))
  })

  it.effect("is not held up by a hook that never ends, nor failed by one that breaks down", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Nodes.use((nodes) => nodes.get(id, { onAttempt: () => Effect.never }))).id, 7)
      assert.strictEqual((yield* Nodes.use((nodes) => nodes.get(id, { onAttempt: () => Effect.die("!") }))).id, 7)
    }).pipe(Effect.provide(layer(() => ok(node))))
  )

  it.effect("passes its options on to every request of a create", () => {
    const told: Array<string> = []
    const script = scripted(({ method }) => (method === "GET" ? ok([]) : failure(503, "busy")))
    return Effect.gen(function* () {
      const options = {
        maxAttempts: 1,
        deadline: "10 seconds",
        headers: { "x-trace": "7" },
        onAttempt: ({ method, number }: AttemptReport) => Effect.sync(() => void told.push(`${method} ${number}`))
      } as const
      yield* inTime(Effect.ignore(Nodes.use((nodes) => nodes.create({ name: "web", plan: "P", image: "I" }, options))))
      assert.isTrue(script.requests.every(({ headers }) => headers["x-trace"] === "7"))
      assert.strictEqual(told.length, script.requests.length)
      assert.isAbove(told.length, 1)
      assert.isTrue(told.every((line) => line.endsWith(" 1")))
    }).pipe(Effect.provide(layer(script)))
  })
})
