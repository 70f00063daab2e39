/** The test with Effect that `docs/testing-with-the-mock.md` shows. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "@berthkit/server/testing"

layer(TestServer.layer())("a suite", (it) => {
  it.effect("a node runs after ten seconds", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ provisioning: "10 seconds" })
      // … create a node at world.baseUrl, with world.apiKey and world.accessToken
      yield* world.advance("10 seconds")
    })
  )
})
