import { expect, layer } from "@effect/vitest"
import { Effect, Random } from "effect"
import { fastService, killing } from "./killing.ts"

/** Each kill needs a new process. `pnpm soak` kills 200. */
const kills = 5

layer(fastService, { excludeTestServices: true })("a daemon that is killed at any instant", (it) => {
  it.effect(
    "has delivered exactly what happened, in the order of each node, to a receiver that fails and loses answers",
    () =>
      Effect.gen(function* () {
        const { events, taken } = yield* killing(kills)
        expect(events).toBeGreaterThan(20)
        expect(taken).toBeGreaterThanOrEqual(events)
      }).pipe(Random.withSeed("kill"))
  )
})
