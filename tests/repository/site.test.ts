/**
 * Tests the navigation of the documentation site and the code that makes its pages, with the repository's pages and with pages made for the
 * tests.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { htmlFaults } from "@berthkit/site/htmlFaults"
import { pagesShown, pagesThatAre, repositoryPages } from "@berthkit/site/repositoryPages"
import { expect, onTestFinished, test } from "vitest"

test("every page of the docs is in the navigation, once", () => {
  const shown = pagesShown()
  expect(pagesThatAre().filter((path) => !shown.includes(path))).toEqual([])
  expect(shown.filter((path, place) => shown.indexOf(path) !== place)).toEqual([])
})

test("every page can become one of the site: it has a title, a first sentence, and links that lead somewhere", () => {
  const pages = repositoryPages()
  expect(pages.length).toBe(pagesShown().length)
  expect(pages.filter(({ description, title }) => title === "" || description === "")).toEqual([])
})

test("`pnpm run docs` builds the site", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  expect(scripts.docs).toBe("exec node site/src/build.ts")
})

const sound = {
  "index.html":
    '<link rel="stylesheet" href="/b/a.css"><a href="/b/one/#part">One</a><a href="https://x.example/">X</a>',
  "one/index.html": '<h2 id="part">Part</h2><a href="#part">Part</a><a href="../">Home</a><img src="/b/p.png" alt="">',
  "a.css": "@font-face { src: url(/b/f.woff2) }",
  "s.js": 'import("./t.js")',
  "p.png": ""
}

/** The faults of a site with these files, below the path `/b`. */
const faultsOf = (changed: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), "berth-site-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [path, text] of Object.entries({ ...sound, ...changed })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return htmlFaults(folder, "/b")
}

test("a sound site has no faults", () => {
  expect(faultsOf({})).toEqual([])
})

test.each<[string, Record<string, string>, string]>([
  ["a link to no page", { "one/index.html": '<a class="x" href="/b/two/">Two</a>' }, "/b/two/ leads nowhere"],
  ["a link to no anchor", { "one/index.html": '<a href="#other">Other</a>' }, "#other leads to no anchor"],
  [
    "a link to no anchor of another page",
    { "one/index.html": "" },
    "/b/one/#part leads to no anchor of one/index.html"
  ],
  [
    "a link past the path of the site",
    { "one/index.html": '<h2 id="part"></h2><a href="/">Up</a>' },
    "/ is not below /b/"
  ],
  ["a picture that there is not", { "a/index.html": '<img src="/b/q.png" alt="">' }, "/b/q.png leads nowhere"],
  [
    "a script of another host",
    { "a/index.html": '<script async src="https://x.example/s.js"></script>' },
    "another host"
  ],
  ["a style of another host", { "a/index.html": '<link rel="preload" href="//x.example/s.css">' }, "another host"],
  ["a font of another host", { "a.css": "@font-face { src: url('https://x.example/f.woff2') }" }, "another host"],
  ["an import from another host", { "s.js": 'import x from "https://x.example/s.js"' }, "another host"]
])("%s is found", (_, changed, fault) => {
  expect(faultsOf(changed).join("\n")).toContain(fault)
})
