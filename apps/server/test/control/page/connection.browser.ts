import { describe, expect, it } from "@effect/vitest"
import { sees, seriousFindings, visit } from "@berthkit/testing/browser"
import { Effect } from "effect"
import { serve } from "../../cli/berthServer.ts"
import { callAs, nodeOf } from "../../http/service.ts"
import { accountOf, frozen, mustControl as control } from "./browser.ts"

describe("the page of a server that asks for a token", () => {
  it.live("shows nothing without it, refuses a wrong one, and then shows the world that was asked for", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve([...frozen, "--scenario", "small", "--control-token", "open-sesame"])
      const { page } = yield* visit(`${ready.url}/_mock/#w7`)
      const token = page.getByLabel("This server needs its control token.")
      yield* sees(token.waitFor())
      expect(yield* Effect.promise(() => page.locator("main").isVisible())).toBe(false)
      expect(yield* seriousFindings(page)).toEqual([])
      for (const wrong of ["open", "schlüssel 🔑"]) {
        yield* sees(token.fill(wrong))
        yield* sees(page.getByRole("button", { name: "Use it" }).click())
        yield* sees(page.getByRole("alert").getByText("The server rejected this control token.").waitFor())
        yield* sees(page.locator("#token:focus").waitFor())
        expect(yield* Effect.promise(() => page.locator("main").isVisible())).toBe(false)
      }
      yield* sees(page.keyboard.type("open-sesame"))
      yield* sees(page.keyboard.press("Enter"))
      yield* sees(page.getByText("There is no world w7.").waitFor())
      expect(yield* Effect.promise(() => page.getByRole("alert").count())).toBe(0)
      yield* sees(page.getByRole("status").getByRole("link", { name: "default" }).click())
      yield* sees(page.getByRole("row", { name: "database" }).waitFor())
      yield* sees(page.reload())
      yield* sees(page.getByRole("row", { name: "database" }).waitFor())
      // A link sends no token, so it would only open a refusal.
      expect(yield* Effect.promise(() => page.getByRole("link", { name: "Control plane" }).count())).toBe(0)
    })
  )
})

describe("the page of a server that goes away", () => {
  it.live("states it, keeps what it shows, and recovers when a server is there again", () =>
    Effect.gen(function* () {
      const first = yield* serve(frozen)
      const { account } = first
      const { url } = first.ready
      const world = yield* control(account, "POST", "/worlds", { clock: "frozen" })
      yield* callAs(accountOf(account, world), "POST", "/nodes/", { body: nodeOf("web") })
      const { page } = yield* visit(`${url}/_mock/#w1`)
      yield* sees(page.getByRole("link", { name: "Control plane" }).waitFor())
      yield* sees(page.getByRole("row", { name: "web" }).waitFor())
      yield* first.stop("SIGKILL")
      yield* sees(page.getByRole("status").getByText("No connection to the server.").waitFor())
      yield* sees(page.getByText("no connection", { exact: true }).waitFor())
      yield* sees(page.getByRole("row", { name: "web" }).waitFor())
      yield* sees(page.getByRole("button", { name: "Advance" }).click())
      yield* sees(page.getByRole("alert").getByText("The server cannot be reached.").waitFor())

      yield* serve(frozen.with(1, new URL(url).port))
      yield* sees(page.getByText("There is no world w1.").waitFor())
      yield* sees(page.getByText("live", { exact: true }).waitFor())
      yield* sees(page.locator("#journal li").filter({ hasText: "POST" }).waitFor())
      yield* control(account, "POST", "/worlds", { clock: "frozen" })
      yield* sees(page.getByRole("button", { name: "Advance" }).waitFor())
      yield* sees(page.getByText("No requests yet.").waitFor())
    })
  )
})
