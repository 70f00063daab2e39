/** Tests one node on the dashboard: its address, its past, and that an event about another node does not move it. */
import { sees, visit } from "@berthkit/testing/browser"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { Page } from "playwright-core"
import { aNode } from "../../diff/aNode.ts"
import { served } from "../http.ts"
import { scene } from "../sceneDaemon.ts"
import { instant, isLive, rowOf } from "./reading.ts"

const dialog = (page: Page, name: string) => page.getByRole("dialog", { name })

describe("the details of a node", () => {
  it.live("are at an address: going back closes them, going forward and reading anew open them", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 8)
      const { page } = yield* visit(daemon.url)
      yield* sees(rowOf(page, "web-1").getByRole("button").click())
      yield* sees(dialog(page, "web-1").waitFor())
      expect(page.url()).toBe(`${daemon.url}/#node/default/97898`)
      yield* sees(page.goBack())
      yield* sees(dialog(page, "web-1").waitFor({ state: "hidden" }))
      yield* sees(page.goForward())
      yield* sees(dialog(page, "web-1").waitFor())
      // The browser may report the earlier close of the dialog only now.
      yield* sees(page.evaluate(`document.getElementById("details").dispatchEvent(new Event("close"))`))
      expect(page.url()).toBe(`${daemon.url}/#node/default/97898`)
      yield* sees(page.reload())
      yield* sees(dialog(page, "web-1").getByText("203.0.113.1").waitFor())
      yield* sees(page.keyboard.press("Escape"))
      yield* sees(dialog(page, "web-1").waitFor({ state: "hidden" }))
      yield* sees(page.waitForURL(`${daemon.url}/`))
      yield* sees(page.goto(`${daemon.url}/#node/default/12`))
      yield* sees(page.getByText("The daemon does not know this node.").waitFor())
    })
  )

  it.live("say who requested the deletion of the node, or that this is unknown", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
      for (const [id, name] of [
        [7, "asked"],
        [8, "lost"]
      ] as const)
        daemon.put(aNode({ id, name }), ago(20))
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      yield* sees(rowOf(page, "asked").getByRole("button").click())
      const at = ago(1)
      const who = { at, command: "destroy", fleet: "shop", lease: null, user: "ann", host: "ci-7", job: null }
      daemon.remove(7, instant(), { cause: "requested", causedBy: who })
      const asked = dialog(page, "asked")
      yield* sees(asked.getByText("This node was deleted by ann on ci-7 for the fleet shop.").waitFor())
      yield* sees(asked.getByText("asked was deleted by ann on ci-7 for the fleet shop").click())
      yield* sees(asked.getByText(/^Asked for at .* with berth destroy\.$/).waitFor())
      yield* sees(page.keyboard.press("Escape"))
      yield* sees(rowOf(page, "lost").getByRole("button").click())
      daemon.remove(8, instant(), { cause: "unknown", causedBy: null })
      const lost = dialog(page, "lost")
      yield* sees(lost.getByText("This node was deleted, and nobody is known to have asked for it.").waitFor())
    })
  )

  it.live("can be chosen by the cause of a deletion, also by a link", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      for (const [id, name] of [
        [7, "asked"],
        [8, "lost"]
      ] as const)
        daemon.put(aNode({ id, name }), instant())
      const who = { at: instant(), command: "destroy", fleet: null, lease: null, user: "ann", host: "ci-7", job: null }
      daemon.remove(7, instant(), { cause: "requested", causedBy: who })
      daemon.remove(8, instant(), { cause: "unknown", causedBy: null })
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      const events = page.locator("#events > li")
      yield* sees(events.filter({ hasText: "lost was deleted" }).waitFor())
      yield* sees(page.getByLabel("Which events").selectOption("Unexpected deletions"))
      yield* sees(page.waitForURL(`${daemon.url}/?cause=unknown`))
      expect(yield* sees(events.count())).toBe(1)
      yield* sees(page.reload())
      yield* sees(events.filter({ hasText: "lost was deleted" }).waitFor())
      expect(yield* sees(events.count())).toBe(1)
      yield* sees(page.getByLabel("Which events").selectOption("All events"))
      yield* sees(page.waitForURL(`${daemon.url}/`))
      yield* sees(events.filter({ hasText: "asked was deleted" }).waitFor())
    })
  )

  it.live("have the events of the node that are older than those of the page, and its history from them", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
      const web = aNode({ id: 7, name: "web", status: "power-off" })
      daemon.put(web, ago(20))
      daemon.put({ ...web, status: "running" }, ago(10))
      for (let index = 0; index < 1100; index++) daemon.put(aNode({ id: 8, name: `busy-${index}` }), ago(1))
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      yield* sees(rowOf(page, "web").getByRole("button").click())
      const details = dialog(page, "web")
      yield* sees(details.getByText("power-off → running").waitFor())
      yield* sees(details.getByText("web was created").waitFor())
      yield* sees(details.getByRole("img", { name: "now running, changes of status: 2" }).waitFor())
      daemon.remove(7, instant())
      yield* sees(details.getByText("This node was deleted.").waitFor())
      yield* sees(details.getByText("web was deleted").waitFor())
    })
  )

  it.live("keep unfolded, focused and selected parts while other nodes change", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 8)
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      yield* sees(rowOf(page, "queue-1").getByRole("button").click())
      const details = dialog(page, "queue-1")
      const summary = details.locator("summary").first()
      yield* sees(summary.click())
      yield* sees(details.getByText("C-8VCPU-32RAM-200DISK").selectText())
      daemon.put(aNode({ id: 9, name: "another" }), instant())
      yield* sees(page.locator("#total").getByText("10").waitFor())
      expect(yield* sees(page.evaluate<string>("String(getSelection())"))).toBe("C-8VCPU-32RAM-200DISK")
      expect(yield* sees(details.locator("details[open]").count())).toBe(1)
      expect(yield* sees(summary.evaluate((element) => element === element.ownerDocument.activeElement))).toBe(true)
    })
  )

  it.live("keep the button that closes them as wide as its text beside a name of any length", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      const short = aNode({ id: 7, name: "web" })
      const long = aNode({ id: 8, name: "w".repeat(255) })
      daemon.put(short, instant())
      daemon.put(long, instant())
      const { page } = yield* visit(daemon.url)
      yield* sees(page.setViewportSize({ width: 390, height: 844 }))
      const close = page.locator("#details-close")
      const sizeBeside = Effect.fnUntraced(function* (name: string) {
        yield* sees(rowOf(page, name).getByRole("button").click())
        yield* sees(dialog(page, name).waitFor())
        const { height, width } = (yield* sees(close.boundingBox()))!
        yield* sees(close.click())
        return { height, width }
      })
      expect(yield* sizeBeside(long.name)).toEqual(yield* sizeBeside(short.name))
    })
  )

  it.live("are not shown to a reader whose token is no longer the daemon's, and are again after the login", () =>
    Effect.gen(function* () {
      const daemon = yield* served(Redacted.make("correct-horse-battery"))
      yield* scene(daemon, 8)
      const { page } = yield* visit(daemon.url)
      const logIn = Effect.gen(function* () {
        yield* sees(page.getByLabel("Token").fill("correct-horse-battery"))
        yield* sees(page.keyboard.press("Enter"))
      })
      yield* logIn
      yield* isLive(page)
      yield* sees(rowOf(page, "web-1").getByRole("button").click())
      yield* sees(dialog(page, "web-1").waitFor())
      yield* sees(page.context().clearCookies())
      yield* sees(page.getByLabel("Token").waitFor())
      yield* sees(dialog(page, "web-1").waitFor({ state: "hidden" }))
      expect(yield* sees(page.title())).toBe("Log in · Berth watch")
      yield* logIn
      yield* sees(dialog(page, "web-1").waitFor())
    })
  )
})
