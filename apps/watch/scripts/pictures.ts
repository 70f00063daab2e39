// Takes the pictures of the dashboard in the docs. It needs Chromium.
import { takePictures } from "@berthkit/testing/pictures"
import { Effect } from "effect"
import { aCost } from "../test/http/aCost.ts"
import { served } from "../test/http/http.ts"
import { scene } from "../test/http/sceneDaemon.ts"

/** Late in a month, so that the chart has days behind it and ahead. */
const spentUntilMillis = Date.parse("2026-11-24T06:30:00Z")

const picture = Effect.gen(function* () {
  const { state, url, ...daemon } = yield* served()
  yield* scene({ ...daemon, state }, 8)
  state.costs = [
    aCost({ budget: { monthInr: 80_000, warnPercent: [80] } }, spentUntilMillis, [
      [1, 60],
      [5, 85],
      [12, 95],
      [19, 105]
    ])
  ]
  yield* takePictures({
    name: "dashboard",
    url,
    height: 800,
    ready: async (page) => {
      await page.getByText("live", { exact: true }).waitFor()
      await page.getByText("Spent this month").waitFor()
    }
  })
})

await Effect.runPromise(Effect.scoped(picture))
