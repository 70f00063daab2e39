import { afterEach, describe, expect, it, vi } from "@effect/vitest"
import { HttpService } from "@berthkit/testing/HttpService"
import { Deferred, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { heartbeat, type HeartbeatOptions } from "../../src/deliver/heartbeat.ts"
import type { Outcome } from "../../src/deliver/Health.ts"
import { Receiver } from "./Receiver.ts"

const usual = { method: "POST", headers: [] } as const

describe("the heartbeat", () => {
  afterEach(() => void vi.unstubAllEnvs())

  it.effect("goes through the proxy of the environment", () =>
    Effect.gen(function* () {
      const proxy = yield* Receiver.start
      vi.stubEnv("HTTP_PROXY", proxy.url)
      const options = { url: Redacted.make(new URL("http://beat.test/1")), everyMillis: 60_000, ...usual }
      yield* Effect.forkScoped(heartbeat(options, Effect.succeed(true), () => Effect.void))
      yield* proxy.requests(1)
      expect(proxy.received).toMatchObject([{ id: "heartbeat" }])
    })
  )

  it.effect.each(["GET", "HEAD", "POST", "PUT"] as const)("is a %s, with the headers of its config", (method) =>
    Effect.gen(function* () {
      const received: Array<unknown> = []
      const { url } = yield* HttpService.start((request, response) => {
        let body = ""
        request.setEncoding("utf8").on("data", (text: string) => (body += text))
        request.on("end", () => {
          const { headers, method, url } = request
          received.push([method, url, headers.authorization, headers["content-type"] ?? null, body])
          response.end()
        })
      })
      const beaten = yield* Deferred.make<Outcome>()
      const options: HeartbeatOptions = {
        url: Redacted.make(new URL(`${url}/api/push/1?status=up`)),
        everyMillis: 60_000,
        method,
        headers: [["authorization", Redacted.make("Bearer of-a-test")]]
      }
      const onBeat = (outcome: Outcome) => Effect.asVoid(Deferred.succeed(beaten, outcome))
      yield* Effect.forkScoped(heartbeat(options, Effect.succeed(true), onBeat))
      expect(yield* Deferred.await(beaten)).toEqual({ _tag: "Delivered" })
      const body = method === "POST" || method === "PUT" ? ["application/cloudevents+json", "{}"] : [null, ""]
      expect(received).toEqual([[method, "/api/push/1?status=up", "Bearer of-a-test", ...body]])
    })
  )

  it.effect("comes at its times while all is well, and only then", () =>
    Effect.gen(function* () {
      const receiver = yield* Receiver.start
      let well = true
      let asked = 0
      const isWell = Effect.sync(() => {
        asked++
        return well
      })
      const options = { url: Redacted.make(new URL(receiver.url)), everyMillis: 60_000, ...usual }
      const ends: Array<string> = []
      const onBeat = ({ _tag }: Outcome) => Effect.sync(() => void ends.push(_tag))
      yield* Effect.forkScoped(heartbeat(options, isWell, onBeat))
      yield* receiver.requests(1)
      receiver.answer = () => 500
      well = false
      while (asked < 3) yield* TestClock.adjust("1 minute")
      expect(receiver.received.length).toBe(1)
      well = true
      yield* Effect.raceFirst(receiver.requests(2), Effect.forever(TestClock.adjust("10 seconds")))
      while (ends.length < 2) yield* TestClock.adjust("1 second")
      expect(ends).toEqual(["Delivered", "Failed"])
    })
  )
})
