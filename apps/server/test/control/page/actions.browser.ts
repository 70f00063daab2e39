import { text } from "node:stream/consumers"
import { describe, expect, it } from "@effect/vitest"
import { isWiderThanScreen, sees, seriousFindings, visit } from "@berthkit/testing/browser"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { serve } from "../../cli/berthServer.ts"
import { allowanceOf, attempt, callAs, nodeOf, requestAs } from "../../http/service.ts"
import { accountOf, frozen, mustControl as control } from "./browser.ts"

const refused = (status: string) => `Failed to load resource: the server responded with a status of ${status}`

/** A server with a world of its own, and a page that shows that world. */
const shown = Effect.fnUntraced(function* (
  options: object = {},
  { args = frozen, ...size }: { readonly args?: ReadonlyArray<string>; readonly width?: number } = {}
) {
  const { account, ready } = yield* serve(args)
  const made = yield* control(account, "POST", "/worlds", { clock: "frozen", ...options })
  const visited = yield* visit(`${ready.url}/_mock/#w1`, size)
  yield* sees(visited.page.getByRole("button", { name: "Arm a fault" }).waitFor())
  return { ...visited, account, made, url: ready.url, world: accountOf(account, made) }
})

const press = (page: Page, name: string) => sees(page.getByRole("button", { name, exact: true }).click())

const dialog = (page: Page) => page.getByRole("dialog")

/** Presses the button of the open dialog, which closes it. */
const confirm = Effect.fnUntraced(function* (page: Page, name: string) {
  yield* sees(dialog(page).getByRole("button", { name, exact: true }).click())
  yield* sees(dialog(page).waitFor({ state: "hidden" }))
})

