import { startStopwatch } from "@berthkit/testing/stopwatch"
import { expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestServer } from "../../src/testing.ts"
import { callAs } from "../http/service.ts"
import { control } from "./plane.ts"

layer(TestServer.layer())("a world of a million nodes", (it) => {
  it.effect("is made within seconds, lists any page at once, and can end as a whole", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const life = { clock: "frozen", outcomes: { vanishes: 1 }, outcomeAfter: "1095 days" }
      const making = startStopwatch()
      const { accessToken, apiKey, id } = (yield* control("POST", "/worlds", { scenario: "fleet:1000000", ...life }))
        .json
      making.expectBelow(5_000)
      const account = {
        baseUrl,
        apiKey: Redacted.make<string>(apiKey),
        accessToken: Redacted.make<string>(accessToken)
      }
      for (const page_no of ["1", "5000", "10000"]) {
        const listing = startStopwatch()
        const { json } = yield* callAs(account, "GET", "/nodes/", { query: { page_no, per_page: "100" } })
        expect(json.data.length).toBe(100)
        listing.expectBelow(1_000)
      }
      const ending = startStopwatch()
      yield* control("POST", `/${id}/clock`, { advance: "3285 days" })
      ending.expectBelow(10_000)
      expect((yield* control("GET", `/worlds/${id}`)).json.nodes).toBe(0)
    })
  )
})
