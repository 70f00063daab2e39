/**
 * Every command in every format, as the bundled process in a pipe, and the same program on a terminal of the test's own: stdout is
 * data of that format and nothing else, valid by `berth schema` where it is JSON. `machine/matrix.machine.ts` runs them at real terminals.
 */
import { readFileSync } from "node:fs"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "./berth.ts"
import { invoke } from "./invoke.ts"
import { page, pagePath } from "./matrix/page.ts"
import { missingOf, runRow, Shared } from "./matrix/run.ts"
import { rows } from "./matrix/rows.ts"

describe("the rows", () => {
  it("have every command, and every record that it prints", () => {
    assert.deepStrictEqual(missingOf(rows), [])
  })

  it("are on the page as they are", () => {
    assert.strictEqual(readFileSync(pagePath, "utf8"), page(), "print it: pnpm --filter @berth/tests cli-output")
  })
})

layer(Shared.layer, { excludeTestServices: true })("in a pipe", (it) => {
  const places = { stdout: "pipe", stderr: "pipe", isPlain: true } as const
  for (const row of rows) {
    it.effect(`berth ${row.command} prints ${row.prints ?? row.kind} in every format`, () =>
      runRow(row, { places, run })
    )
  }
})

/** What needs a process: its stdin, its streams, or the end of a watch. */
const needsProcess = /^(?:auth|profile|node ssh|node watch)/

layer(Shared.layer, { excludeTestServices: true })("on a terminal", (it) => {
  const places = { stdout: "terminal", stderr: "terminal", isPlain: false } as const
  for (const row of rows.filter(({ command }) => !needsProcess.test(command))) {
    it.effect(
      `berth ${row.command} prints ${row.prints ?? row.kind} in every format, and no colours under NO_COLOR`,
      () =>
        Effect.gen(function* () {
          yield* runRow(row, { places, run: (args, { env }) => invoke(args, { env, terminalColumns: 80 }) })
          // Once more, where that changes nothing.
          if (row.notes === "lines") return
          yield* runRow(row, {
            places: { ...places, isPlain: true },
            run: (args, { env }) => invoke(args, { env: { ...env, NO_COLOR: "1" }, terminalColumns: 200 })
          })
        })
    )
  }
})
