/** Checks the form of decisions and assumptions, and that every reference to one of them has a target. */
import { globSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { expect, test } from "vitest"

const folder = "docs/decisions/"
const index = `${folder}README.md`
const assumptions = "docs/interface/assumptions.md"

const maxLines = 30
const maxColumns = 140

const all = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, found = ""]) => found)

const twice = (values: ReadonlyArray<string>) => values.filter((value, place) => values.indexOf(value) !== place)

const pageFaults = (path: string, text: string): ReadonlyArray<string> => {
  const lines = text.trimEnd().split("\n")
  const headings = all(text, /^\*\*(Context|Decision|Consequence)\.\*\*/gm).join(", ")
  const number = /^\d{4}(?=-[a-z\d-]+\.md$)/.exec(basename(path))?.[0]
  return [
    ...(number === undefined ? ["is not named NNNN-subject.md"] : []),
    ...(lines.length > maxLines ? [`has ${lines.length} lines, more than ${maxLines}`] : []),
    ...(lines.some(({ length }) => length > maxColumns) ? [`has a line of more than ${maxColumns} columns`] : []),
    ...(headings === "Context, Decision, Consequence" ? [] : [`has the headings ${headings || "(none)"}`]),
    ...(text.startsWith(`# ${number} `) ? [] : ["does not begin with its number and title"])
  ]
}

const assumptionFaults = (text: string): ReadonlyArray<string> => {
  const [, ...sections] = text.split(/^### /m)
  const ids = sections.map((section) => /^A[1-9]\d?(?= .)/.exec(section)?.[0] ?? "(none)")
  return [
    ...twice(ids).map((id) => `${id} twice`),
    ...sections.flatMap((section, place) => [
      ...(/\*(?:documented|observed|chosen)\*/.test(section) ? [] : [`${ids[place]} without a source`]),
      ...(section.includes("Depends on it:") ? [] : [`${ids[place]} without what depends on it`])
    ])
  ]
}

/** The numbers after a word. For example, `decisions 0007, 0085 and 0177` has three. */
const numbersAfter = (word: string, further: string) =>
  new RegExp(`\\b${word}s?\\s+(?:\\*\\s+)?(A?\\d+(?:(?:, | and | to )${further}\\b)*)`, "gi")

/** The faults of a repository with these files. */
const faultsIn = (files: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const pages = Object.keys(files).filter((path) => path.startsWith(folder) && path !== index)
  const numbers = pages.map((path) => basename(path).slice(0, 4))
  const titled = new Map(pages.map((path) => [basename(path), files[path]!.split("\n")[0]!.slice("# ".length)]))
  const ids = new Set(all(files[assumptions] ?? "", /^### (A\d+) /gm))
  const indexed = Array.from((files[index] ?? "").matchAll(/^- \[(.*?)\]\((.*?)\): ./gm), ([, title, name]) => ({
    title,
    name
  }))
  const referenceFaults = ([path, text]: readonly [string, string]): ReadonlyArray<string> => [
    ...all(text, numbersAfter("decision", "\\d{4}"))
      .flatMap((list) => list.split(/[^\dA]+/))
      .concat(all(text, /decisions\/(\d+)/g))
      .concat(path.startsWith(folder) ? all(text, /(?<![\d.])(0\d{3})\b/g) : [])
      .filter((number) => !numbers.includes(number))
      .map((number) => `${path}: there is no decision ${number}`),
    ...all(text, /decisions\/(\d{4}-[\w-]+\.md)/g)
      .filter((name) => !titled.has(name))
      .map((name) => `${path}: there is no page ${name}`),
    ...all(text, numbersAfter("assumption", "A\\d+"))
      .flatMap((list) => list.split(/[^\dA]+/))
      .concat(all(text, /(?<![%\w])(A[1-9]\d?)\b(?!-)/g))
      .filter((id) => !ids.has(id))
      .map((id) => `${path}: there is no assumption ${id}`)
  ]
  return [
    ...pages.flatMap((path) => pageFaults(path, files[path]!).map((fault) => `${path} ${fault}`)),
    ...twice(numbers).map((number) => `${number} is the number of two pages`),
    ...Array.from(titled)
      .filter(([name, title]) => indexed.filter((line) => line.name === name && line.title === title).length !== 1)
      .map(([name]) => `${index} does not have ${name} once, under its title`),
    ...assumptionFaults(files[assumptions] ?? "").map((fault) => `${assumptions}: ${fault}`),
    ...Object.entries(files).flatMap(referenceFaults)
  ]
}

test("the repository keeps to it", () => {
  const root = join(import.meta.dirname, "../..")
  const paths = globSync(
    "{*.md,{apps,bench,docs,packages,scripts,tests}/**/*.{cjs,css,html,js,json,md,mjs,ts,yml},site/src/**/*.ts}",
    {
      cwd: root,
      exclude: (name) => ["node_modules", "dist", basename(import.meta.filename)].includes(name)
    }
  )
  const files = Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]))
  expect(Object.keys(files).length).toBeGreaterThan(1000)
  expect(faultsIn(files)).toEqual([])
})

