import { TestServer } from "@berthkit/server/testing"
import { expect, layer } from "@effect/vitest"
import { Effect, Random } from "effect"
import { inDialect } from "../account.ts"
import { drawSteps, silencing } from "./silencing.ts"

layer(TestServer.layer(inDialect({ clock: "real" })), { excludeTestServices: true })(
  "several daemons on one store",
  (it) => {
    it.effect("deliver what silences leave, and show what is wrong for as long as it is", () =>
      Effect.gen(function* () {
        const { events, held, judged, silences } = yield* silencing({ accounts: 12, steps: yield* drawSteps(40) })
        // The processes run in real time, so the number of events differs from run to run.
        expect(events).toBeGreaterThan(20)
        for (const count of [held, judged, silences]) expect(count).toBeGreaterThan(0)
      }).pipe(Random.withSeed("silences"))
    )
  }
)
