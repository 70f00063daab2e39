/** The dashboard with troubles, and with several accounts. */
import { sees, seriousFindings, visit } from "@berthkit/testing/browser"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import type { Page } from "playwright-core"
import { aNode } from "../../diff/aNode.ts"
import { served } from "../http.ts"
import { anAccount, aSink, aTrouble } from "../memoryDaemon.ts"
import { scene } from "../sceneDaemon.ts"
import { instant, isLive, rowOf } from "./reading.ts"

const since = DateTime.makeUnsafe("2026-03-01T03:00:00Z")

/** The state of the daemon in one line. */
const summary = (page: Page) =>
  Effect.map(sees(page.locator("#summary > *").allTextContents()), (parts) => parts.join(" "))

describe("the dashboard in trouble", () => {
  it.live(
    "shows what is wrong above all else: accounts of one trouble in one line, sinks, allowances; by its title, too",
    () =>
      Effect.gen(function* () {
        const daemon = yield* served()
        const sites = Array.from({ length: 30 }, (_, index) => `site-${index}`)
        daemon.state.accounts = [
          ...sites.map((account) => anAccount({ account, state: "degraded" })),
          anAccount({ account: "lab", allowance: { limit: 1200, remaining: 100, resetAt: null } })
        ]
        daemon.state.sinks = [aSink(), aSink({ sink: "pager", state: "disabled", failingSince: since })]
        daemon.state.troubles = [
          aTrouble({
            name: "sink-disabled",
            about: { kind: "sink", name: "pager" },
            severity: "critical",
            message: "The sink is disabled and gets no events. 410 from pager.example.com.",
            next: "Repair the receiver, then run berth-watch sinks enable pager.",
            since
          }),
          ...sites.map((name) =>
            aTrouble({ about: { kind: "account", name }, message: "The list cannot be read.", next: "Wait.", since })
          ),
          aTrouble({
            name: "allowance-low",
            about: { kind: "account", name: "lab" },
            message: "The allowance is low.",
            next: "Lower share."
          })
        ]
        const { complaints, page } = yield* visit(daemon.url)
        yield* isLive(page)
        yield* sees(page.getByText("The nodes are not known yet: the reason is above.").waitFor())
        expect(yield* summary(page)).toBe("32 problems 1 critical")
        expect(yield* sees(page.locator(".trouble").allInnerTexts())).toEqual([
          expect.stringMatching(
            /^critical:\s+Sink pager The sink is disabled and gets no events\. 410 from pager\.example\.com\.\s+Repair the receiver, then run:\s+berth-watch sinks enable pager\s+Copy\s+since .* · \d+ d$/
          ),
          expect.stringMatching(/^site-0, .* and 22 more The list cannot be read\.\s+Wait\.\s+since /),
          expect.stringMatching(/^lab The allowance is low\.\s+Lower share\.\s+since /)
        ])
        yield* sees(page.getByRole("button", { name: "Copy berth-watch sinks enable pager" }).waitFor())
        yield* sees(page.getByRole("button", { name: "Sink pager" }).click())
        expect(yield* sees(page.locator(":focus").getAttribute("aria-label"))).toBe("Enable pager")
        expect(yield* sees(page.title())).toBe("⚠ 32 problems · Berth watch")
        expect(yield* sees(page.locator("#total").textContent())).toBe("–")
        expect(yield* seriousFindings(page)).toEqual([])
        expect(complaints).toEqual([])
      })
  )

  it.live("is well where nothing is wrong, and offers what there is to do about a sink that the config lacks", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      daemon.state.sinks = [aSink({ sink: "old", state: "removed", deadLetters: 3 })]
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      expect(yield* summary(page)).toBe("Starting. The first sweep is under way.")
      expect(yield* sees(page.title())).toBe("Berth watch")
      const offered = page.locator("#sinks > li").filter({ hasText: "old" }).getByRole("button")
      expect(yield* sees(offered.allTextContents())).toEqual(["Dead letters", "Remove"])
      yield* sees(page.getByRole("button", { name: "Remove old" }).click())
      yield* sees(page.getByText("old is forgotten.").waitFor())
      expect(daemon.state.asked).toEqual(["remove old"])
      expect(yield* seriousFindings(page)).toEqual([])
    })
  )

  it.live("names the account of nodes of one name, and shows the events of the account that is chosen", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      daemon.state.accounts = [anAccount({ account: "production" }), anAccount({ account: "staging" })]
      daemon.put(aNode({ id: 7, name: "web" }), instant(), "production")
      daemon.put(aNode({ id: 8, name: "web" }), instant(), "staging")
      daemon.append({ type: "berth.sink.disabled", source: "/accounts/_daemon", data: { sink: "ops", message: "410" } })
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      yield* sees(page.getByRole("row", { name: /^web 7 production / }).waitFor())
      yield* sees(page.getByRole("row", { name: /^web 8 staging / }).waitFor())
      yield* sees(page.getByText("web was created staging").waitFor())
      expect(yield* sees(page.locator("#events > li").count())).toBe(3)
      yield* sees(page.locator("#account").selectOption("staging"))
      yield* sees(page.locator("#events > li").nth(2).waitFor({ state: "detached" }))
      const texts = (yield* sees(page.locator("#events > li .what").allTextContents())).join(" ")
      expect(texts).toContain("Sink ops is disabled")
      expect(texts.match(/was created/g)).toHaveLength(1)
      expect(yield* sees(page.locator("#rows .row").count())).toBe(1)
      expect(yield* seriousFindings(page)).toEqual([])
    })
  )

  it.live("shows unreadable nodes as old, with the time of their data, until they are read again", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 8)
      const [account] = daemon.state.accounts
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      expect(yield* sees(page.locator(".row.stale").count())).toBe(0)
      daemon.state.accounts = [
        { ...account!, state: "degraded", lastSweep: { ...account!.lastSweep!, endedAt: since }, nextSweepAt: since },
        anAccount({ account: "lab", state: "degraded" })
      ]
      daemon.state.troubles = [aTrouble({ name: "account-refused", severity: "critical", since })]
      daemon.append({ type: "berth.watch.trouble", data: daemon.state.troubles[0]! })
      yield* sees(rowOf(page, "web-1").getByText("as of 1 Mar").waitFor())
      expect(yield* sees(page.locator(".row:not(.stale)").count())).toBe(0)
      expect(yield* sees(page.locator("#as-of").textContent())).toBe("All of it as of 1 Mar")
      yield* sees(page.locator("#account").selectOption("default"))
      yield* sees(
        page
          .getByRole("region", { name: /^Accounts?$/ })
          .getByText("being tried")
          .waitFor()
      )
      yield* sees(page.locator("#account").selectOption(""))
      expect(yield* seriousFindings(page)).toEqual([])
      yield* sees(rowOf(page, "web-1").getByRole("button").click())
      yield* sees(page.getByText("This is as of 1 Mar: nothing newer is known.").waitFor())
      yield* sees(page.keyboard.press("Escape"))
      daemon.state.accounts = [account!]
      daemon.state.troubles = []
      daemon.append({ type: "berth.watch.recovered" })
      yield* sees(rowOf(page, "web-1").getByText("as of").waitFor({ state: "detached" }))
      expect(yield* sees(page.locator(".stale").count())).toBe(0)
    })
  )

  it.live("says if all is well, and what to do first if there is nothing yet", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      daemon.state.accounts = [
        anAccount({ lastSweep: { endedAt: yield* DateTime.now, durationMillis: 9, requests: 1 } })
      ]
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      expect(yield* summary(page)).toBe("All well. The account is read on time, but no sink is configured.")
      yield* sees(
        page.getByText("Create one, for example with berth node create: it appears here by itself.").waitFor()
      )
      yield* sees(page.getByText("Name a webhook or a command under sinks in the config, then send SIGHUP.").waitFor())
      yield* sees(page.getByText("No events yet. Changes to the nodes appear here as they happen.").waitFor())
      expect(yield* sees(page.getByRole("searchbox").count())).toBe(0)
      expect(yield* seriousFindings(page)).toEqual([])
      daemon.state.sinks = [aSink(), aSink({ sink: "log", kind: "stdout" })]
      daemon.put(aNode({ id: 7, name: "web" }), instant())
      yield* sees(rowOf(page, "web").waitFor())
      yield* sees(page.getByText("The account is read on time, and both sinks take their events.").waitFor())
      yield* sees(page.getByRole("searchbox").fill("another"))
      yield* sees(page.getByRole("button", { name: "Show all nodes" }).click())
      yield* sees(rowOf(page, "web").waitFor())
      expect(yield* sees(page.locator(":focus").getAttribute("id"))).toBe("filter")
      daemon.state.accounts = []
      daemon.remove(7, instant())
      yield* sees(page.getByText("Add one under accounts in the config, then send SIGHUP.").waitFor())
    })
  )

  it.live("shows nodes without a name, and can open them", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      daemon.put(aNode({ id: 7, name: " " }), instant())
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      yield* sees(page.getByRole("button", { name: "(no name)", exact: true }).click())
      yield* sees(page.getByRole("dialog", { name: "(no name)" }).waitFor())
      expect(yield* seriousFindings(page)).toEqual([])
    })
  )
})