describe("faults on the page", () => {
  it.live("are armed with options, scope and trigger, fire, and are disarmed one by one", () =>
    Effect.gen(function* () {
      const { account, complaints, outside, page, world } = yield* shown()
      yield* press(page, "Arm a fault")
      const form = dialog(page)
      yield* sees(form.getByText("Replies with a status instead of processing the request.").waitFor())
      yield* sees(form.getByLabel("status", { exact: true }).fill("503"))
      yield* sees(form.getByLabel("message", { exact: true }).fill("Down for maintenance"))
      yield* sees(form.getByLabel("headers", { exact: true }).fill("x-reason: maintenance: today\nx-other: 1"))
      yield* sees(form.getByText("At which requests: scope").click())
      yield* sees(form.getByLabel("nodes.list").check())
      yield* sees(form.getByText("When it fires: trigger").click())
      yield* sees(form.getByLabel("times", { exact: true }).fill("1"))
      yield* confirm(page, "Arm")
      yield* sees(page.getByText("status-1 is armed.").waitFor())
      expect(yield* control(account, "GET", "/worlds/w1/faults")).toMatchObject([
        {
          id: "status-1",
          status: 503,
          message: "Down for maintenance",
          headers: { "x-reason": "maintenance: today", "x-other": "1" },
          times: 1,
          scope: { operation: "nodes.list" }
        }
      ])
      const reply = yield* callAs(world, "GET", "/nodes/")
      expect([reply.status, reply.headers.get("x-reason")]).toEqual([503, "maintenance: today"])
      yield* sees(page.getByText("fired at 1 of 1 request").waitFor())

      yield* press(page, "Arm a fault")
      yield* sees(dialog(page).getByLabel("fault", { exact: true }).selectOption("latency"))
      yield* sees(dialog(page).getByLabel("delay", { exact: true }).fill("5 millis"))
      yield* confirm(page, "Arm")
      yield* press(page, "Disarm status-1")
      yield* sees(page.getByText("status-1 is disarmed.").waitFor())
      expect(yield* control(account, "GET", "/worlds/w1/faults")).toMatchObject([
        { id: "latency-1", delay: "5 millis" }
      ])
      // The page also stops showing a fault that a test disarms.
      yield* control(account, "DELETE", "/worlds/w1/faults")
      yield* sees(page.getByText("None: everything answers as it should.").waitFor())
      expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
    })
  )

  it.live("are refused in the control plane's words beside the field, and the dialog stays", () =>
    Effect.gen(function* () {
      const { account, complaints, page } = yield* shown({}, { width: 390 })
      yield* press(page, "Arm a fault")
      const status = dialog(page).getByLabel("status", { exact: true })
      yield* sees(status.fill("9"))
      yield* sees(dialog(page).getByText("At which requests: scope").click())
      yield* sees(dialog(page).getByLabel("header", { exact: true }).fill("x-a: 1\nX-A: 2"))
      yield* sees(dialog(page).getByText("At which requests: scope").click())
      yield* sees(dialog(page).getByRole("button", { name: "Arm", exact: true }).click())
      yield* sees(dialog(page).getByRole("alert").getByText("are not valid").waitFor())
      yield* sees(dialog(page).getByText("Expected a value between 200 and 599.").waitFor())
      // If a folded part of the form contains an invalid field, the part opens.
      yield* sees(dialog(page).getByText("Expected each header once: the case of a name does not count.").waitFor())
      expect(yield* Effect.promise(() => status.getAttribute("aria-invalid"))).toBe("true")
      expect(yield* Effect.promise(() => status.evaluate((it) => it === it.ownerDocument.activeElement))).toBe(true)
      expect(yield* isWiderThanScreen(page)).toBe(false)
      expect(yield* seriousFindings(page)).toEqual([])
      yield* sees(status.fill("500"))
      yield* sees(dialog(page).getByLabel("header", { exact: true }).fill(""))
      yield* confirm(page, "Arm")
      expect(yield* control(account, "GET", "/worlds/w1/faults")).toMatchObject([{ status: 500 }])
      expect(complaints).toEqual([refused("422 (Unprocessable Entity)")])
    })
  )

  it.live("have a form for each kind, which arms the fault or names the missing fields", () =>
    Effect.gen(function* () {
      const { account, page } = yield* shown()
      const { components } = yield* control(account, "GET", "/openapi.json")
      const kinds = components.schemas.Fault.anyOf.length
      yield* press(page, "Arm a fault")
      const names = yield* Effect.promise(() => dialog(page).locator("#fault-name option").allTextContents())
      expect(names.length).toBe(kinds)
      yield* press(page, "Cancel")
      for (const name of names) {
        yield* press(page, "Arm a fault")
        yield* sees(dialog(page).getByLabel("fault", { exact: true }).selectOption(name))
        yield* confirm(page, "Arm")
      }
      const armed: ReadonlyArray<{ fault: string }> = yield* control(account, "GET", "/worlds/w1/faults")
      expect(armed.map(({ fault }) => fault)).toEqual(names)
    })
  )
})

describe("a node on the page", () => {
  it.live("is forced into a status and a lock, and given back to its lifecycle", () =>
    Effect.gen(function* () {
      const { account, complaints, page, world } = yield* shown()
      const { id } = JSON.parse((yield* callAs(world, "POST", "/nodes/", { body: nodeOf("web") })).text).data
      const row = page.getByRole("row", { name: "web" })
      const node = () => Effect.map(control(account, "GET", "/worlds/w1/nodes"), ([first]) => first)
      yield* press(page, "Change web")
      yield* sees(dialog(page).getByLabel("status", { exact: true }).selectOption("power-off"))
      yield* sees(dialog(page).getByLabel("locked", { exact: true }).selectOption("true"))
      expect(yield* seriousFindings(page)).toEqual([])
      yield* confirm(page, "Change")
      yield* sees(page.getByText(`Node ${id} is power-off and locked.`).waitFor())
      for (const text of ["power-off", "forced", "locked"]) {
        yield* sees(row.getByText(text, { exact: true }).waitFor())
      }
      expect(yield* node()).toMatchObject({ status: "power-off", forced: true, locked: true })

      yield* press(page, "Change web")
      yield* sees(dialog(page).getByLabel("status", { exact: true }).selectOption("let the lifecycle decide"))
      yield* confirm(page, "Change")
      yield* sees(row.getByText("forced", { exact: true }).waitFor({ state: "detached" }))
      expect(yield* node()).toMatchObject({ forced: false, locked: true })
      yield* control(account, "PATCH", `/worlds/w1/nodes/${id}`, { status: "terminate" })
      yield* sees(row.getByText("terminate", { exact: true }).waitFor())
      expect(complaints).toEqual([])
    })
  )
})

