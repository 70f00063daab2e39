import { globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "@effect/vitest"

const src = fileURLToPath(new URL("../src", import.meta.url))

/** The folders of the server; each may import those before it. README.md shows the same order from the top. */
const stack = [
  ["lifecycle", "transport"],
  ["faults"],
  ["world"],
  ["http"],
  ["http/fast", "journal"],
  ["injection"],
  ["state", "control/page"],
  ["control"],
  ["app.ts"],
  ["listen.ts"],
  ["cli", "testing"],
  ["main.ts", "testing.ts"]
]

const heightOf = (file: string): number => {
  const folder = dirname(file) === "." ? file : dirname(file)
  const height = stack.findIndex((level) => level.includes(folder))
  if (height < 0) throw new Error(`${file} is in no level of the stack`)
  return height
}

const folderOf = (file: string): string => (dirname(file) === "." ? file : dirname(file))

it("no import runs upward between the folders, nor sideways", () => {
  const upward = globSync("**/*.ts", { cwd: src }).flatMap((file) =>
    Array.from(readFileSync(join(src, file), "utf8").matchAll(/from "(\.{1,2}\/[^"]+)"/g), ([, path]) =>
      relative(src, join(src, dirname(file), path!))
    )
      .filter((target) => !target.startsWith("..") && folderOf(target) !== folderOf(file))
      .filter((target) => heightOf(target) >= heightOf(file))
      .map((target) => `${file} imports ${target}`)
  )
  expect(upward).toEqual([])
})
