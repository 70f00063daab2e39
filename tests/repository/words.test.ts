/** Tests the check of the vocabulary, with files made for the test. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { wordFaults } from "@berthkit/scripts/words"

/** The faults of a repository that has this text in one file. */
const faultsOf = (text: string, path = "apps/one/src/a.ts") => {
  const root = mkdtempSync(join(tmpdir(), "berth-words-"))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  return wordFaults(root)
}

/** The words that the check finds, without their places and the advice. */
const wordsOf = (...args: Parameters<typeof faultsOf>) => faultsOf(...args).map((fault) => fault.split('"')[1])

test("plain words pass", () => {
  expect(faultsOf("/** Reads the node and reports its status. */\nexport const readNode = 1\n")).toEqual([])
})

test("a fault names file, line, word and what to write", () => {
  expect(faultsOf("// The namesake.\n\n// The keyring.\n")).toEqual([
    'apps/one/src/a.ts:1: "namesake" (write: same-name nodes, duplicates)',
    'apps/one/src/a.ts:3: "keyring" (write: credential index)'
  ])
})

test.each([
  ["a comment", "// A namesake waits.", "namesake"],
  ["a message", "const message = `The namesake is ${limit}.`", "namesake"],
  ["a test title", `test("a blind pause ends", () => {})`, "blind pause"],
  ["a camelCase name", "const namesakeBefore = 1", "namesake"],
  ["the middle of a name", "const nodesNamesakeGone = 1", "Namesake"],
  ["the start of a type name", "class KeyringEntry {}", "Keyring"],
  ["two words of a name", "const rowText = 1", "row Text"]
])("a word to avoid is found in %s", (_, text, word) => {
  expect(wordsOf(text)).toEqual([word])
})

test.each([
  ["a limit that begins with its superlative", "const longestWait = 1", "longestWait"],
  ["milliseconds in short", "const waitMs = 1", "waitMs"],
  ["the old name of the monotonic clock", "const upMillis = 1", "upMillis"]
])("a name to avoid is found: %s", (_, text, name) => {
  expect(wordsOf(text)).toEqual([name])
})

test("a line with words of two rules has two faults", () => {
  expect(wordsOf("// The keyring of a namesake.")).toEqual(["namesake", "keyring"])
})

test.each([
  ["an ordinary word", "// Nobody says so: look, ask, tell others what was settled."],
  ["a longer word", "// The namesakery of a quotable resettlement."],
  ["a superlative in prose", "// The longest wait, the most requests."],
  ["a name with `max` and the unit last", "const maxWaitMillis = 1"],
  ["a name of Node's", "const { mtimeMs } = stat; Math.round(x); await Promise.allSettled(all)"],
  ["a name of npm's", `const key = "peerDependencies"`]
])("%s passes", (_, text) => {
  expect(faultsOf(text)).toEqual([])
})

test.each([
  "README.md",
  "docs/page.md",
  "docs/decisions/README.md",
  "apps/one/README.md",
  "apps/one/src/deep/below/a.ts",
  "apps/one/src/page/page.html",
  "packages/two/test/a.test.ts",
  "packages/two/examples/a.ts",
  "bench/src/rows/a.ts",
  "scripts/a.ts",
  "tests/core/a.test.ts"
])("%s is checked", (path) => {
  expect(wordsOf("keyring", path)).toEqual(["keyring"])
})

test.each(["docs/glossary.md", "docs/interface/interface.md", "scripts/words.ts", "tests/repository/words.test.ts"])(
  "%s is not checked, because it quotes",
  (path) => {
    expect(faultsOf("keyring", path)).toEqual([])
  }
)

test.each(["apps/one/src/node_modules/a.ts", "apps/one/src/dist/a.ts"])("%s is not ours", (path) => {
  expect(faultsOf("keyring", path)).toEqual([])
})