describe("a world on the page", () => {
  it.live("is made with its options, shows how to reach it, and is deleted", () =>
    Effect.gen(function* () {
      const { account, complaints, page } = yield* shown()
      yield* press(page, "New world")
      yield* sees(dialog(page).getByLabel("seed", { exact: true }).fill("7"))
      yield* sees(dialog(page).getByLabel("clock", { exact: true }).fill("frozen"))
      yield* sees(dialog(page).getByLabel("limit", { exact: true }).fill("5"))
      yield* sees(dialog(page).getByText("More options").click())
      yield* sees(dialog(page).getByLabel("nodes", { exact: true }).fill('[{"name":"web"}]'))
      yield* sees(dialog(page).getByLabel("uniqueNames", { exact: true }).selectOption("true"))
      yield* sees(dialog(page).getByLabel("apiKey", { exact: true }).fill("it's"))
      expect(yield* seriousFindings(page)).toEqual([])
      yield* sees(dialog(page).getByRole("button", { name: "Make", exact: true }).click())
      yield* sees(dialog(page).getByText("World w2 was made").waitFor())
      const lines = yield* Effect.promise(() => dialog(page).locator("pre").innerText())
      expect(lines).toContain("export BERTH_API_KEY='it'\\''s'\n")
      const accessToken = /BERTH_ACCESS_TOKEN=(\S+)/.exec(lines)![1]!
      const reply = yield* callAs(accountOf(account, { apiKey: "it's", accessToken }), "GET", "/nodes/")
      expect(allowanceOf(reply.headers).slice(0, 2)).toEqual([5, 4])
      expect(reply.json.data.map(({ name }: { name: string }) => name)).toEqual(["web"])
      expect(yield* seriousFindings(page)).toEqual([])
      yield* sees(dialog(page).getByRole("link", { name: "Go to w2" }).click())
      yield* sees(page.getByRole("heading", { name: "World w2 seed 7" }).waitFor())
      expect(yield* Effect.promise(() => dialog(page).count())).toBe(0)

      yield* press(page, "Delete")
      yield* sees(dialog(page).getByText("Delete w2?").waitFor())
      yield* sees(page.keyboard.press("Escape"))
      expect(yield* control(account, "GET", "/worlds/w2")).toMatchObject({ seed: 7 })
      yield* press(page, "Delete")
      yield* confirm(page, "Delete")
      yield* sees(page.getByText("World w2 has ended.").waitFor())
      yield* sees(page.locator("#journal li").filter({ hasText: "GET" }).waitFor())
      expect((yield* control(account, "GET", "/worlds")).map(({ id }: { id: string }) => id)).toEqual(["default", "w1"])
      // A request for the journal of the world may have been under way.
      expect(complaints.filter((text) => text !== refused("404 (Not Found)"))).toEqual([])
      yield* sees(page.getByRole("status").getByRole("link", { name: "default" }).click())
      yield* sees(page.getByRole("button", { name: "Reset" }).waitFor())
      expect(yield* Effect.promise(() => page.getByRole("button", { name: "Delete" }).count())).toBe(0)
    })
  )

  it.live("begins anew, and no other does", () =>
    Effect.gen(function* () {
      const { account, page, world } = yield* shown()
      yield* callAs(world, "POST", "/nodes/", { body: nodeOf("web") })
      yield* callAs(account, "POST", "/nodes/", { body: nodeOf("other") })
      yield* press(page, "Advance")
      yield* sees(page.getByRole("row", { name: "web" }).getByText("running").waitFor())
      yield* press(page, "Reset")
      yield* confirm(page, "Reset")
      yield* sees(page.getByText("w1 was reset.").waitFor())
      yield* sees(page.getByText("No nodes.").waitFor())
      yield* sees(page.locator("#journal li").getByText("the world was reset").waitFor())
      expect(yield* control(account, "GET", "/worlds/w1")).toMatchObject({ nodes: 0, now: "2026-01-01T00:00:00.000Z" })
      expect(yield* control(account, "GET", "/worlds/default")).toMatchObject({ nodes: 1 })
    })
  )

  it.live("that ended behind an open dialog is not another one: the dialog states it", () =>
    Effect.gen(function* () {
      const { account, page, requests } = yield* shown()
      yield* press(page, "Reset")
      yield* control(account, "DELETE", "/worlds/w1")
      yield* sees(dialog(page).getByRole("button", { name: "Reset", exact: true }).click())
      yield* sees(dialog(page).getByRole("alert").getByText("World w1 has ended.").waitFor())
      expect(requests.filter((line) => line.startsWith("POST"))).toEqual(["POST /_mock/worlds/w1/reset"])
    })
  )

  it.live("has its clock run, sped up and frozen, and its rate limit changed", () =>
    Effect.gen(function* () {
      const { account, page, world } = yield* shown({ rateLimit: { limit: 10, window: "1 minute" } })
      const clock = () => Effect.map(control(account, "GET", "/worlds/w1/clock"), ({ mode }) => mode)
      const pressed = page.getByRole("group", { name: "Speed of the clock" }).locator("[aria-pressed=true]")
      for (const [name, mode] of [
        ["60 times as fast", "x60"],
        ["Real time", "real"],
        ["Freeze", "frozen"]
      ] as const) {
        yield* press(page, name)
        yield* sees(pressed.and(page.getByRole("button", { name })).waitFor())
        expect(yield* clock()).toBe(mode)
      }
      yield* callAs(world, "GET", "/nodes/")
      yield* press(page, "Change the rate limit")
      expect(yield* Effect.promise(() => dialog(page).getByLabel("window", { exact: true }).inputValue())).toBe(
        "1 minute"
      )
      yield* sees(dialog(page).getByLabel("limit", { exact: true }).fill("3"))
      yield* confirm(page, "Change")
      yield* sees(page.getByText("2 of 3 requests are left.").waitFor())
      yield* sees(page.getByText("3 per minute, fixed-window").waitFor())
      expect(allowanceOf((yield* callAs(world, "GET", "/nodes/")).headers).slice(0, 2)).toEqual([3, 1])
    })
  )
})

