/**
 * The documentation site as a reader sees it. It is built without a network, below a path like on GitHub Pages, and opened in Chromium: at
 * the size of a phone, a tablet and a desktop, in light and dark.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { committedReport, slugOfDeclarations } from "@berthkit/site/reference"
import { installTools, siteFolder } from "@berthkit/site/build"
import { reportFiles } from "@berthkit/scripts/publicApi"
import { isWiderThanScreen, seriousFindings, sees, visit } from "@berthkit/testing/browser"
import { Program } from "@berthkit/testing/Program"
import { beforeAll, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { serveFolder } from "./serveFolder.ts"

const base = "/berth"
const root = fileURLToPath(new URL("../..", import.meta.url))

/** Options for a namespace without a network, even for a user who is not root. */
const alone = ["--map-root-user", "--net", "--"]

beforeAll(async () => {
  installTools()
  // The variables that Vitest sets would make this a development build.
  const { HOME = "", PATH = "" } = process.env
  const program = new Program("unshare", [...alone, process.execPath, "site/src/build.ts"], {
    cwd: root,
    env: { HOME, PATH, SITE_BASE: base },
    timeoutMillis: 1_200_000
  })
  expect(await program.ended).toEqual({ code: 0, stderr: "", stdout: `${siteFolder}\n` })
}, 1_300_000)

const read = (path: string) => readFileSync(join(siteFolder, path), "utf8")

it("has an anchor for every public name", () => {
  const missing = Object.entries(reportFiles).flatMap(([name, file]) =>
    Array.from(committedReport(file).names).flatMap(([declarations, names]) => {
      const html = read(`${slugOfDeclarations(name, declarations)}/index.html`)
      return names.flatMap((each) => (html.includes(` id="${each}"`) ? [] : [`${declarations}: ${each}`]))
    })
  )
  expect(missing).toEqual([])
})

it("says what every public name is", () => {
  const silent = Object.entries(reportFiles).flatMap(([name, file]) =>
    Array.from(committedReport(file).names).flatMap(([declarations, names]) => {
      const sections = read(`${slugOfDeclarations(name, declarations)}.md`).split(/^## /m)
      // A class counts as present together with its base name.
      return names
        .filter((each) => !each.endsWith("_base"))
        .filter(
          (each) => !sections.some((section) => section.startsWith(`${each}\n\n`) && /^\w+\n\n[^`]/.test(section))
        )
        .map((each) => `${declarations}: ${each}`)
    })
  )
  expect(silent).toEqual([])
})

it("has text for programs that read it", () => {
  const links = Array.from(read("llms.txt").matchAll(/^- \[.+\]\((.+)\): \S/gm), ([, link]) => link!)
  expect(links.length).toBeGreaterThan(80)
  const files = new Set(globSync("**/*.md", { cwd: siteFolder }).map((path) => `${base}/${path}`))
  expect(links.filter((link) => !files.has(link))).toEqual([])
  expect(read("llms-full.txt")).toContain("# Using Berth with promises")
})

const pages = [
  "/",
  "/start/",
  "/using-with-promises/",
  "/control-plane/",
  "/cli/node-create/",
  "/reference/core/promise/client/",
  "/http/service/",
  "/service/assumptions/",
  "/decisions/"
]

it.live.each(pages)("%s can be read by everybody, on every screen", (path) =>
  Effect.gen(function* () {
    const url = yield* serveFolder(siteFolder, base)
    const { complaints, outside, page } = yield* visit(`${url}${path}`)
    for (const width of [390, 820, 1280]) {
      yield* sees(page.setViewportSize({ width, height: 844 }))
      expect({ width, isWider: yield* isWiderThanScreen(page) }).toEqual({ width, isWider: false })
    }
    expect(yield* seriousFindings(page, [390, 820, 1280])).toEqual([])
    expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
  }).pipe(Effect.scoped)
)

const searched: ReadonlyArray<readonly [words: string, target: RegExp]> = [
  ["OutcomeUnknown", /reference\/core\/(promise\/reasons|domain\/errorreason)/],
  // The page of a command with this flag.
  ["--max-cost", /cli\/(apply|mcp|node-create|run)\//],
  ["berth.node.stuck", /watch-events/]
]

it.live.each(searched)("search finds %s from the keyboard, without another host", ([words, target]) =>
  Effect.gen(function* () {
    const url = yield* serveFolder(siteFolder, base)
    const { outside, page } = yield* visit(`${url}/start/`)
    // The button appears before the scripts that handle the keys and add the search field.
    yield* sees(page.locator("button[data-open-modal]:enabled").waitFor())
    yield* sees(page.locator("#starlight__search input").waitFor({ state: "attached" }))
    yield* sees(page.keyboard.press("Control+k"))
    yield* sees(page.locator("#starlight__search input:focus").waitFor())
    yield* sees(page.keyboard.type(words))
    const links = page.locator("#starlight__search .pagefind-ui__result-link")
    yield* sees(links.first().waitFor())
    const found = yield* sees(links.evaluateAll((all) => all.map((each) => each.getAttribute("href") ?? "")))
    const pages = Array.from(new Set(found.map((href) => href.replace(/#.*/, ""))))
    expect(pages.slice(0, 3).join(" ")).toMatch(target)
    expect(outside).toEqual([])
  }).pipe(Effect.scoped)
)

it.live("the theme can be chosen, and the pictures follow it", () =>
  Effect.gen(function* () {
    const url = yield* serveFolder(siteFolder, base)
    const { page } = yield* visit(`${url}/`)
    for (const theme of ["dark", "light"]) {
      yield* sees(page.locator("starlight-theme-select select").first().selectOption(theme))
      const shown = page.locator("figure img:visible")
      expect(yield* sees(shown.getAttribute("src"))).toBe(`${base}/pictures/dashboard-${theme}.png`)
    }
  }).pipe(Effect.scoped)
)
