/** The pages for contributors name only existing files, scripts and tests. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), "utf8")
const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> }

const security = ".github/SECURITY.md"
const pages = [security, ".github/CONTRIBUTING.md", ".github/CODE_OF_CONDUCT.md"]

describe.each(pages)("%s", (page) => {
  const text = read(page)

  it("links to files that there are", () => {
    const linked = Array.from(text.matchAll(/\]\((?!\w+:|#)([^)#]+)/g), ([, path]) => join(dirname(page), path!))
    expect(linked.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it("names files that there are", () => {
    const named = Array.from(text.matchAll(/`((?:apps|packages|tests)\/[\w./-]+)`/g), ([, path]) => path!)
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})

it("every promise of SECURITY.md names a test", () => {
  const rows = read(security).match(/^\| (?!promise|---).*$/gm)!
  expect(rows.length).toBeGreaterThan(15)
  for (const row of rows)
    expect(row).toMatch(/\| `(?:apps|packages|tests)\/[\w./-]+\.(?:test|machine|install)\.ts`.* \|$/)
})

it("CONTRIBUTING.md names scripts that there are", () => {
  const named = new Set(
    Array.from(read(".github/CONTRIBUTING.md").matchAll(/`pnpm (?!exec|config|install)([\w:-]+)/g), ([, name]) => name!)
  )
  expect(Array.from(named).filter((name) => !(name in scripts) && name !== "test")).toEqual([])
  expect(named.size).toBeGreaterThan(8)
})

it("newer versions are proposed for every lockfile", () => {
  const { updates } = parse(read(".github/dependabot.yml"))
  const locked = globSync(["pnpm-lock.yaml", "{bench,site,tests}/**/pnpm-lock.yaml"], {
    cwd: root,
    exclude: (name) => name === "node_modules"
  })
  expect(updates[0].directories.toSorted()).toEqual(
    locked.map((path) => `/${dirname(path)}`.replace(/\.$/, "")).toSorted()
  )
})

it("the templates of issues ask for what GitHub can show", () => {
  for (const file of ["bug.yml", "idea.yml"]) {
    const { body, description, name } = parse(read(`.github/ISSUE_TEMPLATE/${file}`))
    expect([typeof name, typeof description]).toEqual(["string", "string"])
    for (const { attributes, type } of body) {
      expect(["markdown", "textarea", "input", "dropdown"]).toContain(type)
      expect(type === "markdown" ? attributes.value : attributes.label).toBeTypeOf("string")
    }
  }
})
