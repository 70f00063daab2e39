import { hash } from "node:crypto"
import description from "@berthkit/core/openapi.json" with { type: "json" }
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { samples } from "../../src/docs/docs.ts"
import { TestServer } from "../../src/testing.ts"
import { send } from "../http/service.ts"

layer(TestServer.layer())("the page about the interface", (it) => {
  it.effect("has every operation, with its examples and a sample in TypeScript", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const { text } = yield* send(`${baseUrl}/docs`)
      const operations = Object.values(description.paths).flatMap((path) => Object.values(path))
      expect(Object.keys(samples).toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted())
      for (const { operationId } of operations) {
        expect(text).toContain(`"operationId":"${operationId}"`)
        expect(text).toContain(JSON.stringify(samples[operationId]))
      }
      expect(text).toContain('"examples":{"example":')
    })
  )

  it.effect("runs its own scripts alone, loads nothing from elsewhere, and is in English", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const { headers, text } = yield* send(`${baseUrl}/docs`)
      const scripts = Array.from(text.matchAll(/<script>([^]*?)<\/script>/g), ([, script]) => script!)
      expect(headers.get("content-security-policy")).toBe(
        `default-src 'none'; script-src ${scripts.map((script) => `'sha256-${hash("sha256", script, "base64")}'`).join(" ")}; ` +
          "style-src 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self' data:; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      )
      expect(scripts).toHaveLength(2)
      expect(text).not.toMatch(/<(script|link|img|iframe)[^>]+(src|href)=/)
      expect(text).toContain('<html lang="en">')
    })
  )
})
