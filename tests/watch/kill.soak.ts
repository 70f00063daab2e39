import { seed } from "@berthkit/testing/chance"
import { layer } from "@effect/vitest"
import { Effect, Random } from "effect"
import { fastService, killing } from "./killing.ts"

const kills = Number(process.env["KILLS"] ?? 200)

layer(fastService, { excludeTestServices: true })("a daemon that is killed many times", (it) => {
  it.effect(`has delivered exactly what happened after ${kills} kills`, () =>
    Effect.gen(function* () {
      const { events, taken } = yield* killing(kills)
      yield* Effect.log(`${kills} kills, ${events} events, ${taken} deliveries taken`)
    }).pipe(Random.withSeed(seed))
  )
})
