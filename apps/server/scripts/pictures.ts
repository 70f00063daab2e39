// Takes the pictures of the mock's page in the docs. It needs Chromium.
import { takePictures } from "@berthkit/testing/pictures"
import { Effect } from "effect"
import { serve } from "../test/cli/berthServer.ts"
import { accountOf, frozen, mustControl } from "../test/control/page/browser.ts"
import { callAs, nodeOf } from "../test/http/service.ts"

const picture = Effect.gen(function* () {
  const { account, ready } = yield* serve([...frozen, "--scenario", "small"])
  const control = (method: string, path: string, body?: unknown) => mustControl(account, method, path, body)
  const made = yield* control("POST", "/worlds", {
    seed: 7,
    clock: "frozen",
    scenario: "small",
    provisioning: "10 seconds"
  })
  yield* control("POST", "/worlds", { seed: 8, clock: "frozen" })
  yield* control("DELETE", `/worlds/${(yield* control("POST", "/worlds", { seed: 9 })).id}`)
  const tested = accountOf(account, made)
  const world = `/worlds/${made.id}`
  const first = yield* callAs(tested, "GET", "/nodes/")
  yield* callAs(tested, "POST", "/nodes/", { body: nodeOf("worker-1") })
  yield* control("POST", `${world}/clock`, { advance: "10 seconds" })
  yield* control("PATCH", `${world}/nodes/${first.json.data[0].id}`, { status: "power-off", locked: true })
  yield* control("PUT", `${world}/faults`, [
    { fault: "status", status: 503, message: "Down for maintenance", every: 2, scope: { operation: "nodes.list" } },
    { fault: "reset-after-request", times: 1, scope: { operation: "nodes.create" } }
  ])
  yield* callAs(tested, "GET", "/nodes/")
  yield* callAs(tested, "GET", "/nodes/")
  yield* Effect.ignoreCause(callAs(tested, "POST", "/nodes/", { body: nodeOf("worker-2") }))
  yield* callAs(tested, "GET", "/nodes/", { query: { name: "worker-2" } } as never)
  yield* callAs(tested, "POST", "/nodes/", { body: { ...nodeOf("worker-3"), plan: "none" } })
  yield* takePictures({
    name: "mock",
    url: `${ready.url}/_mock/#${made.id}`,
    height: 880,
    ready: async (page) => {
      await page.getByText("live", { exact: true }).waitFor()
      await page.locator("#journal li").nth(5).waitFor()
    }
  })
})

await Effect.runPromise(Effect.scoped(picture))
