// `pnpm test`: runs the static checks at the same time as the tests, because the tests spend half of their time waiting.
// Arguments go to Vitest.
import { type SpawnOptions, spawn } from "node:child_process"
import { once } from "node:events"

// `check:all` checks the types of all workspaces as one program, in two thirds of the time of `check`, which checks each alone. It has one
// checker, because each further one checks the shared types again and takes processors from the tests.
const checks = ["check:all", "check:page", "lint", "format:check", "unused", "versions", "boundaries", "layers"]

/** Runs a program. Returns whether it ended with exit code 0, and what it printed (nothing if it inherits our output). */
const run = async (program: string, args: ReadonlyArray<string>, options: SpawnOptions) => {
  const child = spawn(program, args, options)
  const printed: Array<Buffer> = []
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data: Buffer) => void printed.push(data))
  const [code] = (await once(child, "close")) as [number | null]
  return { isGood: code === 0, printed: Buffer.concat(printed) }
}

const [checked, tested] = await Promise.all([
  run("turbo", ["run", ...checks, "--continue", "--output-logs=errors-only"], {
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "pipe", "pipe"]
  }),
  run("vitest", ["run", "--project", "unit", ...process.argv.slice(2)], { stdio: "inherit" })
])
// The checks are printed last, because people read the end first.
process.stdout.write(checked.printed)
process.exitCode = checked.isGood && tested.isGood ? 0 : 1
