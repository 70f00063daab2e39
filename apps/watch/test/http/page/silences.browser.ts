/** Silences on the dashboard: the held events next to the sinks, a new silence, the end of a silence, and what the daemon refuses. */
import { sees, seriousFindings, visit } from "@berthkit/testing/browser"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { served } from "../http.ts"
import { anAccount, aSilence, aSink } from "../memoryDaemon.ts"
import { isLive } from "./reading.ts"

const inAnHour = Effect.map(DateTime.now, DateTime.add({ hours: 1 }))

describe("silences on the dashboard", () => {
  it.live("show what they hold, and end as their reader decides", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      daemon.state.sinks = [aSink({ silenced: 12 })]
      const until = yield* inAnHour
      daemon.state.silences = [
        aSilence({ id: "over", state: "over", reason: "a reboot", dropped: 2 }),
        aSilence({ id: "held", until, held: 12, reason: "<b>new</b> disks" }),
        aSilence({ id: "later", state: "planned", nodes: [], accounts: ["acme"], sinks: ["ops"], then: "drop" })
      ]
      const { complaints, page } = yield* visit(daemon.url)
      yield* isLive(page)
      yield* sees(page.getByText("1 silence active, 12 events held").waitFor())
      yield* sees(page.getByText("12 held by silences").waitFor())
      yield* sees(page.getByRole("button", { name: "Silences" }).click())
      const rows = page.getByRole("list", { name: "Silences" }).getByRole("listitem")
      yield* sees(rows.nth(2).waitFor())
      expect(yield* sees(rows.allInnerTexts())).toEqual([
        expect.stringMatching(
          /^Everything of acme, for ops planned\s+new disks\s+from .* until .* · 0 held · dropped at the end\s+Cancel\s+Commands$/
        ),
        expect.stringMatching(
          /^web-\* active\s+<b>new<\/b> disks\s+until .*, (1 h|59 min) left · 12 held · delivered at the end\s+End, deliver\s+End, drop\s+Commands$/
        ),
        expect.stringMatching(/^web-\* over\s+a reboot\s+ended .* · 2 dropped$/)
      ])
      expect(yield* seriousFindings(page)).toEqual([])
      yield* sees(page.getByRole("button", { name: "End, drop: web-*" }).click())
      yield* sees(page.getByText("Ended the silence.").waitFor())
      expect(daemon.state.silences[1]).toMatchObject({ state: "over", then: "drop" })
      yield* sees(page.getByText("1 silence active").waitFor({ state: "detached" }))
      yield* sees(page.keyboard.press("Escape"))
      yield* sees(page.getByRole("dialog").waitFor({ state: "hidden" }))
      expect(complaints).toEqual([])
    })
  )

  it.live("are added with a reason; what the daemon refuses is said, and nothing that was written is lost", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      daemon.state.accounts = [anAccount({ account: "acme" })]
      daemon.state.sinks = [aSink()]
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      yield* sees(page.getByRole("button", { name: "Silences" }).click())
      yield* sees(page.getByText(/^No silence\. During one, sinks get no events/).waitFor())
      yield* sees(page.getByRole("textbox", { name: "Nodes" }).fill("web-* db-1"))
      yield* sees(page.getByLabel(/Begins \(UTC/).fill("2001-01-01T10:00"))
      yield* sees(page.getByLabel("Lasts").selectOption("8 hours"))
      yield* sees(page.getByLabel("At its end").selectOption("drop"))
      yield* sees(page.getByRole("button", { name: "Add silence" }).click())
      expect(daemon.state.silences).toEqual([])
      yield* sees(page.getByLabel("Reason").fill("new disks"))
      yield* sees(page.keyboard.press("Enter"))
      yield* sees(page.getByText(/^A silence cannot begin in the past/).waitFor())
      expect(yield* sees(page.getByLabel("Reason").inputValue())).toBe("new disks")
      yield* sees(page.getByLabel("Begins").fill(""))
      yield* sees(page.getByRole("button", { name: "Add silence" }).click())
      yield* sees(page.getByText("Added the silence.").waitFor())
      const [silence] = daemon.state.silences
      expect(silence).toMatchObject({
        nodes: ["web-*", "db-1"],
        accounts: [],
        sinks: [],
        reason: "new disks",
        then: "drop"
      })
      expect(DateTime.toEpochMillis(silence!.until) - DateTime.toEpochMillis(silence!.from)).toBeLessThanOrEqual(
        8 * 3_600_000
      )
      expect(yield* sees(page.getByLabel("Reason").inputValue())).toBe("")
      yield* sees(page.getByText("new disks").waitFor())
      expect(yield* seriousFindings(page)).toEqual([])
    })
  )

  it.live("stay closed although a reading of them was on its way", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      daemon.state.sinks = [aSink()]
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      yield* sees(page.getByRole("button", { name: "Silences" }).click())
      yield* sees(page.getByRole("dialog").waitFor())
      const { promise: isClosed, resolve: close } = Promise.withResolvers<void>()
      yield* sees(page.route("**/api/silences", (route) => isClosed.then(() => route.continue())))
      const read = page.waitForRequest("**/api/silences")
      daemon.append({ type: "berth.watch.recovered" })
      const request = yield* sees(read)
      yield* sees(page.keyboard.press("Escape"))
      yield* sees(page.getByRole("dialog").waitFor({ state: "hidden" }))
      close()
      yield* sees(request.response())
      // Wait for the page's next request: the page has processed the reply before it.
      daemon.append({ type: "berth.watch.recovered" })
      yield* sees(page.waitForResponse("**/api/status"))
      expect(yield* sees(page.getByRole("dialog").count())).toBe(0)
    })
  )
})
