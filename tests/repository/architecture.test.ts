/** The tables of docs/architecture.md name existing files, and the paths of requests are short enough for a reader to follow. */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"

const page = readFileSync("docs/architecture.md", "utf8")

/**
 * The folders that may contain a name: the folder of the previous name in the row or table, and the folders above it within the same
 * sources.
 */
const foldersAbove = (folder: string): ReadonlyArray<string> =>
  folder.includes("/src") ? [folder, ...foldersAbove(dirname(folder))] : []

/** The files that a table names, and the names that match no file. A folder or a pattern does not count as a file. */
const filesIn = (table: string, sources = "") => {
  const [files, missing] = [new Set<string>(), new Array<string>()]
  let folder = sources
  for (const [, name = ""] of table.matchAll(/`([\w*-]+\/(?:[\w*-]+\/)*(?:[\w*-]+\.tsx?)?|[\w-]+\.tsx?)`/g)) {
    const isFile = /^[^*]+\.tsx?$/.test(name)
    const target = isFile ? name : name.slice(0, name.lastIndexOf("/"))
    const folders = /^(?:apps|packages|tests|scripts|docs)\//.test(name) ? [""] : foldersAbove(folder)
    const found = folders.map((each) => join(each, target)).find(existsSync)
    if (found === undefined) missing.push(name)
    else {
      folder = isFile ? dirname(found) : found
      if (isFile) files.add(found)
    }
  }
  return { files, missing }
}

const sectionOf = (heading: string) => page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? ""

describe("docs/architecture.md", () => {
  it.for([
    ["The path of one call", "", 26],
    ["The path of one create", "", 47],
    ["The path of one mock request", "apps/server/src", 26],
    ["The path from a sweep to a webhook", "", 30],
    ["The path of a request to the daemon", "", 15]
  ] as const)("shows %s in few files", ([heading, sources, most]) => {
    const [table = ""] = /^\| step .*\n(?:\|.*\n)+/m.exec(sectionOf(heading)) ?? []
    const { files, missing } = filesIn(table, sources)
    expect(missing).toEqual([])
    expect(files.size).toBeGreaterThan(9)
    expect(files.size).toBeLessThanOrEqual(most)
  })

  it("names one file, and a function in it, for each question of where a decision is made", () => {
    const rows = Array.from(
      sectionOf("Who decides").matchAll(/^\| ([^|]+) \| `([\w/]+\.ts)` \| `(\w+)` \|$/gm),
      ([, question = "", file = "", name = ""]) => ({ question, file, name })
    )
    expect(rows.length).toBe(16)
    const lost = rows.filter(
      ({ file, name }) => !existsSync(file) || !readFileSync(file, "utf8").includes(`\nexport const ${name}`)
    )
    expect(lost).toEqual([])
    expect(new Set(rows.map(({ file }) => file)).size).toBe(rows.length)
  })

  it("names files that exist where it says what is where", () => {
    const rows = sectionOf("Where things are")
      .split("\n")
      .filter((line) => line.startsWith("|"))
    expect(rows.flatMap((row) => filesIn(row).missing)).toEqual([])
  })
})
