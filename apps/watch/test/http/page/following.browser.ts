/**
 * The dashboard while things happen: no event is lost between reading and following, and changes do not interrupt what its reader is doing.
 */
import { exactPrice } from "@berthkit/core/domain/Price"
import { sees, visit } from "@berthkit/testing/browser"
import { HttpService } from "@berthkit/testing/HttpService"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { request as httpRequest } from "node:http"
import { aNode } from "../../diff/aNode.ts"
import { served } from "../http.ts"
import { aSink, aTrouble } from "../memoryDaemon.ts"
import { scene } from "../sceneDaemon.ts"
import { instant, isLive, rowOf } from "./reading.ts"

describe("the dashboard while things happen", () => {
  it.live("shows what happened to a node after the nodes were read, and before the events were", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      const web = aNode({ id: 7, name: "web" })
      daemon.put(web, instant())
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      yield* sees(
        page.route("**/api/events?*", (route) => {
          daemon.put({ ...web, status: "power-off" }, instant())
          return route.continue()
        })
      )
      yield* sees(page.reload())
      yield* isLive(page)
      yield* sees(rowOf(page, "web").getByText("power-off", { exact: true }).waitFor())
      expect(yield* sees(page.locator("#events > li").count())).toBe(2)
    })
  )

  it.live("says that it is reading the events until it has them, and claims no number before", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      daemon.put(aNode({ id: 7, name: "web" }), instant())
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      const { promise: isOpen, resolve: open } = Promise.withResolvers<void>()
      yield* sees(page.route("**/api/events?*", (route) => isOpen.then(() => route.continue())))
      yield* sees(page.reload())
      yield* sees(rowOf(page, "web").waitFor())
      expect(yield* sees(page.locator("#events").textContent())).toBe("reading")
      yield* sees(page.getByText("– created, – deleted in the last 24 h").waitFor())
      open()
      yield* sees(page.getByText("1 created, 0 deleted in the last 24 h").waitFor())
      expect(yield* sees(page.locator("#events > li").count())).toBe(1)
    })
  )

  it.live.each(["/tools/watch", "/tools/watch/"])("works below the path of a proxy, at %s", (path) =>
    Effect.gen(function* () {
      const daemon = yield* served()
      daemon.state.sinks = [aSink({ sink: "chat" })]
      const web = aNode({ id: 7, name: "web" })
      daemon.put(web, instant())
      const elsewhere: Array<string> = []
      const proxy = yield* HttpService.start((request, response) => {
        const { headers, method, url = "" } = request
        if (!url.startsWith("/tools/watch")) {
          elsewhere.push(url)
          return void response.writeHead(404).end()
        }
        const to = `${daemon.url}${url.slice("/tools/watch".length).replace(/^(?!\/)/, "/")}`
        request.pipe(
          httpRequest(to, { method, headers }, (reply) => {
            response.writeHead(reply.statusCode!, reply.headers)
            reply.pipe(response)
          }).on("error", () => response.destroy())
        )
      })
      const { page } = yield* visit(`${proxy.url}${path}`)
      yield* isLive(page)
      daemon.put({ ...web, status: "power-off" }, instant())
      yield* sees(rowOf(page, "web").getByText("power-off", { exact: true }).waitFor())
      yield* sees(page.getByText("1 up: chat").click())
      yield* sees(page.getByRole("button", { name: "Test chat" }).click())
      yield* sees(page.getByText("A test event went to chat.").waitFor())
      yield* sees(rowOf(page, "web").getByRole("button").click())
      expect(page.url()).toBe(`${proxy.url}${path}#node/default/7`)
      expect(elsewhere.filter((url) => url !== "/favicon.ico")).toEqual([])
    })
  )

  it.live("does what a button is for although its row changes while it is pressed, and keeps the focus there", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 8)
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      const pressed = Effect.fnUntraced(function* (name: string | RegExp, change: () => void, sign: string) {
        const button = page.getByRole("button", { name })
        yield* sees(button.scrollIntoViewIfNeeded())
        const { height, width, x, y } = (yield* sees(button.boundingBox()))!
        yield* sees(page.mouse.move(x + width / 2, y + height / 2))
        yield* sees(page.mouse.down())
        change()
        yield* sees(page.getByText(sign).first().waitFor())
        yield* sees(page.mouse.up())
        return yield* sees(button.evaluate((element) => element === element.ownerDocument.activeElement))
      })
      const lag = () => {
        daemon.state.sinks = daemon.state.sinks.map((sink) => ({ ...sink, lag: 4321 }))
        daemon.append({ type: "berth.watch.recovered" })
      }
      expect(yield* pressed("Test chat", lag, "4,321")).toBe(true)
      yield* sees(page.getByText("A test event went to chat.").waitFor())
      expect(daemon.state.asked).toEqual(["test chat"])
      const create = () => void daemon.put(aNode({ id: 4, name: "another" }), instant())
      expect(yield* pressed(/^running/, create, "another was created")).toBe(true)
      yield* sees(page.getByText("8 of 10").waitFor())
    })
  )

  it.live("lets go of a status that the last node has left", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      const web = aNode({ id: 7, name: "web", status: "created" })
      daemon.put(web, instant())
      const { page } = yield* visit(daemon.url)
      yield* sees(page.getByRole("button", { name: "created 1" }).click())
      yield* isLive(page)
      daemon.put({ ...web, status: "running" }, instant())
      yield* sees(page.getByText("No node matches.").waitFor())
      yield* sees(page.getByRole("button", { name: "created 0" }).click())
      yield* sees(rowOf(page, "web").waitFor())
    })
  )

  it.live("follows nothing while it is hidden, and then continues at its position", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 8)
      const { page, requests } = yield* visit(daemon.url)
      yield* isLive(page)
      const setHidden = (isHidden: boolean) =>
        sees(
          page.evaluate(`Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} })
            document.dispatchEvent(new Event("visibilitychange"))`)
        )
      const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("/events?after"))
      yield* setHidden(true)
      yield* sees(ended)
      daemon.put(aNode({ id: 7, name: "meanwhile" }), instant())
      yield* setHidden(false)
      yield* sees(rowOf(page, "meanwhile").waitFor())
      expect(requests.filter((request) => request === "GET /events")).toHaveLength(2)
      expect(requests.filter((request) => request === "GET /api/nodes")).toHaveLength(1)
    })
  )

  it.live("keeps the timeline still while the reader reads further down, and counts new events", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      const web = aNode({ id: 7, name: "web" })
      for (let index = 0; index < 500; index++) daemon.put({ ...web, name: `web-${index}` }, instant())
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      const names = () => sees(page.locator("#events > li strong").allTextContents())
      yield* sees(page.locator("#events > li").nth(49).waitFor())
      yield* sees(page.locator("#events").evaluate((list) => list.scrollTo(0, 300)))
      daemon.put({ ...web, name: "late" }, instant())
      yield* sees(page.getByRole("button", { name: "1 new event" }).waitFor())
      expect((yield* names())[0]).toBe("web-499")
      for (let shown = 50; shown < 500; shown += 50) {
        yield* sees(page.locator("#events").evaluate((list) => list.scrollTo(0, list.scrollHeight)))
        yield* sees(page.locator("#events > li").nth(shown).waitFor())
      }
      expect((yield* names()).at(-1)).toBe("web-0")
      yield* sees(page.getByRole("button", { name: "1 new event" }).click())
      yield* sees(page.locator("#events > li").first().getByText("late").waitFor())
      expect(yield* names()).toHaveLength(50)
    })
  )

  it.live("has its rows in the document in the displayed order, wherever the reader scrolled from", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 300)
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      const places = () =>
        sees(page.locator("#rows .row").evaluateAll((rows) => rows.map(({ ariaRowIndex }) => Number(ariaRowIndex))))
      for (const top of [8000, 7500, 0]) {
        yield* sees(page.locator("#scroll").evaluate((element, to) => element.scrollTo(0, to), top))
        const first = Math.floor(top / 36) + 3
        yield* sees(page.locator(`#rows .row[aria-rowindex="${first}"]`).waitFor())
        const found = yield* places()
        expect(found).toEqual(found.toSorted((a, b) => a - b))
      }
      yield* sees(page.getByRole("searchbox").fill("web-"))
      expect(yield* sees(page.locator("#rows .row bdi").first().textContent())).toBe("web-1")
      expect((yield* sees(page.locator("#rows .row .open").allTextContents())).slice(8, 11)).toEqual([
        "web-9",
        "web-10",
        "web-11"
      ])
    })
  )

  it.live("fills the room that a trouble leaves when it ends with rows", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 300)
      const names = Array.from({ length: 8 }, (_, index) => `sink-${index}`)
      daemon.state.troubles = names.map((name) => aTrouble({ about: { kind: "sink", name } }))
      const { page } = yield* visit(daemon.url, { height: 1080 })
      yield* isLive(page)
      daemon.state.troubles = []
      daemon.state.sinks = [aSink()]
      daemon.append({ type: "berth.watch.recovered" })
      yield* sees(page.getByText("All well.").waitFor())
      // Look at a few frames, in which nothing else is painted.
      const isRow = yield* sees(
        page.evaluate<boolean>(`new Promise((done) => {
          const look = () => {
            const { bottom } = document.getElementById("scroll").getBoundingClientRect()
            done(document.elementFromPoint(200, bottom - 20).closest(".row") !== null)
          }
          requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(look)))
        })`)
      )
      expect(isRow).toBe(true)
    })
  )

  it.live("shows the price that a plan has now in its rows", () =>
    Effect.gen(function* () {
      const daemon = yield* served()
      yield* scene(daemon, 8)
      const { page } = yield* visit(daemon.url)
      yield* isLive(page)
      const price = exactPrice(1234 / 730, 1234)
      daemon.state.plans = daemon.state.plans.map((plan) => ({
        ...plan,
        ...price,
        prices: plan.prices.map((each) => ({ ...each, ...price }))
      }))
      daemon.append({ type: "berth.plan.price_changed", subject: "plans/small", data: {} })
      yield* sees(rowOf(page, "api-1").getByText("₹1,234").waitFor())
      daemon.state.plans = daemon.state.plans.slice(1)
      daemon.append({ type: "berth.plan.removed", subject: "plans/small", data: { nodes: 3 } })
      yield* sees(page.getByText("at least: 3 nodes without an exact price").waitFor())
    })
  )
})