const page = (title: string, more = "") =>
  `# ${title}\n\n**Context.** One.\n\n**Decision.** Two.\n\n**Consequence.** Three.\n${more}`

const one = "docs/decisions/0001-one.md"

const sound = {
  [one]: page("0001 One"),
  "docs/decisions/0012-two.md": page("0012 Two", "As in (0001), by A1.\n"),
  [index]: "- [0001 One](0001-one.md): one\n- [0012 Two](0012-two.md): two\n",
  [assumptions]: "# Assumptions\n\n### A1 Ids\n*chosen* They grow. Depends on it: lists (decision 0001).\n",
  "a.ts": "// decision 0001, decisions 0001 and 0012 (A1), decision 0001, A1, assumption A1, decision.delay, %A9"
}

test("a sound repository passes", () => {
  expect(faultsIn(sound)).toEqual([])
})

test.each<[string, Record<string, string>, string]>([
  ["a long page", { [one]: page("0001 One", "more\n".repeat(24)) }, `${one} has 31 lines, more than 30`],
  ["a wide line", { [one]: page("0001 One", "m".repeat(141)) }, `${one} has a line of more than 140 columns`],
  ["a missing heading", { [one]: "# 0001 One\n\n**Context.** One.\n" }, `${one} has the headings Context`],
  ["a title without its number", { [one]: page("One") }, `${one} does not begin with its number and title`],
  [
    "a page without a number",
    { "docs/decisions/three.md": page("Three") },
    "docs/decisions/three.md is not named NNNN-subject.md"
  ],
  ["a number twice", { "docs/decisions/0001-other.md": page("0001 Other") }, "0001 is the number of two pages"],
  [
    "a page that the index lacks",
    { [index]: "- [0001 One](0001-one.md): one\n" },
    `${index} does not have 0012-two.md once, under its title`
  ],
  [
    "a link of the index to no page",
    { [index]: `${sound[index]}See [it](../decisions/0003-three.md).` },
    `${index}: there is no page 0003-three.md`
  ],
  ["a reference to no decision", { "b.md": "As in decision 0002." }, "b.md: there is no decision 0002"],
  ["one of several", { "b.md": "As in decisions 0001 and 0002." }, "b.md: there is no decision 0002"],
  [
    "a reference over two lines",
    { "b.ts": "/**\n * As in decision\n * 0002.\n */" },
    "b.ts: there is no decision 0002"
  ],
  ["a reference of another page", { [one]: page("0001 One", "As in (0002).\n") }, `${one}: there is no decision 0002`],
  [
    "a link to a page that was renamed",
    { "b.md": "[it](docs/decisions/0001-first.md)" },
    "b.md: there is no page 0001-first.md"
  ],
  ["a decision without four digits", { "b.ts": "// decision 12" }, "b.ts: there is no decision 12"],
  ["an assumption that is called a decision", { "b.ts": "// decision A1" }, "b.ts: there is no decision A1"],
  ["a decision that is called an assumption", { "b.ts": "// assumption 0001" }, "b.ts: there is no assumption 0001"],
  ["a reference to no assumption", { "b.ts": "// Ids grow (A2)." }, "b.ts: there is no assumption A2"],
  [
    "an assumption without a source",
    { [assumptions]: "### A1 Ids\nDepends on it: lists.\n" },
    `${assumptions}: A1 without a source`
  ],
  [
    "an assumption that nothing needs",
    { [assumptions]: "### A1 Ids\n*chosen* They grow.\n" },
    `${assumptions}: A1 without what depends on it`
  ],
  ["an assumption twice", { [assumptions]: `${sound[assumptions]}${sound[assumptions]}` }, `${assumptions}: A1 twice`]
])("%s is found", (_, changed, fault) => {
  expect(faultsIn({ ...sound, ...changed })).toContain(fault)
})
