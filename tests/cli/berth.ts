/** The real, bundled `berth` as a separate process against a service on a real socket. */
import { fileURLToPath } from "node:url"
import { type Ended, Program, type ProgramOptions } from "@berthkit/testing/Program"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { settingsOf } from "../account.ts"

const binary = fileURLToPath(new URL("../../apps/cli/bin/berth.mjs", import.meta.url))

/** A running process. */
export interface Running {
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Waits until stderr contains the text. Dies if the process ends before. */
  readonly untilStderr: (text: string) => Effect.Effect<unknown>
  /** Waits until stdout contains the text. Dies if the process ends before. */
  readonly untilStdout: (text: string | RegExp) => Effect.Effect<unknown>
  /** Closes the reading end of stdout. */
  readonly hangUp: Effect.Effect<void>
  readonly ended: Effect.Effect<Ended>
}

/** The input of a run: variables apart from PATH, its stdin, and its working directory. */
export type RunOptions = Pick<ProgramOptions, "cwd" | "env" | "input">

/** Starts `berth`. It ends when the scope closes. */
export const start = (args: ReadonlyArray<string>, { env = {}, ...options }: RunOptions = {}) =>
  Effect.map(
    Program.start(() => Program.ofNode(binary, args, { env, ...options })),
    (program): Running => ({
      kill: (signal) => Effect.sync(() => program.signal(signal)),
      untilStderr: (text) => Effect.promise(() => program.printed(text, "stderr")),
      untilStdout: (text) => Effect.promise(() => program.printed(text, "stdout")),
      hangUp: Effect.sync(() => program.child.stdout.destroy()),
      ended: Effect.promise(() => program.ended)
    })
  )

/** Runs `berth` to its end. */
export const run = (args: ReadonlyArray<string>, options?: RunOptions): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(start(args, options), ({ ended }) => ended))

/** Runs `berth` to its end, with a stdout on a full device. */
export const runFull = (args: ReadonlyArray<string>, options: RunOptions): Effect.Effect<Ended> => {
  const command = ["-c", 'exec "$@" > /dev/full', "sh", process.execPath, binary, ...args]
  const started = Program.start(() => new Program("sh", command, options))
  return Effect.scoped(Effect.flatMap(started, (program) => Effect.promise(() => program.ended)))
}

/** The settings that name an account of the service under test. */
export const settings = Effect.map(TestServer, settingsOf)

/** Runs `berth` against the service under test. */
export const berth = (args: ReadonlyArray<string>, options?: RunOptions): Effect.Effect<Ended, never, TestServer> =>
  Effect.flatMap(settings, (env) => run(args, { ...options, env: { ...env, ...options?.env } }))

/** The JSON that a run printed. */
export const json = <A>({ stdout }: Ended): A => JSON.parse(stdout)

/** The lines of a string, without the empty line after the last one. */
export const lines = (text: string): ReadonlyArray<string> => text.split("\n").slice(0, -1)

/** Any control character except the line feed. */
export const controls = /[^\P{Cc}\n]/u
