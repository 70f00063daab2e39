/** The tables of docs/architecture.md that show a request's path name files that exist, and few enough for a reader to follow. */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"

const page = readFileSync("docs/architecture.md", "utf8")

/** The files of a table, resolved from the one before: in its folder, or in a folder above that within the same sources. */
const filesOf = (table: string, root: string) => {
  let [last, missing] = [`${root}/.`, new Array<string>()]
  const files = new Set<string>()
  for (const [, name = ""] of table.matchAll(/`([\w./-]+\.tsx?)`/g)) {
    const folders = [""]
    if (!/^(?:apps|packages)\//.test(name)) {
      folders.pop()
      for (let folder = dirname(last); folder.includes("/src"); folder = dirname(folder)) folders.push(folder)
    }
    const found = folders.map((folder) => join(folder, name)).find(existsSync)
    if (found === undefined) missing.push(name)
    else files.add((last = found))
  }
  return { count: files.size, missing }
}

test.for([
  ["one call", "", 26],
  ["one create", "", 45],
  ["one mock request", "apps/server/src", 24],
  ["a request to the daemon", "", 15]
] as const)("the path of %s", ([what, root, most]) => check(`The path of ${what}`, root, most))

test("the path from a sweep to a webhook", () => check("The path from a sweep to a webhook", "", 30))

const check = (heading: string, root: string, most: number) => {
  const [, section = ""] = page.split(`\n## ${heading}\n`)
  const [table = ""] = /^\| step .*\n(?:\|.*\n)+/m.exec(section) ?? []
  const { count, missing } = filesOf(table, root)
  expect(missing).toEqual([])
  expect(count).toBeGreaterThan(9)
  expect(count).toBeLessThanOrEqual(most)
}
