import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer, type TestWorld, type TestWorldOptions } from "../../src/testing.ts"
import { allowanceOf, callAs, errorsOf } from "../http/service.ts"
import { control } from "./plane.ts"

const makeWorld = (rateLimit: TestWorldOptions["rateLimit"]) =>
  Effect.flatMap(TestServer, (server) => server.makeWorld(rateLimit === undefined ? {} : { rateLimit }))

const change = (world: TestWorld, rateLimit: unknown) => control("PATCH", `/worlds/${world.id}`, { rateLimit })

const ask = (world: TestWorld) => callAs(world, "GET", "/nodes/")

describe("the rate limit of a world that goes on", () => {
  it.effect("changes at once, and what has been spent stays spent", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ limit: 10, window: "1 minute" })
      for (let i = 0; i < 4; i++) yield* ask(world)
      yield* world.advance("20 seconds")
      const changed = yield* change(world, { limit: 6 })
      expect([changed.status, changed.json.allowance]).toEqual([
        200,
        {
          algorithm: "fixed-window",
          limit: 6,
          window: "60000 millis",
          remaining: 2,
          resetAt: "2026-01-01T00:01:00.000Z"
        }
      ])
      expect([yield* ask(world), yield* ask(world)].map(({ headers }) => allowanceOf(headers)[1])).toEqual([1, 0])
      errorsOf(yield* ask(world), 429)
      expect((yield* change(world, { limit: 7 })).json.allowance.remaining).toBe(1)
      yield* ask(world)
      // The new limit is below what is already spent, so nothing is left until the window ends.
      expect((yield* change(world, { limit: 3 })).json.allowance.remaining).toBe(0)
      errorsOf(yield* ask(world), 429)
      yield* world.advance("40 seconds")
      expect(allowanceOf((yield* ask(world)).headers).slice(0, 2)).toEqual([3, 2])
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("is of this world alone, and a reset goes back to the one it began with", () =>
    Effect.gen(function* () {
      const [world, other] = [yield* makeWorld({ limit: 10 }), yield* makeWorld({ limit: 10 })]
      yield* change(world, { limit: 2, window: "10s", algorithm: "token-bucket" })
      expect(allowanceOf((yield* ask(other)).headers).slice(0, 2)).toEqual([10, 9])
      expect(allowanceOf((yield* ask(world)).headers).slice(0, 2)).toEqual([2, 1])
      yield* control("POST", `/worlds/${world.id}/reset`)
      expect(allowanceOf((yield* ask(world)).headers).slice(0, 2)).toEqual([10, 9])
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("is in a snapshot, with the one that a reset goes back to", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ limit: 10 })
      yield* change(world, { limit: 5, algorithm: "sliding-window" })
      yield* ask(world)
      const { json: snapshot } = yield* control("GET", `/worlds/${world.id}/snapshot`)
      const copy = yield* makeWorld({ limit: 70 })
      expect((yield* control("PUT", `/worlds/${copy.id}/snapshot`, snapshot)).status).toBe(200)
      expect((yield* control("GET", `/worlds/${copy.id}/snapshot`)).json).toEqual(snapshot)
      expect(allowanceOf((yield* ask(copy)).headers).slice(0, 2)).toEqual([5, 3])
      yield* control("POST", `/worlds/${copy.id}/reset`)
      expect(allowanceOf((yield* ask(copy)).headers).slice(0, 2)).toEqual([10, 9])
      const spoilt = { ...snapshot, rateLimit: { ...snapshot.rateLimit, algorithm: "token-bucket" } }
      const refused = yield* control("PUT", `/worlds/${copy.id}/snapshot`, spoilt)
      expect(Object.keys(errorsOf(refused, 422))).toEqual(["allowance"])
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("is halved by window-changes as it is now", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ limit: 100 })
      yield* change(world, { limit: 20 })
      yield* world.arm([{ fault: "window-changes" }])
      expect(allowanceOf((yield* ask(world)).headers).slice(0, 2)).toEqual([10, 9])
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("is refused by field where it is none, and stays", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ limit: 200_000 })
      const wrong: ReadonlyArray<readonly [body: unknown, field: string]> = [
        [{ rateLimit: { limit: 0 } }, "rateLimit.limit"],
        [{ rateLimit: { window: "0s" } }, "rateLimit.window"],
        [{ rateLimit: { algorithm: "sliding-window" } }, "rateLimit"],
        [{ ratelimit: { limit: 1 } }, "ratelimit"],
        [{ seed: 7 }, "seed"]
      ]
      for (const [body, field] of wrong) {
        const refused = yield* control("PATCH", `/worlds/${world.id}`, body)
        expect(Object.keys(errorsOf(refused, 422))).toEqual([field])
      }
      errorsOf(yield* control("PATCH", "/worlds/nope", { rateLimit: { limit: 1 } }), 404)
      expect(allowanceOf((yield* ask(world)).headers)[0]).toBe(200_000)
    }).pipe(Effect.provide(TestServer.layer()))
  )
})