describe("what a program changes", () => {
  it.live("shows on the page: faults, clock, rate limit, status, reset", () =>
    Effect.gen(function* () {
      const { account, page, world } = yield* shown()
      const { id } = JSON.parse((yield* callAs(world, "POST", "/nodes/", { body: nodeOf("web") })).text).data
      yield* control(account, "POST", "/worlds/w1/faults", { fault: "latency", delay: "5 millis" })
      yield* control(account, "PATCH", "/worlds/w1", { rateLimit: { limit: 7, window: "90s" } })
      yield* control(account, "PATCH", `/worlds/w1/nodes/${id}`, { status: "power-off" })
      yield* sees(page.getByRole("button", { name: "Disarm latency-1" }).waitFor())
      yield* sees(page.getByText("7 per 90 seconds, fixed-window").waitFor())
      yield* sees(page.getByText("6 of 7", { exact: true }).waitFor())
      yield* sees(page.getByRole("row", { name: "web" }).getByText("power-off").waitFor())
      // Last, because a fast clock soon refills the rate limit.
      yield* control(account, "POST", "/worlds/w1/clock", { mode: "x60" })
      yield* sees(page.getByText("runs x60").waitFor())
      yield* control(account, "POST", "/worlds/w1/reset")
      yield* sees(page.getByText("No nodes.").waitFor())
      yield* sees(page.getByText("stands still").waitFor())
      yield* sees(page.getByText("None: everything answers as it should.").waitFor())
    })
  )
})

