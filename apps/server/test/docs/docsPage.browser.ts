import { describe, expect, it } from "@effect/vitest"
import { isWiderThanScreen, sees, seriousFindings, visit } from "@berth/testing/browser"
import { Effect } from "effect"
import { serve } from "../cli/berthServer.ts"
import { frozen } from "../control/page/browser.ts"

describe("the page about the interface", () => {
  it.live("can be read on a phone, in the dark and by keyboard, and loads nothing", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(frozen)
      const { complaints, page, requests } = yield* visit(`${ready.url}/docs`, { width: 390, height: 844 })
      expect(yield* isWiderThanScreen(page)).toBe(false)
      yield* sees(page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))"))
      expect(yield* isWiderThanScreen(page)).toBe(false)
      expect(yield* seriousFindings(page)).toEqual([])

      yield* sees(page.getByRole("link", { name: "Create a node" }).focus())
      yield* sees(page.keyboard.press("Enter"))
      expect(new URL(page.url()).hash).toBe("#nodes.create")
      yield* sees(page.locator("#nodes\\.create").getByRole("link", { name: "NodeCreation" }).click())
      yield* sees(page.locator("#schema-NodeCreation:target").waitFor())
      expect(requests).toEqual(["GET /docs"])
      expect(complaints).toEqual([])
    })
  )
})
