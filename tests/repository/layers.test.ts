/** Tests the check that imports run only downwards, with folders made for the test. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { layerFaults } from "@berthkit/scripts/layers"

const layers = ["main.ts", "top left", "bottom     what everything stands on"]

/** The faults of a repository with these files, whose page has these layers. */
const faultsOf = (files: Record<string, string>, lines: ReadonlyArray<string> = layers) => {
  const root = mkdtempSync(join(tmpdir(), "berth-layers-"))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const every = {
    "docs/architecture.md": `# Page\n\n\`\`\`layers apps/one/src\n${lines.join("\n")}\n\`\`\`\n`,
    "apps/one/src/main.ts": `import { top } from "./top/a.ts"`,
    "apps/one/src/top/a.ts": `import { low } from "../bottom/a.ts"`,
    "apps/one/src/left/a.ts": "",
    "apps/one/src/bottom/a.ts": "",
    ...files
  }
  for (const [path, text] of Object.entries(every)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return layerFaults(root)
}

test("imports that run down pass", () => {
  expect(faultsOf({})).toEqual([])
})

test.each([
  ["a value", `import { top } from "../top/a.ts"`],
  ["a type", `import type { Top } from "../top/a.ts"`],
  ["a type within an expression", `export type Top = import("../top/a.ts").Top`],
  ["a file for its effect", `import "../top/a.ts"`],
  ["a file on demand", `const top = await import("../top/a.ts")`],
  ["an export", `export { top } from "../top/a.ts"`],
  ["over several lines", `import {\n  one,\n  two\n} from "../top/a.ts"`]
])("an import that runs up is found: %s", (_, text) => {
  expect(faultsOf({ "apps/one/src/bottom/a.ts": text })).toEqual([
    "apps/one/src/bottom/a.ts imports apps/one/src/top/a.ts: bottom may not import top, which is not below it",
    "a circle of imports: apps/one/src/bottom/a.ts → apps/one/src/top/a.ts → apps/one/src/bottom/a.ts"
  ])
})

test("an import of a neighbour is found", () => {
  expect(faultsOf({ "apps/one/src/left/a.ts": `import { top } from "../top/a.ts"` })).toEqual([
    "apps/one/src/left/a.ts imports apps/one/src/top/a.ts: left may not import top, which is not below it"
  ])
})

test("a folder within a folder is a layer of its own where the page names it", () => {
  const inner = { "apps/one/src/top/inner/a.ts": `import { top } from "../a.ts"` }
  expect(faultsOf(inner)).toEqual([])
  expect(faultsOf(inner, ["main.ts", "top left", "top/inner", "bottom"])).toEqual([
    "apps/one/src/top/inner/a.ts imports apps/one/src/top/a.ts: top/inner may not import top, which is not below it"
  ])
})

test("a circle of files within a folder is found", () => {
  expect(
    faultsOf({
      "apps/one/src/left/a.ts": `import type { B } from "./b.ts"`,
      "apps/one/src/left/b.ts": `import type { A } from "./a.ts"`
    })
  ).toEqual(["a circle of imports: apps/one/src/left/a.ts → apps/one/src/left/b.ts → apps/one/src/left/a.ts"])
})

test("a folder that the page does not name, and a name without a folder, are found", () => {
  expect(faultsOf({ "apps/one/src/new/a.ts": "" }, [...layers, "gone"])).toEqual([
    "apps/one/src/new/a.ts is in no layer: docs/architecture.md names none of its folders",
    "docs/architecture.md names apps/one/src/gone, which holds no file"
  ])
})

test("a workspace without layers is found", () => {
  expect(faultsOf({ "packages/two/src/a.ts": "" })).toEqual([
    "docs/architecture.md draws no layers of packages/two/src"
  ])
})

test("the mock knows profiles, and only its command learn knows how they are learned", () => {
  const knowing = globSync("apps/server/src/**/*.{ts,tsx}").filter((file) =>
    readFileSync(file, "utf8").includes('"@berthkit/learn/')
  )
  expect(knowing.toSorted()).toEqual(["apps/server/src/cli/learnCommand.ts", "apps/server/src/main.ts"])
})