describe("requests on the page", () => {
  it.live("are found by operation, status and text, opened with both sides, and forgotten", () =>
    Effect.gen(function* () {
      const { account, complaints, page, world } = yield* shown()
      yield* callAs(world, "POST", "/nodes/", { body: nodeOf("needle") })
      yield* callAs(world, "POST", "/nodes/", { body: { name: 7 } })
      for (let i = 0; i < 150; i++) yield* callAs(world, "GET", "/nodes/")
      yield* control(account, "PUT", "/worlds/w1/faults", [{ fault: "reset-before-request", times: 1 }])
      yield* attempt(...requestAs(world, "GET", "/nodes/"))
      const entries = page.locator("#journal > li")
      yield* sees(page.getByText("latest 100 of 153").waitFor())

      const text = page.getByLabel("Text in a request or its reply")
      yield* sees(text.fill("NEEDLE"))
      yield* sees(page.getByText("1 of the 153 requests").waitFor())
      // Use the keyboard: entries that arrive above this one move it away from a pointer.
      yield* sees(entries.locator("summary").press("Enter"))
      yield* sees(entries.getByText('"name": "needle"').waitFor())
      yield* sees(entries.getByText("authorization: <redacted>").waitFor())
      yield* sees(entries.getByText("ratelimit-remaining: 1199").waitFor())
      yield* sees(entries.getByText("The body of a success is not kept.").waitFor())
      expect(yield* seriousFindings(page)).toEqual([])

      yield* sees(text.fill(""))
      yield* sees(page.getByLabel("Operation").selectOption("nodes.create"))
      yield* sees(page.getByText("2 of the 153 requests").waitFor())
      yield* sees(page.getByLabel("Status").selectOption("4xx"))
      yield* sees(page.getByText("1 of the 153 requests").waitFor())
      yield* sees(entries.locator("summary").press("Enter"))
      yield* sees(entries.getByRole("heading", { name: "Reply 4" }).waitFor())
      yield* sees(page.getByLabel("Operation").selectOption(""))
      yield* sees(page.getByLabel("Status").selectOption("none"))
      yield* sees(entries.getByText("reset-before-request").waitFor())
      yield* sees(text.fill("no such thing"))
      yield* sees(page.getByText("No request matches the filter.").waitFor())
      yield* sees(page.getByLabel("Status").selectOption(""))
      // A matching request that arrives while the filter is set.
      yield* callAs(world, "GET", "/nodes/", { query: { note: "no such thing" } })
      yield* sees(page.getByText("1 of the 154 requests").waitFor())

      yield* press(page, "Forget requests")
      yield* sees(page.getByText("Cleared the journal.").waitFor())
      expect((yield* control(account, "GET", "/worlds/w1/requests")).requests).toEqual([])
      expect(complaints).toEqual([])
    })
  )

  it.live("stay unfolded while the filter changes faster than the server answers", () =>
    Effect.gen(function* () {
      const { page, world } = yield* shown()
      yield* callAs(world, "POST", "/nodes/", { body: { name: 7 } })
      for (let i = 0; i < 120; i++) yield* callAs(world, "GET", "/nodes/")
      const entry = page.locator("#journal > li", { hasText: "POST" })
      const operation = page.getByLabel("Operation")
      yield* sees(operation.selectOption("nodes.create"))
      yield* sees(page.getByText("1 of the 121 requests").waitFor())
      const slow = Promise.withResolvers<void>()
      yield* sees(page.route("**/requests?limit=100", (route) => slow.promise.then(() => route.continue())))
      const asked = page.waitForRequest("**/requests?limit=100")
      yield* sees(operation.selectOption(""))
      yield* sees(asked)
      yield* sees(operation.selectOption("nodes.create"))
      yield* sees(page.getByText("1 of the 121 requests").waitFor())
      yield* sees(entry.locator("summary").press("Enter"))
      yield* sees(entry.getByRole("heading", { name: "Reply 4" }).waitFor())
      const filtered = page.waitForResponse("**/requests?limit=1000")
      slow.resolve()
      yield* sees(filtered)
      // The list is drawn again with the result of the last reading.
      yield* callAs(world, "POST", "/nodes/", { body: { name: 8 } })
      yield* sees(page.getByText("2 of the 122 requests").waitFor())
      expect(yield* sees(page.locator("#journal details[open]").count())).toBe(1)
    })
  )

  it.live("are downloaded as an archive, which asks for the token as everything does", () =>
    Effect.gen(function* () {
      const args = [...frozen, "--control-token", "open-sesame"]
      const { account, ready } = yield* serve(args)
      yield* callAs(account, "GET", "/nodes/")
      const { complaints, page } = yield* visit(`${ready.url}/_mock/`)
      yield* sees(page.getByLabel("This server needs its control token.").fill("open-sesame"))
      yield* press(page, "Use it")
      yield* sees(page.locator("#journal li").filter({ hasText: "GET" }).waitFor())
      const download = yield* Effect.promise(async () => {
        const [saved] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name: "Download HAR" }).click()
        ])
        return { name: saved.suggestedFilename(), text: await text(await saved.createReadStream()) }
      })
      expect(download.name).toBe("default.har")
      expect(JSON.parse(download.text).log.entries).toMatchObject([{ request: { method: "GET" } }])
      expect(complaints).toEqual([refused("401 (Unauthorized)"), refused("401 (Unauthorized)")])
    })
  )
})

