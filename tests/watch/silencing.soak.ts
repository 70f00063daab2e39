import { TestServer } from "@berthkit/server/testing"
import { seed } from "@berthkit/testing/chance"
import { expect, layer } from "@effect/vitest"
import { Effect, Random } from "effect"
import { inDialect } from "../account.ts"
import { drawSteps, silencing } from "./silencing.ts"

const fullSteps = 200
const steps = Number(process.env["STEPS"] ?? fullSteps)

layer(TestServer.layer(inDialect({ clock: "real" })), { excludeTestServices: true })(
  "three daemons on one store",
  (it) => {
    it.effect(`deliver what silences leave, and show what is wrong, through ${steps} steps`, () =>
      Effect.gen(function* () {
        const lived = yield* silencing({ accounts: 30, steps: yield* drawSteps(steps) })
        // The daemons run in real time. In a shortened run on a slow machine, perhaps no failure lasts long enough to compare two
        // processes.
        if (steps >= fullSteps) {
          expect(lived.judged).toBeGreaterThan(0)
          expect(lived.dropped).toBeGreaterThan(0)
        }
        yield* Effect.log(
          Object.entries(lived)
            .map(([what, count]) => `${count} ${what}`)
            .join(", ")
        )
      }).pipe(Random.withSeed(seed))
    )
  }
)
