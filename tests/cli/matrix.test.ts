/**
 * Runs every command in every format, in a pipe and on a simulated terminal: stdout has data of that format and nothing else, and JSON is
 * valid by `berth schema`. Every third row runs once as the bundled process; otherwise the same program runs without a process. In `pnpm
 * soak` every run is a process. `machine/matrix.machine.ts` uses real terminals.
 */
import { readFileSync } from "node:fs"
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { lines, run } from "./berth.ts"
import { invoke } from "./invoke.ts"
import { page, pagePath } from "./matrix/page.ts"
import { argsIn, missingOf, runRow, Shared } from "./matrix/run.ts"
import { type Format, formats, type Row, rows } from "./matrix/rows.ts"

describe("the rows", () => {
  it("have every command, and every record that it prints", () => {
    assert.deepStrictEqual(missingOf(rows), [])
  })

  it("are on the page as they are", () => {
    assert.strictEqual(readFileSync(pagePath, "utf8"), page(), "print it: pnpm --filter @berthkit/tests cli-output")
  })
})

/** Whether a row needs a process, because it uses stdin or real streams, or because a watch has to be ended. */
const needsProcess = ({ args, command }: Row): boolean =>
  /^(?:auth|profile|node ssh|node watch)/.test(command) || (command === "run" && !args("").includes("--dry-run"))

/** Whether a row needs nodes that runs have kept, which only a run as a process can prepare. */
const needsRun = ({ command }: Row): boolean => command === "reap"

layer(Shared.layer, { excludeTestServices: true })("in a pipe", (it) => {
  const places = { stdout: "pipe", stderr: "pipe", isPlain: true } as const
  for (const [index, row] of rows.entries()) {
    const areProcesses = isSoak || needsProcess(row)
    const isProcess = (format: Format) =>
      areProcesses || (index % 3 === 0 && format === formats[(index / 3) % formats.length])
    it.effect(`berth ${row.command} prints ${row.prints ?? row.kind} in every format`, () =>
      runRow(row, { places, run: (args, options) => (isProcess(options.format) ? run : invoke)(args, options) })
    )
  }
})

layer(Shared.layer, { excludeTestServices: true })("on a terminal", (it) => {
  const places = { stdout: "terminal", stderr: "terminal", isPlain: false } as const
  for (const [index, row] of rows.filter((row) => !needsProcess(row) && !needsRun(row)).entries()) {
    it.effect(
      `berth ${row.command} prints ${row.prints ?? row.kind} in every format, and no colours under NO_COLOR`,
      () =>
        Effect.gen(function* () {
          yield* runRow(row, { places, run: (args, { env }) => invoke(args, { env, terminalColumns: 80 }) })
          // Runs the row once more, if that changes nothing. Outside `pnpm soak` only every third row runs again.
          if (row.notes === "lines" || (!isSoak && index % 3 !== 0)) return
          yield* runRow(row, {
            places: { ...places, isPlain: true },
            run: (args, { env }) => invoke(args, { env: { ...env, NO_COLOR: "1" }, terminalColumns: 200 })
          })
        })
    )
  }
})

/** Whether a row sends no request to the service. */
const isLocal = ({ command }: Row): boolean =>
  /^(?:profile|completion|schema|auth log|auth token|fleet list|fleet forget|reap|history)/.test(command)

/** Commands that print their findings before they fail. */
const findings = new Set(["doctor", "auth status"])

layer(Shared.layer, { excludeTestServices: true })("a failure", (it) => {
  for (const row of rows.filter(({ command }, at) => rows.findIndex((each) => each.command === command) === at)) {
    it.effect(`of berth ${row.command} is reported alone on stderr, as JSON where that is asked for`, () =>
      Effect.gen(function* () {
        const { environmentOf, error, schemas } = yield* Shared
        const command = row.command.split(" ")
        for (const format of formats) {
          const { code, stderr, stdout } = yield* invoke([...command, "--frobnicate", "-o", format])
          assert.deepStrictEqual([code, stdout], [2, ""])
          if (format === "json" || format === "ndjson") error(JSON.parse(stderr), stderr)
          else assert.match(stderr, /^error: .+\nhint: .+\n$/)
        }
        if (isLocal(row)) return
        // Without these folders nothing is cached about the account yet. The profile is the same for each format.
        const { XDG_CACHE_HOME: _, XDG_STATE_HOME: __, ...bare } = environmentOf("json")
        const state = row.fleet === true ? { XDG_STATE_HOME: `${environmentOf("json").XDG_STATE_HOME}-spare` } : {}
        const env = { ...bare, ...state, BERTH_ACCESS_TOKEN: "another" }
        const args = argsIn(row, "spare", environmentOf("json"))
        const { code, stderr, stdout } = yield* invoke([...command, "-o", "json", ...args], { env })
        assert.strictEqual(code, 3, stderr)
        assert.lengthOf(lines(stderr), 1)
        error(JSON.parse(stderr), stderr)
        if (findings.has(row.command)) schemas.get(row.command)!(JSON.parse(stdout), stdout)
        // For berth api every reply is data, even the reply of a failure.
        else if (row.command === "api") assert.isObject(JSON.parse(stdout))
        else assert.strictEqual(stdout, "")
      })
    )
  }
})
