import { hash } from "node:crypto"
import description from "@berth/core/openapi.json" with { type: "json" }
import { describe, expect, it } from "@effect/vitest"
import { docsPage } from "../../src/docs/docsPage.ts"
import type { OpenApiDocument } from "../../src/docs/OpenApiDocument.ts"
import { htmlPage } from "@berth/web/htmlPage"
import { bytesOf } from "../../src/transport/replyBytes.ts"

const document = description as unknown as OpenApiDocument
const page = docsPage(document).text

const allMatches = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, match]) => match!)

describe("the page about the interface", () => {
  it("has every operation, parameter, failure and schema, and no link that leads nowhere", () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      expect(page).toContain(`<code>${path}</code>`)
      for (const { operationId, parameters, summary } of Object.values(operations)) {
        expect(page).toContain(`id="${operationId}"`)
        expect(page).toContain(summary?.replaceAll('"', "&quot;"))
        for (const { name } of parameters) expect(page).toContain(`<code>${name}</code>`)
      }
    }
    for (const [name, { properties = {} }] of Object.entries(document.components.schemas)) {
      if (name.startsWith("Failure")) expect(page).toContain(`id="failure-${name.slice("Failure".length)}"`)
      else expect(page).toContain(`id="schema-${name}"`)
      for (const field of Object.keys(properties)) expect(page).toContain(`<code>${field}</code>`)
    }
    const ids = allMatches(page, /\sid="([^"]*)"/g)
    expect(new Set(ids).size).toBe(ids.length)
    for (const target of allMatches(page, /href="#([^"]*)"/g)) expect(ids).toContain(target)
  })

  it("marks each statement as documented, observed or chosen, with where", () => {
    expect(page).toContain('<span class="source documented">documented: <cite>interface.md §2.2</cite></span>')
    expect(page).toContain('<span class="source observed">observed: <cite>decision 14</cite></span>')
    expect(page).toContain('<span class="source chosen">chosen: <cite>decision 7</cite></span>')
    expect(page).not.toMatch(/\((documented|observed|chosen):/)
  })

  it("shows what stands in a description as text", () => {
    const hostile = `<script>alert(1)</script>" & \`<b>\` (chosen: <i>)`
    const shown = docsPage({ ...document, info: { title: hostile, version: "1", description: hostile } }).text
    expect(shown).not.toMatch(/<script|<b>|<i>/)
    expect(shown).toContain("<code>&lt;b&gt;</code>")
    expect(shown).toContain("<cite>&lt;i&gt;</cite>")
  })

  it("is one document that may load nothing and run nothing", () => {
    const reply = htmlPage({ html: page, style: "p {}" })
    const text = new TextDecoder().decode(bytesOf(reply))
    const [, style] = /<style>([^]*)<\/style>/.exec(text)!
    expect(reply.headers["content-security-policy"]).toBe(
      `default-src 'none'; style-src 'sha256-${hash("sha256", style!, "base64")}'; img-src data:; ` +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    expect(text).not.toMatch(/<script|\son\w+=|style=|(src|href)="(https?:)?\/\//)
    expect(text).toContain('<html lang="en">')
  })
})
