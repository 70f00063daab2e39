import { TestServer } from "@berth/server/testing"
import { expect, layer } from "@effect/vitest"
import { Effect, Random } from "effect"
import { faltering } from "./faltering.ts"

layer(TestServer.layer({ clock: "real" }), { excludeTestServices: true })("three daemons on one store", (it) => {
  it.effect("keep the log of every account whole, whichever of them is killed, frozen, cut off or ended", () =>
    Effect.gen(function* () {
      const { events, taken, takeovers } = yield* faltering({
        accounts: 12,
        faults: ["freeze", "kill", "freeze", "cut", "freeze", "end"]
      })
      expect(events).toBeGreaterThan(100)
      expect(taken).toBeGreaterThanOrEqual(events / 2)
      expect(takeovers.length).toBe(5)
    }).pipe(Random.withSeed("fleet"))
  )
})
