import { describe, expect, it } from "@effect/vitest"
import { isWiderThanScreen, sees, seriousFindings, visit } from "@berthkit/testing/browser"
import { Effect, Redacted } from "effect"
import { serve } from "../cli/berthServer.ts"
import { frozen } from "../control/page/browser.ts"

/** Findings of axe in the markup that Scalar generates; no setting changes them (decision 0061). */
const ofScalar = [
  "aria-allowed-attr",
  "aria-input-field-name",
  "aria-required-children",
  "button-name",
  "scrollable-region-focusable"
]

describe("the page about the interface", () => {
  it.live("can be read on a phone, and loads nothing else", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(frozen)
      const { complaints, page, requests } = yield* visit(`${ready.url}/docs`, { width: 390, height: 844 })
      yield* sees(page.getByRole("heading", { name: "Create a node" }).first().waitFor())
      expect(yield* isWiderThanScreen(page)).toBe(false)
      const findings = yield* seriousFindings(page)
      expect(findings.filter((finding) => !ofScalar.some((rule) => finding.includes(` ${rule}: `)))).toEqual([])
      expect(requests).toEqual(["GET /docs"])
      // Scalar tries `eval`, works without it, and needs nothing else that the policy forbids.
      expect(complaints).toEqual(["violates script-src: eval "])
    })
  )

  it.live("tries an operation against its own world", () =>
    Effect.gen(function* () {
      const { account, ready } = yield* serve(frozen)
      const { page } = yield* visit(`${ready.url}/docs#tag/nodes/GET/myaccount/api/v1/nodes/`)
      yield* sees(page.getByRole("button", { name: /^Test Request ?\(get \/myaccount\/api\/v1\/nodes\/\)$/ }).click())
      const dialog = page.getByRole("dialog")
      yield* sees(
        dialog.getByPlaceholder("QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT").fill(Redacted.value(account.apiKey))
      )
      yield* sees(dialog.getByPlaceholder("Token").fill(Redacted.value(account.accessToken)))
      yield* sees(dialog.getByRole("button", { name: /^Send/ }).first().click())
      yield* sees(dialog.getByText("200 OK").waitFor())
    })
  )
})
