/**
 * Checks the lists of suites that run, or do not run, in today's dialect. Every suite is in one of the lists, and the lists name only
 * existing suites.
 */
import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { documentedOnly, documentedSuites, otherSuitesOfWorkspaces, suites, suitesOfWorkspaces } from "../today.ts"

const root = join(import.meta.dirname, "..")
const repository = join(root, "..")

const kinds = "**/*.{test,machine,soak,browser,document,install,engine}.ts"

/** Whether an entry of a list is this file, a folder that contains it, or the end of its name. */
const covers = (entry: string) => (file: string) =>
  entry.startsWith("*") ? file.endsWith(entry.slice(1)) : entry.endsWith("/") ? file.startsWith(entry) : file === entry

it("each suite runs in both dialects, or there is one reason why it does not", () => {
  const files = globSync(kinds, { cwd: root, exclude: ["**/node_modules/**"] })
  assert.sameMembers(
    [...suites],
    Array.from(new Set(suites)).filter((file) => files.includes(file))
  )
  const entries = Object.values(documentedSuites).flat()
  for (const entry of entries) assert.isTrue(files.some(covers(entry)), `there is no ${entry}`)
  // A listed folder may contain files of a kind that is listed as well.
  const isListed = (file: string) => entries.some((entry) => covers(entry)(file))
  assert.deepStrictEqual(
    files.filter((file) => suites.includes(file) === isListed(file)),
    []
  )
})

it("each test that is left out of pnpm test:today exists, in a suite that runs there", () => {
  for (const [file, tests] of Object.entries(documentedOnly)) {
    assert.include(suites, file)
    // The matrix makes the names of its tests from its rows.
    if (file === "cli/matrix.test.ts") continue
    const text = readFileSync(join(root, file), "utf8")
    for (const name of Object.keys(tests)) assert.include(text, JSON.stringify(name).slice(1, -1), file)
  }
})

it("each suite of a workspace that runs the client against the mock starts it in both dialects", () => {
  const files = ["apps", "packages"].flatMap((folder) =>
    globSync(`${folder}/*/test/${kinds}`, { cwd: repository, exclude: ["**/node_modules/**"] })
  )
  const entries = Object.values(otherSuitesOfWorkspaces).flat()
  for (const entry of entries) assert.isTrue(files.some(covers(entry)), `there is no ${entry}`)
  for (const file of suitesOfWorkspaces) assert.include(files, file)
  assert.deepStrictEqual(
    files.filter((file) => suitesOfWorkspaces.includes(file) === entries.some((entry) => covers(entry)(file))),
    []
  )
  const textOf = (file: string) => readFileSync(join(repository, file), "utf8")
  for (const file of suitesOfWorkspaces) assert.match(textOf(file), /"today"/, file)
  // Check that the reasons are true.
  const others = files.filter((file) => !suitesOfWorkspaces.includes(file))
  for (const file of others) {
    const signs = file.startsWith("apps/server/") ? /"--probe", "--requests"/ : /@berthkit\/server|berth-server\.mjs/
    assert.notMatch(textOf(file), signs, file)
  }
})
