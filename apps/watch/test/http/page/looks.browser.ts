/** Tests what the dashboard shows about nodes and accounts apart from their states: every text in full, and the possible actions. */
import { sees, seriousFindings, visit } from "@berthkit/testing/browser"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import type { Locator } from "playwright-core"
import { aCost } from "../aCost.ts"
import { aNode } from "../../diff/aNode.ts"
import { served } from "../http.ts"
import { anAccount } from "../memoryDaemon.ts"
import { scene } from "../sceneDaemon.ts"
import { instant, isLive, rowOf } from "./reading.ts"

const minuteMillis = 60_000

describe("the dashboard", () => {
  it.live("has room for every age, and none for a node without a date", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      const ages = { fresh: 43, young: 47 * 60, old: 900 * 24 * 60 }
      Object.entries(ages).forEach(([name, minutes], index) =>
        daemon.put(
          aNode({ id: index + 1, name, createdAtMillis: Date.now() - minutes * minuteMillis, plan: "C-8VCPU-32RAM" }),
          instant()
        )
      )
      daemon.put(aNode({ id: 9, name: "undated", createdAt: null }), instant())
      const { page } = yield* visit(daemon.url, { width: 1280 })
      yield* isLive(page)
      for (const [name, age] of Object.entries({ fresh: "43 min", young: "47 h", old: "900 d", undated: "–" })) {
        const cell = rowOf(page, name).locator(".cell.age")
        yield* sees(cell.getByText(age, { exact: true }).waitFor())
        expect(yield* sees(cell.evaluate((element) => element.scrollWidth - element.clientWidth))).toBe(0)
      }
    })
  )

  it.live("sums prices by plan and by tag", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 8)
      const plan = "A-1VCPU-1RAM-15DISK"
      daemon.put(aNode({ id: 1, name: "one", plan, tags: ["prod", "web"] }), instant())
      daemon.put(aNode({ id: 2, name: "two", plan, tags: ["web"] }), instant())
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      yield* sees(page.getByText("Price by tag").click())
      const byTag = page.getByRole("list", { name: "Price by tag" }).getByRole("listitem")
      expect(yield* sees(byTag.allTextContents())).toEqual(["web 2 nodes ₹1,460", "prod 1 node ₹730"])
      yield* sees(page.getByText("Price by plan").click())
      const byPlan = page.getByRole("list", { name: "Price by plan" }).getByRole("listitem")
      yield* sees(byPlan.filter({ hasText: `${plan} 4 nodes ₹2,920` }).waitFor())
      expect(yield* seriousFindings(page)).toEqual([])
    })
  )

  it.live("states how many requests an account may make, and how many of them sweeps take", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      const lastSweep = { endedAt: yield* DateTime.now, durationMillis: 900, requests: 11 }
      daemon.state.accounts = [anAccount({ lastSweep, requestsPerHour: 720, sweepIntervalMillis: 60_000 })]
      const { page } = yield* visit(daemon.url)
      yield* sees(page.getByText("660 of 720 requests an hour for sweeps").waitFor())
    })
  )

  it.live("offers the commands about a node, to be copied", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      daemon.put(aNode({ id: 7, name: "web" }), instant())
      const { complaints, page } = yield* visit(daemon.url)
      yield* sees(page.context().grantPermissions(["clipboard-read", "clipboard-write"]))
      yield* sees(rowOf(page, "web").getByRole("button").click())
      yield* sees(page.getByText("Commands", { exact: true }).click())
      yield* sees(page.getByRole("button", { name: "Copy berth node delete 7" }).click())
      yield* sees(page.getByText("Copied.").waitFor())
      expect(yield* sees(page.evaluate<string>("navigator.clipboard.readText()"))).toBe("berth node delete 7")
      expect(yield* seriousFindings(page)).toEqual([])
      expect(complaints).toEqual([])
    })
  )

  it.live("offers the command of each action on sinks, events and silences", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 8)
      const { complaints, page } = yield* visit(daemon.url)
      yield* isLive(page)
      const commandsIn = (part: Locator) => sees(part.locator(".commands code").allTextContents())
      const sinks = page.getByRole("region", { name: "Sinks" })
      yield* sees(sinks.getByText("Commands", { exact: true }).click())
      yield* sees(sinks.getByRole("button", { name: "Copy berth-watch sinks retry chat" }).waitFor())
      expect(yield* commandsIn(sinks)).toEqual(
        ["test ops", "retry chat", "dead chat", "test chat", "test log"].map((rest) => `berth-watch sinks ${rest}`)
      )
      const event = page.locator("#events > li").first()
      yield* sees(event.locator("summary").first().click())
      yield* sees(event.getByText("Deliver this and all later events again").click())
      yield* sees(event.getByText("--sink ops").waitFor())
      const before = daemon.state.events.length - 1
      expect(yield* commandsIn(event)).toEqual(
        ["ops", "chat", "log"].map((sink) => `berth-watch replay --sink ${sink} --account default --after ${before}`)
      )
      yield* sees(page.getByRole("button", { name: "Silences" }).click())
      const dialog = page.getByRole("dialog", { name: "Silences" })
      yield* sees(dialog.getByLabel("Nodes").fill("web-* db-1"))
      yield* sees(dialog.getByLabel("Reason").fill("it's new disks"))
      yield* sees(dialog.getByText("Command", { exact: true }).click())
      yield* sees(dialog.getByText("berth-watch silence add").waitFor())
      expect(yield* commandsIn(dialog)).toEqual([
        "berth-watch silence add --nodes 'web-*' --nodes db-1 --for 7200s --reason 'it'\\''s new disks'"
      ])
      yield* sees(dialog.getByRole("button", { name: "Add silence" }).click())
      yield* sees(dialog.getByText("Added the silence.").waitFor())
      yield* sees(dialog.getByText("Commands", { exact: true }).click())
      yield* sees(dialog.getByText("berth-watch silence end").waitFor())
      expect(yield* commandsIn(dialog.locator(".rows"))).toEqual(["berth-watch silence end silence-0"])
      expect(yield* seriousFindings(page)).toEqual([])
      expect(complaints).toEqual([])
    })
  )

  it.live("shows a screen of nodes below two troubles and the spending, and folds healthy sinks", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 40)
      daemon.state.costs = [aCost({}, Date.parse("2026-11-20T06:30:00Z"), [[1, 40]])]
      const { page } = yield* visit(daemon.url, { width: 1280, height: 800 })
      yield* sees(page.getByText("Spent this month").waitFor())
      yield* sees(rowOf(page, "api-1").waitFor())
      const rowsInSight = `(() => {
        const { bottom, top } = document.getElementById("scroll").getBoundingClientRect()
        const end = Math.min(bottom, innerHeight)
        return [...document.querySelectorAll("#rows .row")].filter((row) => row.getBoundingClientRect().bottom <= end).length
      })()`
      expect(yield* sees(page.evaluate<number>(rowsInSight))).toBeGreaterThanOrEqual(8)
      // No arrow is left alone at the end of a line.
      const arrows = page.locator("#events .to")
      const linesOf = arrows.evaluateAll((all) => all.map((each) => each.getClientRects().length))
      expect(new Set(yield* sees(linesOf))).toEqual(new Set([1]))
      const sinks = page.getByRole("region", { name: "Sinks" })
      yield* sees(sinks.getByRole("list", { name: "Sinks" }).getByText("chat").waitFor())
      expect(yield* sees(page.getByRole("button", { name: "Test ops" }).count())).toBe(0)
      yield* sees(sinks.getByText("2 up: ops, log").click())
      yield* sees(page.getByRole("button", { name: "Test ops" }).click())
      yield* sees(page.getByText("A test event went to ops.").waitFor())
      expect(yield* seriousFindings(page)).toEqual([])
    })
  )

  it.live("brings the node that the keys are at into sight when its reader comes from the filter", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 300)
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      yield* sees(rowOf(page, "api-1").getByRole("button").focus())
      yield* sees(page.keyboard.press("End"))
      yield* sees(page.locator(":focus bdi").getByText("worker-38").waitFor())
      yield* sees(page.locator("#scroll").evaluate((element) => element.scrollTo(0, 0)))
      yield* sees(page.getByRole("searchbox").press("ArrowDown"))
      yield* sees(page.locator(":focus bdi").getByText("worker-38").waitFor())
      const isInSight = `(() => {
        const { bottom, left, top } = document.activeElement.getBoundingClientRect()
        return document.elementFromPoint(left + 5, (top + bottom) / 2)?.closest(".row")?.contains(document.activeElement) === true
      })()`
      expect(yield* sees(page.evaluate<boolean>(isInSight))).toBe(true)
    })
  )
})
