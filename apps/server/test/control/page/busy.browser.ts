import { describe, expect, it } from "@effect/vitest"
import { sees, visit } from "@berthkit/testing/browser"
import { Effect } from "effect"
import { serve } from "../../cli/berthServer.ts"
import { callAs, prefix } from "../../http/service.ts"
import { accountOf, frozen, mustControl as control } from "./browser.ts"

const requestCount = 3000

describe("the page of a busy world", () => {
  it.live("shows the latest of thousands of requests and 10 000 nodes, and stays usable", () =>
    Effect.gen(function* () {
      const { account, ready } = yield* serve(frozen)
      const made = yield* control(account, "POST", "/worlds", { clock: "frozen", scenario: "fleet:10000" })
      const world = accountOf(account, made)
      const { complaints, page, requests } = yield* visit(`${ready.url}/_mock/#w1`)
      yield* sees(page.getByText("1 to 100 of 10,000").waitFor())
      const before = requests.length
      const startedAt = performance.now()
      const flood = Effect.forEach(Array.from({ length: requestCount }), () => callAs(world, "GET", "/nodes/1/"), {
        concurrency: 20,
        discard: true
      })
      const use = Effect.promise(async () => {
        for (let turns = 0; turns < 3; turns++) {
          await page.getByRole("button", { name: "Next", exact: true }).click()
          await page.getByText(`${turns + 1}01 to ${turns + 2}00 of 10,000`).waitFor()
        }
      })
      yield* Effect.all([flood, use], { concurrency: "unbounded" })
      yield* sees(page.getByText("latest 100 of 3,000").waitFor())
      const elapsedMillis = performance.now() - startedAt

      const journal = page.locator("#journal li")
      expect(yield* Effect.promise(() => journal.count())).toBe(100)
      expect(yield* Effect.promise(() => page.locator("#nodes tr").count())).toBe(100)
      yield* sees(journal.first().click())
      yield* sees(journal.first().getByText(`Request ${requestCount} · nodes.get`).waitFor())
      // The page reads at most every 200 ms because of events, and every 2 s in any case.
      const readings = requests.slice(before).filter((line) => line === "GET /_mock/worlds/w1/requests").length
      expect(readings).toBeLessThan(elapsedMillis / 200 + elapsedMillis / 2000 + 10)
      expect(complaints).toEqual([])
    })
  )

  it.live("shows names and bodies with odd characters harmlessly", () =>
    Effect.gen(function* () {
      const { account, ready } = yield* serve(frozen)
      const made = yield* control(account, "POST", "/worlds", { clock: "frozen" })
      const world = accountOf(account, made)
      const body = { name: "\u202Egnp.evil \u0000 <img src=x onerror=alert(1)> שלום", tags: ["x".repeat(500)] }
      yield* callAs(world, "POST", "/nodes/", { body })
      yield* callAs(world, "GET", `/nodes/${encodeURIComponent("<b>\u202E")}/?a=${"y".repeat(2000)}`)
      const { page } = yield* visit(`${ready.url}/_mock/#w1`, { width: 390, height: 844 })
      const entries = page.locator("#journal li")
      yield* sees(entries.nth(1).waitFor())
      yield* sees(entries.nth(1).click())
      yield* sees(
        entries.nth(1).locator("pre").getByText("\\u202egnp.evil \\u0000 <img src=x onerror=alert(1)>").waitFor()
      )
      const shown = yield* Effect.promise(() => page.locator("main").innerText())
      // oxlint-disable-next-line no-control-regex
      expect(shown).not.toMatch(/[\u0000\u202e]/)
      expect(yield* Effect.promise(() => page.locator("main img, main b").count())).toBe(0)
      expect(yield* Effect.promise(() => entries.first().innerText())).toContain(`${prefix}/nodes/%3Cb%3E%E2%80%AE/`)
      expect(
        yield* Effect.promise(() => page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth"))
      ).toBe(false)
    })
  )
})
