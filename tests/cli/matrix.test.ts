/**
 * Every command in every format, as the bundled process in a pipe, and the same program on a terminal of the test's own: stdout is
 * data of that format and nothing else, valid by `berth schema` where it is JSON. `machine/matrix.machine.ts` runs them at real terminals.
 */
import { TestServer } from "@berth/server/testing"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { run } from "./berth.ts"
import { invoke } from "./invoke.ts"
import { environments, missingOf, runRow, schemas } from "./matrix/run.ts"
import { type Format, formats, rows } from "./matrix/rows.ts"
import type { Valid } from "./matrix/check.ts"

describe("the rows", () => {
  it("have every command, and every record that it prints", () => {
    assert.deepStrictEqual(missingOf(rows), [])
  })
})

/** What all rows of a suite share. */
class Shared extends Context.Service<
  Shared,
  {
    readonly environmentOf: (format: Format) => Record<string, string>
    readonly valid: ReadonlyMap<string, Valid>
  }
>()("@berth/tests/cli/matrix/Shared") {
  static readonly layer = Layer.effect(
    Shared,
    Effect.gen(function* () {
      const environment = yield* environments
      const made = new Map(
        yield* Effect.forEach(formats, (format) => Effect.map(environment(format), (env) => [format, env] as const))
      )
      return { environmentOf: (format: Format) => made.get(format)!, valid: yield* schemas }
    })
  ).pipe(Layer.provideMerge(TestServer.layer({ scenario: "small", rateLimit: { limit: 100_000 } })))
}

layer(Shared.layer, { excludeTestServices: true })("in a pipe", (it) => {
  for (const row of rows) {
    it.effect(`berth ${row.command} prints ${row.prints ?? row.kind} in every format`, () =>
      Effect.gen(function* () {
        const { environmentOf, valid } = yield* Shared
        const places = { stdout: "pipe", stderr: "pipe", isPlain: true } as const
        yield* runRow(row, places, environmentOf, valid.get(row.command), (args, options) => run(args, options))
      })
    )
  }
})

/** What needs a process: its stdin, its streams, or the end of a watch. */
const needsProcess = /^(?:auth|profile|node ssh|node watch)/

layer(Shared.layer, { excludeTestServices: true })("on a terminal", (it) => {
  for (const row of rows.filter(({ command }) => !needsProcess.test(command))) {
    it.effect(`berth ${row.command} prints ${row.prints ?? row.kind} in every format`, () =>
      Effect.gen(function* () {
        const { environmentOf, valid } = yield* Shared
        const places = { stdout: "terminal", stderr: "terminal", isPlain: false } as const
        yield* runRow(row, places, environmentOf, valid.get(row.command), (args, { env }) =>
          invoke(args, { env, terminalColumns: 80 })
        )
      })
    )
  }
})
