/** The dashboard for several processes that share a store. */
import { isWiderThanScreen, sees, seriousFindings, visit } from "@berthkit/testing/browser"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { served } from "../http.ts"
import { anAccount } from "../memoryDaemon.ts"
import { scene } from "../sceneDaemon.ts"
import { isLive } from "./reading.ts"

const [here, other, gone] = ["watch-1:4242:mwtz1p57", "watch-2:4113:mwtz1oxg", "watch-3:4801:mwtz1q02"] as const

describe("the dashboard of one of several processes", () => {
  it.live("shows who watches each account, the latest take-overs first, and a process that is not heard of", () =>
    Effect.gen(function* () {
      const { state, url } = yield* served()
      const now = yield* DateTime.now
      const ago = (seconds: number) => DateTime.subtract(now, { seconds })
      state.accounts = Array.from({ length: 130 }, (_, index) =>
        anAccount({
          account: `site-${index}`,
          lastSweep: { endedAt: ago(20), durationMillis: null, requests: null },
          sweepIntervalMillis: 60_000,
          owner: { process: index === 7 ? here : gone, since: ago(9000 + index), from: null, isHere: index === 7 }
        })
      )
      const taken = { process: other, since: ago(3), from: gone, isHere: false }
      state.accounts[99] = { ...state.accounts[99]!, owner: taken }
      state.processes = [
        { process: here, accounts: 1, isHeard: true, isHere: true },
        { process: other, accounts: 1, isHeard: true, isHere: false },
        { process: gone, accounts: 128, isHeard: false, isHere: false }
      ]
      const { complaints, page } = yield* visit(url)
      yield* isLive(page)
      expect(yield* sees(page.locator("#processes li").allTextContents())).toEqual([
        `${here} 1 account this page`,
        `${other} 1 account`,
        `${gone} 128 accounts not heard of`
      ])
      yield* sees(page.getByText("Who watches which account", { exact: true }).click())
      const rows = page.locator("#owners tr")
      yield* sees(rows.first().waitFor())
      expect(yield* sees(rows.count())).toBe(100)
      expect(yield* sees(rows.first().locator("th, td").allTextContents())).toEqual([
        "site-99",
        other,
        expect.stringMatching(/\d\d:\d\d:\d\d$/),
        gone,
        expect.stringMatching(/^at most \d+ s ago$/)
      ])
      yield* sees(page.getByText("and 30 accounts taken over before").waitFor())
      yield* sees(page.locator("#account").selectOption("site-7"))
      expect(yield* sees(rows.locator(".of-sweep").allTextContents())).toEqual([expect.stringMatching(/^\d+ s ago$/)])
      yield* sees(page.locator("#account").selectOption(""))
      expect(yield* seriousFindings(page)).toEqual([])
      yield* sees(page.setViewportSize({ width: 390, height: 844 }))
      expect(yield* isWiderThanScreen(page)).toBe(false)
      expect(complaints).toEqual([])
    })
  )

  it.live("shows nothing of it if one process has the store", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 8)
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      expect(yield* sees(page.getByRole("region", { name: "Processes" }).count())).toBe(0)
    })
  )
})
