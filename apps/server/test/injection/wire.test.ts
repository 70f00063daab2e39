import { startStopwatch } from "@berthkit/testing/stopwatch"
import { expect, it, layer } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { TestServer, type TestWorld } from "../../src/testing.ts"
import { serve } from "../cli/berthServer.ts"
import { controlAt } from "../control/plane.ts"
import { exchange } from "../transport/rawSocket.ts"
import { prefix } from "../http/service.ts"
import { list } from "./client.ts"

const request = (world: TestWorld, method: string, path = "/nodes/"): string =>
  [
    `${method} ${prefix}${path}?apikey=${Redacted.value(world.apiKey)} HTTP/1.1`,
    "Host: x",
    `Authorization: Bearer ${Redacted.value(world.accessToken)}`,
    "",
    ""
  ].join("\r\n")

layer(TestServer.layer())("faults on the bytes of a connection", (it) => {
  it.effect("fire in order: the replies to requests before come through whole", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ scenario: "small" })
      const pipelined = ["GET", "GET", "GET"].map((method) => request(world, method)).join("")
      for (const fault of ["reset-after-request", "truncated-body", "garbage-bytes"] as const) {
        yield* world.arm([{ fault, after: 2 }])
        const { closedByServer, replies } = yield* exchange(world.baseUrl, [pipelined])
        expect([fault, closedByServer, replies.map(({ status }) => status)]).toEqual([fault, true, [200, 200]])
      }
    })
  )

  it.effect("leave replies without a body as they are, where they are faults of the body", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ scenario: "small" })
      for (const fault of ["truncated-body", "reset-mid-body", "slow-body", "malformed-json"] as const) {
        yield* world.arm([{ fault }])
        const { replies } = yield* exchange(world.baseUrl, [request(world, "HEAD")], { enough: 1, headReplies: [0] })
        expect([fault, replies.map(({ status }) => status)]).toEqual([fault, [200]])
      }
    })
  )

  it.effect("a reply that has lost its date gets no other: the clock of the machine is not the world's", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      yield* world.arm([{ fault: "headers-missing", headers: ["Date", "ratelimit-reset"] }])
      const { headers } = yield* list(world)
      expect([headers.get("date"), headers.get("ratelimit-reset"), headers.get("ratelimit-limit")]).toEqual([
        null,
        null,
        "1200"
      ])
      yield* world.arm([{ fault: "rate-limited-bare" }])
      expect((yield* list(world)).headers.get("date")).toBe("Thu, 01 Jan 2026 00:00:00 GMT")
    })
  )
})

it.live("a server that hangs on purpose still ends within 5 s of a signal", () =>
  Effect.gen(function* () {
    const server = yield* serve("--port 0 --fault hang --fault slow-body:pause=1h".split(" "))
    const hanging = yield* Effect.forkChild(list(server.account))
    const requests = Effect.map(
      controlAt(server.account, "GET", "/worlds/default/requests"),
      ({ json }) => json.requests
    )
    while ((yield* requests).length === 0) continue
    const stopwatch = startStopwatch()
    expect(yield* server.stop("SIGTERM")).toMatchObject({ code: 0, stderr: "" })
    stopwatch.expectBelow(5_000)
    expect((yield* Fiber.join(hanging)).failure).toBeDefined()
  })
)
