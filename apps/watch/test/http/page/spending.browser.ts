import { isWiderThanScreen, sees, seriousFindings, visit } from "@berthkit/testing/browser"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { aCost } from "../aCost.ts"
import { served } from "../http.ts"
import { scene } from "../sceneDaemon.ts"

/** Noon of the 20th in India. */
const nowMillis = Date.parse("2026-11-20T06:30:00Z")

const rising: ReadonlyArray<readonly [number, number]> = [
  [1, 40],
  [6, 90],
  [11, 60],
  [18, 130]
]

describe("what was spent, on the dashboard", () => {
  it.live("is shown by day with what the month comes to, in both themes and on a phone", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 8)
      daemon.state.costs = [aCost({ budget: { monthInr: 50_000, warnPercent: [80] } }, nowMillis, rising)]
      const { complaints, outside, page } = yield* visit(daemon.url)
      yield* sees(page.getByText("Spent this month").waitFor())
      // 5 days at ₹40 an hour, 5 at ₹90, 7 at ₹60 and 2.5 at ₹130; then 8.5 days at ₹130 until the end of the month.
      expect(yield* sees(page.locator("#spent").textContent())).toBe("₹33,480")
      expect(yield* sees(page.locator("#expected").textContent())).toBe("₹66,240")
      yield* sees(page.getByText("budget ₹50,000", { exact: true }).waitFor())
      const days = page.getByRole("list", { name: "Spent by day" }).getByRole("listitem")
      expect(yield* sees(days.allTextContents())).toHaveLength(30)
      expect(yield* sees(days.nth(5).textContent())).toBe("6 Nov: ₹2,160")
      expect(yield* sees(days.nth(29).textContent())).toBe("30 Nov: ₹3,120 expected")
      for (const theme of ["light", "dark"]) {
        yield* sees(page.locator("#theme").selectOption(theme))
        expect(yield* seriousFindings(page)).toEqual([])
      }
      yield* sees(page.setViewportSize({ width: 360, height: 740 }))
      expect(yield* isWiderThanScreen(page)).toBe(false)
      expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
    })
  )

  it.live("says what is unknown, sums accounts, and follows the chosen account", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 8)
      daemon.state.accounts = [daemon.state.accounts[0]!, { ...daemon.state.accounts[0]!, account: "other" }]
      const first = aCost({}, nowMillis, [[1, 1]])
      const open = { maxInr: null, errorInr: null, unobservedMillis: 3 * 86_400_000 }
      const other = aCost({ account: "other" }, nowMillis, [[1, 2]])
      daemon.state.costs = [first, { ...other, spent: { ...other.spent, ...open } }]
      const { page } = yield* visit(daemon.url)
      yield* sees(page.getByText("Spent this month").waitFor())
      expect(yield* sees(page.locator("#spent").textContent())).toBe("≥ ₹1,404")
      yield* sees(page.getByText("some prices are not known · 3 d not watched", { exact: true }).waitFor())
      yield* sees(page.locator("#account").selectOption("default"))
      expect(yield* sees(page.locator("#spent").textContent())).toBe("₹468")
    })
  )

  it.live("is not there before the daemon knows the nodes", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 1)
      const { page } = yield* visit(daemon.url)
      yield* sees(page.getByText("live", { exact: true }).waitFor())
      expect(yield* sees(page.locator("#spending").isVisible())).toBe(false)
    })
  )
})