describe("the page by keyboard", () => {
  it.live("opens a dialog, fills it, sends it, and returns the focus", () =>
    Effect.gen(function* () {
      const { account, page } = yield* shown()
      const arm = page.getByRole("button", { name: "Arm a fault" })
      yield* sees(arm.focus())
      yield* sees(page.keyboard.press("Enter"))
      yield* sees(dialog(page).waitFor())
      yield* sees(page.keyboard.press("Tab"))
      yield* sees(page.keyboard.type("418"))
      yield* sees(page.keyboard.press("Enter"))
      yield* sees(dialog(page).waitFor({ state: "hidden" }))
      expect(yield* control(account, "GET", "/worlds/w1/faults")).toMatchObject([{ fault: "status", status: 418 }])
      expect(yield* Effect.promise(() => arm.evaluate((it) => it === it.ownerDocument.activeElement))).toBe(true)
    })
  )
})

describe("the commands on the page", () => {
  it.live("send the same as the buttons next to them, and follow the typed values", () =>
    Effect.gen(function* () {
      const { account, complaints, page, url } = yield* shown({ nodes: [{ name: "web" }] })
      const at = `${url}/_mock/worlds/w1`
      const json = "curl -H 'content-type: application/json' -d"
      const commandsIn = Effect.fnUntraced(function* (part: Locator) {
        yield* sees(part.getByText("Commands", { exact: true }).click())
        yield* sees(part.locator(".commands code").first().waitFor())
        return yield* sees(part.locator(".commands code").allTextContents())
      })
      yield* press(page, "Arm a fault")
      yield* sees(dialog(page).getByLabel("status", { exact: true }).fill("503"))
      yield* sees(dialog(page).getByLabel("message", { exact: true }).fill("it's down"))
      expect(yield* commandsIn(dialog(page))).toEqual([
        `${json} '{"fault":"status","status":503,"message":"it'\\''s down"}' ${at}/faults`
      ])
      yield* sees(dialog(page).getByLabel("fault", { exact: true }).selectOption("latency"))
      yield* sees(dialog(page).getByText(`${json} '{"fault":"latency"}' ${at}/faults`).waitFor())
      expect(yield* seriousFindings(page)).toEqual([])
      yield* confirm(page, "Arm")
      const faults = page.getByRole("region", { name: "Armed faults" })
      yield* sees(faults.getByText("latency", { exact: true }).waitFor())
      const [armAgain, ...disarming] = yield* commandsIn(faults)
      expect(disarming).toEqual([`curl -X DELETE ${at}/faults/latency-1`, `curl -X DELETE ${at}/faults`])
      const payload = JSON.parse(/-d '(.*)'/.exec(armAgain!)![1]!)
      yield* control(account, "PUT", "/worlds/w1/faults", payload)
      expect(yield* control(account, "GET", "/worlds/w1/faults")).toMatchObject([{ fault: "latency" }])

      yield* press(page, "Change web")
      yield* sees(dialog(page).getByLabel("locked", { exact: true }).selectOption("true"))
      const { id } = (yield* control(account, "GET", "/worlds/w1/nodes"))[0]
      expect(yield* commandsIn(dialog(page))).toEqual([
        `curl -X PATCH -H 'content-type: application/json' -d '{"locked":true}' ${at}/nodes/${id}`,
        `berth node get ${id}`,
        `berth node delete ${id}`
      ])
      yield* press(page, "Cancel")
      yield* press(page, "Delete")
      expect(yield* commandsIn(dialog(page))).toEqual([`curl -X DELETE ${at}`])
      expect(complaints).toEqual([])
    })
  )
})
