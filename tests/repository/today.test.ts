/** The list of tests that are left out in today's dialect names tests that there are. */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { documentedOnly, suites } from "../today.ts"

it("each test that is left out of pnpm test:today exists, in a suite that runs there", () => {
  for (const [file, tests] of Object.entries(documentedOnly)) {
    assert.include(suites, file)
    // The names of the matrix are made of its rows.
    if (file === "cli/matrix.test.ts") continue
    const text = readFileSync(join(import.meta.dirname, "..", file), "utf8")
    for (const name of Object.keys(tests)) assert.include(text, JSON.stringify(name).slice(1, -1), file)
  }
})
