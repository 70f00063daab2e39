/** Tests the check of the style sheets and scripts of pages, with folders made for the test. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { styleFaults } from "@berthkit/scripts/styles"
import { expect, onTestFinished, test } from "vitest"

const page = "apps/one/src/page/browser"

/** The faults of a repository with these files. */
const faultsOf = (files: Readonly<Record<string, string>>) => {
  const root = mkdtempSync(join(tmpdir(), "berth-styles-"))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const every = { "packages/web/src/controls.css": "button, .button { color: red; padding: 0 }", ...files }
  for (const [path, text] of Object.entries(every)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return styleFaults(root)
}

test("the pages of the repository state each thing once, and leave the document to Preact", () => {
  expect(styleFaults(join(import.meta.dirname, "../.."))).toEqual([])
})

test("what only a page has, and what it has for a narrow screen, passes", () => {
  const css = `.row button { margin: 0 } .row { color: red } @media (width < 1px) { .row { color: blue } } a::after { content: "};" }`
  expect(faultsOf({ [`${page}/page.css`]: css })).toEqual([])
})

test.each([
  ["twice in a page", ".a { color: red } .b, .a { color: blue }", ".a { color }, as apps/one/"],
  ["of the controls again", ".button { padding: 1px }", ".button { padding }, as packages/web/"],
  ["about how a field looks", ".a input:focus { border: 0 }", "states border of .a input:focus"]
])("a style %s is found", (_, css, fault) => {
  expect(faultsOf({ [`${page}/page.css`]: css })).toEqual([expect.stringContaining(fault)])
})

test("a script that changes the document by hand is found", () => {
  expect(faultsOf({ [`${page}/a.tsx`]: "list.replaceChildren(row)" })).toEqual([
    `${page}/a.tsx has replaceChildren: Preact alone changes the document`
  ])
})
