import { describe, expect, it } from "@effect/vitest"
import { isWiderThanScreen, sees, seriousFindings, visit } from "@berthkit/testing/browser"
import { Effect } from "effect"
import { serve } from "../../cli/berthServer.ts"
import { callAs, nodeOf } from "../../http/service.ts"
import { accountOf, frozen, mustControl as control } from "./browser.ts"

const notFound = "Failed to load resource: the server responded with a status of 404 (Not Found)"

describe("the page of a world that has ended", () => {
  it.live("states it, keeps the journal, and moves no other world", () =>
    Effect.gen(function* () {
      const { account, ready } = yield* serve(frozen)
      const world = yield* control(account, "POST", "/worlds", { clock: "frozen" })
      yield* callAs(accountOf(account, world), "POST", "/nodes/", { body: nodeOf("web") })
      const { complaints, page, requests } = yield* visit(`${ready.url}/_mock/#w1`)
      yield* sees(page.getByRole("row", { name: "web" }).waitFor())
      yield* sees(page.getByRole("button", { name: "Advance" }).focus())
      const before = yield* control(account, "GET", "/worlds/default")
      yield* control(account, "DELETE", "/worlds/w1")
      const notice = page.getByRole("status").filter({ hasText: "World w1 has ended." })
      yield* sees(notice.waitFor())

      for (const name of ["Advance", "Next event"]) {
        expect(yield* Effect.promise(() => page.getByRole("button", { name }).count())).toBe(0)
      }
      // Neither a key that is held down nor a script that presses hidden buttons has an effect.
      yield* sees(page.keyboard.press("Enter"))
      yield* sees(page.evaluate("document.forms['advance-form']?.requestSubmit()"))
      yield* sees(page.evaluate("document.querySelectorAll('main button').forEach((button) => button.click())"))
      expect(yield* Effect.promise(() => notice.evaluate((it) => it === it.ownerDocument.activeElement))).toBe(true)
      yield* sees(page.locator("#journal li").filter({ hasText: "POST" }).waitFor())

      yield* sees(page.reload())
      yield* sees(notice.waitFor())
      yield* sees(page.locator("#journal li").filter({ hasText: "POST" }).waitFor())
      expect(yield* seriousFindings(page)).toEqual([])
      expect(yield* control(account, "GET", "/worlds/default")).toEqual(before)
      expect(requests.filter((line) => !line.startsWith("GET "))).toEqual([])
      expect(complaints.filter((text) => text !== notFound)).toEqual([])

      yield* sees(notice.getByRole("link", { name: "default" }).click())
      yield* sees(page.getByRole("button", { name: "Advance" }).waitFor())
      expect(new URL(page.url()).hash).toBe("#default")
      yield* sees(page.goBack())
      yield* sees(notice.waitFor())
    })
  )

  it.live("offers worlds as they come and go, ended ones too", () =>
    Effect.gen(function* () {
      const { account, ready } = yield* serve(frozen)
      const { page } = yield* visit(`${ready.url}/_mock/`)
      yield* sees(page.getByText("live", { exact: true }).waitFor())
      yield* control(account, "POST", "/worlds", { seed: 42, clock: "frozen" })
      yield* sees(page.getByRole("link", { name: "w1" }).click())
      yield* sees(page.getByRole("heading", { name: "World w1 seed 42" }).waitFor())
      yield* sees(page.getByRole("link", { name: "default" }).click())
      yield* control(account, "DELETE", "/worlds/w1")
      const ended = page.getByRole("region", { name: "Ended" })
      yield* sees(ended.getByRole("link", { name: "w1" }).click())
      yield* sees(page.getByText("World w1 has ended.").waitFor())
    })
  )
})

describe("the page of a world that is not there", () => {
  const odd = {
    "#nope": "nope",
    "#w7": "w7",
    "#__proto__": "__proto__",
    "#constructor": "constructor",
    "#%": "%",
    "#..": "..",
    "#%2e%2e%2fhealth": "../health",
    "#%E2%80%AEgnp.evil%0a%00": "\\u202egnp.evil\\u000a\\u0000",
    [`#${"x".repeat(5000)}`]: `${"x".repeat(300)}…`
  }

  it.live("names it safely, reads nothing else, and offers the existing worlds", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(frozen)
      const { complaints, page, requests } = yield* visit(`${ready.url}/_mock/`, { width: 390, height: 844 })
      for (const [hash, shown] of Object.entries(odd)) {
        yield* sees(page.goto(`${ready.url}/_mock/${hash}`))
        yield* sees(page.getByText(`There is no world ${shown}`).waitFor())
        yield* sees(page.getByRole("heading", { name: shown, exact: false }).waitFor())
        expect(yield* isWiderThanScreen(page)).toBe(false)
        expect(yield* Effect.promise(() => page.getByRole("button", { name: "Advance" }).count())).toBe(0)
      }
      expect(yield* seriousFindings(page)).toEqual([])
      const asked = new Set(requests.filter((line) => !/default|events$/.test(line)))
      expect([...asked].sort()).toEqual([
        "GET /_mock/",
        "GET /_mock/ended-worlds",
        "GET /_mock/openapi.json",
        "GET /_mock/worlds",
        "GET /_mock/worlds/__proto__/requests",
        "GET /_mock/worlds/constructor/requests",
        "GET /_mock/worlds/nope/requests",
        "GET /_mock/worlds/w7/requests"
      ])
      expect(complaints.filter((text) => text !== notFound)).toEqual([])
      yield* sees(page.getByRole("status").getByRole("link", { name: "default" }).click())
      yield* sees(page.getByRole("button", { name: "Advance" }).waitFor())
    })
  )
})
