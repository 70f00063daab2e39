/** Every command in every format, with stdout or stderr at a real terminal. Needs Linux, because its `script` makes the terminal. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Ended, Program } from "@berthkit/testing/Program"
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { runRow, type Runner, Shared } from "../matrix/run.ts"
import { type Format, rows } from "../matrix/rows.ts"

const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))

const quoted = (argument: string) => `'${argument.replaceAll("'", `'\\''`)}'`

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-terminal-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** Runs berth with one of its streams at a terminal that is wide enough for every column, and the other in a file. */
const atTerminal =
  (stream: "stdout" | "stderr", more: Record<string, string> = {}): Runner<never> =>
  (args, { env, input = "" }) =>
    Effect.gen(function* () {
      const path = yield* folder
      const [stdin, file] = [join(path, "stdin"), join(path, "other")]
      yield* Effect.promise(() => writeFile(stdin, input))
      const away = stream === "stdout" ? `2> ${quoted(file)}` : `> ${quoted(file)}`
      const words = [process.execPath, binary, ...args].map(quoted).join(" ")
      const command = `stty cols 300 rows 30 -onlcr; exec ${words} < ${quoted(stdin)} ${away}`
      const terminal = yield* Program.start(
        () =>
          new Program("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
            env: { ...env, TERM: "xterm", ...more },
            isInputOpen: true
          })
      )
      const { code, stdout: shown } = yield* Effect.promise(() => terminal.ended)
      const other = yield* Effect.promise(() => readFile(file, "utf8"))
      const ended: Ended =
        stream === "stdout" ? { code, stdout: shown, stderr: other } : { code, stdout: other, stderr: shown }
      return ended
    }).pipe(Effect.scoped)

interface Case {
  readonly title: string
  readonly stream: "stdout" | "stderr"
  readonly env?: Record<string, string>
  readonly asked?: ReadonlyArray<Format>
}

const cases: ReadonlyArray<Case> = [
  { title: "with stdout on a terminal", stream: "stdout" },
  { title: "with stdout on a terminal under NO_COLOR", stream: "stdout", env: { NO_COLOR: "1" }, asked: ["table"] },
  // On stderr, formats differ only in whether errors are JSON.
  { title: "with stderr on a terminal", stream: "stderr", asked: ["table", "json"] }
]

for (const { asked, env, stream, title } of cases) {
  layer(Shared.layer, { excludeTestServices: true })(title, (it) => {
    const places = {
      stdout: stream === "stdout" ? "terminal" : "pipe",
      stderr: stream === "stderr" ? "terminal" : "pipe",
      isPlain: env !== undefined
    } as const
    const suite = { places, run: atTerminal(stream, env), ...(asked && { asked }) }
    for (const row of rows) {
      it.effect(`berth ${row.command} prints ${row.prints ?? row.kind}`, () => runRow(row, suite))
    }
  })
}
