import { describe, expect, it } from "@effect/vitest"
import { isWiderThanScreen, sees, seriousFindings, visit } from "@berthkit/testing/browser"
import { Effect } from "effect"
import { serve } from "../../cli/berthServer.ts"
import { callAs, nodeOf, prefix } from "../../http/service.ts"
import { frozen, mustControl as control } from "./browser.ts"

describe("the page of the worlds", () => {
  it.live("advances the clock by keyboard alone, and a node runs", () =>
    Effect.gen(function* () {
      const { account, ready } = yield* serve(frozen)
      yield* callAs(account, "POST", "/nodes/", { body: nodeOf("web") })
      const { complaints, outside, page } = yield* visit(`${ready.url}/_mock/`)
      const row = page.getByRole("row", { name: "web" })
      yield* sees(row.getByText("created", { exact: true }).waitFor())
      yield* Effect.promise(async () => {
        for (let i = 0; i < 20; i++) {
          await page.keyboard.press("Tab")
          if (await page.getByLabel("Advance by").evaluate((input) => input === input.ownerDocument.activeElement))
            break
        }
        await page.keyboard.press("ControlOrMeta+a")
        await page.keyboard.type("10 seconds")
        await page.keyboard.press("Enter")
      })
      yield* sees(row.getByText("running", { exact: true }).waitFor())
      yield* sees(page.getByText("2026-01-01 00:00:10", { exact: true }).waitFor())
      expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
    })
  )

  it.live("shows the last requests and a screen of nodes without scrolling, in the colours of the dashboard", () =>
    Effect.gen(function* () {
      const { account, ready } = yield* serve([...frozen, "--scenario", "small"])
      for (const name of ["one", "two"]) yield* callAs(account, "POST", "/nodes/", { body: nodeOf(name) })
      const { json } = yield* callAs(account, "GET", "/nodes/")
      const forced = { status: "power-off", locked: true }
      yield* control(account, "PATCH", `/worlds/default/nodes/${json.data[0].id}`, forced)
      for (let request = 0; request < 4; request++) yield* callAs(account, "GET", "/nodes/")
      const { page } = yield* visit(`${ready.url}/_mock/`, { width: 1280, height: 800 })
      const requests = page.locator("#journal li")
      yield* sees(requests.nth(5).waitFor())
      const { height, y } = (yield* sees(requests.nth(3).boundingBox()))!
      expect(y + height).toBeLessThan(800)
      yield* sees(page.getByRole("row", { name: "two" }).locator(".badge.coming").getByText("created").waitFor())
      // The buttons at the end of the rows are in sight on a tablet, too.
      yield* sees(page.setViewportSize({ width: 1024, height: 768 }))
      const change = (yield* sees(page.getByRole("button", { name: "Change database" }).boundingBox()))!
      expect(change.x + change.width).toBeLessThan(1000)
    })
  )

  it.live("steps to the next event, and names it", () =>
    Effect.gen(function* () {
      const { account, ready } = yield* serve(frozen)
      const made = yield* callAs(account, "POST", "/nodes/", { body: nodeOf("web") })
      const { id } = JSON.parse(made.text).data
      const { page } = yield* visit(`${ready.url}/_mock/`)
      yield* sees(page.getByRole("button", { name: "Next event" }).click())
      yield* sees(page.getByText(`provisioning-ends of ${id}.`).waitFor())
      yield* sees(page.getByRole("row", { name: "web" }).getByText("running", { exact: true }).waitFor())
      yield* sees(page.getByLabel("Advance by").fill("soon"))
      yield* sees(page.getByRole("button", { name: "Advance" }).click())
      yield* sees(page.getByRole("alert").waitFor())
    })
  )

  it.live("shows requests as they come and the faults that fired, and disarms", () =>
    Effect.gen(function* () {
      const { account, ready } = yield* serve(frozen)
      const { complaints, page } = yield* visit(`${ready.url}/_mock/`)
      yield* sees(page.getByText("live", { exact: true }).waitFor())
      yield* control(account, "PUT", "/worlds/default/faults", [{ fault: "status", status: 503 }])
      expect((yield* callAs(account, "GET", "/nodes/")).status).toBe(503)
      const entry = page.locator("#journal li").filter({ hasText: `${prefix}/nodes/` })
      yield* sees(entry.getByText("503", { exact: true }).waitFor())
      yield* sees(entry.getByText("status", { exact: true }).waitFor())
      yield* sees(page.getByText("fired at 1 of 1 request", { exact: false }).waitFor())
      yield* sees(entry.click())
      expect(yield* seriousFindings(page)).toEqual([])
      yield* sees(page.getByRole("button", { name: "Disarm all" }).click())
      yield* sees(page.getByText("None: everything answers as it should.").waitFor())
      expect((yield* callAs(account, "GET", "/nodes/")).status).toBe(200)
      yield* sees(entry.getByText("200", { exact: true }).waitFor())
      expect(complaints).toEqual([])
    })
  )

  it.live("shows each world by itself, a page of its nodes at a time, also on a phone", () =>
    Effect.gen(function* () {
      const { account, ready } = yield* serve([...frozen, "--scenario", "small"])
      yield* control(account, "POST", "/worlds", { scenario: "fleet:250", clock: "frozen" })
      const { page } = yield* visit(`${ready.url}/_mock/`, { width: 390, height: 844 })
      yield* sees(page.getByRole("row", { name: "database" }).waitFor())
      yield* sees(page.getByRole("link", { name: "w1" }).click())
      yield* sees(page.getByRole("row", { name: "fleet-100 " }).waitFor())
      expect(yield* Effect.promise(() => page.getByRole("row", { name: "database" }).count())).toBe(0)
      yield* sees(page.getByRole("button", { name: "Next", exact: true }).click())
      yield* sees(page.getByRole("row", { name: "fleet-101 " }).waitFor())
      yield* sees(page.getByText("101 to 200 of 250").waitFor())
      expect(yield* isWiderThanScreen(page)).toBe(false)
    })
  )
})
