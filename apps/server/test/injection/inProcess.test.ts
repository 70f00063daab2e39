import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { HttpClientError } from "effect/http"
import { TestClock } from "effect/testing"
import type { Fault } from "../../src/injection/catalogue.ts"
import { TestServer } from "../../src/testing.ts"
import { callWithoutSocket } from "../http/service.ts"

const list = callWithoutSocket("GET", "/nodes/")

const listUnder = (fault: Fault) =>
  Effect.gen(function* () {
    const world = yield* TestServer
    yield* world.arm([fault])
    const exit = yield* Effect.exit(list)
    yield* world.arm([])
    yield* list
    return exit
  })

describe("faults of the wire without a socket", () => {
  it.effect("a connection that is lost or sends garbage is a transport failure", () =>
    Effect.gen(function* () {
      for (const fault of ["reset-before-request", "reset-after-request", "garbage-bytes"] as const) {
        const error = yield* Effect.flip(Effect.flatten(listUnder({ fault })))
        expect(HttpClientError.isHttpClientError(error) && error.reason._tag).toBe("TransportError")
      }
    }).pipe(Effect.provide(TestServer.layerHttpClient()))
  )

  it.effect("a body that breaks off fails where it is read", () =>
    Effect.gen(function* () {
      for (const fault of ["reset-mid-body", "truncated-body"] as const) {
        const error = yield* Effect.flip(Effect.flatten(listUnder({ fault })))
        expect(HttpClientError.isHttpClientError(error) && error.reason._tag).toBe("DecodeError")
      }
    }).pipe(Effect.provide(TestServer.layerHttpClient()))
  )

  it.effect("a call that hangs ends when it is interrupted, one whose body is slow when time has passed", () =>
    Effect.gen(function* () {
      const world = yield* TestServer
      yield* world.arm([{ fault: "hang" }])
      const hanging = yield* Effect.forkChild(list)
      yield* TestClock.adjust("1 day")
      expect(hanging.pollUnsafe()).toBeUndefined()
      yield* Fiber.interrupt(hanging)
      yield* world.arm([{ fault: "slow-body", pause: "1 second" }])
      const slow = yield* Effect.forkChild(Effect.exit(list))
      for (let second = 0; second < 10; second++) {
        yield* world.journal
        yield* TestClock.adjust("1 second")
      }
      expect(Exit.isSuccess(yield* Fiber.join(slow))).toBe(true)
    }).pipe(Effect.provide(TestServer.layerHttpClient({ scenario: "small" })))
  )
})
