import { TestServer } from "@berthkit/server/testing"
import { expect, layer } from "@effect/vitest"
import { Effect, Random } from "effect"
import { drawSteps, silencing } from "./silencing.ts"

layer(TestServer.layer({ clock: "real" }), { excludeTestServices: true })("several daemons on one store", (it) => {
  it.effect("deliver what silences leave, and show what is wrong for as long as it is", () =>
    Effect.gen(function* () {
      const { events, held, judged, silences } = yield* silencing({ accounts: 12, steps: yield* drawSteps(40) })
      expect(events).toBeGreaterThan(100)
      expect(held).toBeGreaterThan(10)
      expect(silences).toBeGreaterThan(4)
      expect(judged).toBeGreaterThan(10)
    }).pipe(Random.withSeed("silences"))
  )
})
