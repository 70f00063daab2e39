/** The real, bundled `berth-server` as a separate process. */
import { fileURLToPath } from "node:url"
import { type Ended, Program } from "@berthkit/testing/Program"
import { Effect, Redacted } from "effect"
import type { Account } from "../http/service.ts"

const binary = fileURLToPath(new URL("../../bin/berth-server.mjs", import.meta.url))

interface Running {
  /** The one line on stdout. */
  readonly ready: {
    readonly url: string
    readonly apiKey: string
    readonly accessToken: string
    readonly pid: number
  }
  /** The account of its main world. */
  readonly account: Account
  /** Sends a signal and waits for the end. */
  readonly stop: (signal: NodeJS.Signals) => Effect.Effect<Ended>
}

type Variables = Readonly<Record<string, string>>

const start = (args: ReadonlyArray<string>, variables: Variables = {}) =>
  Program.start(() => Program.ofNode(binary, args, { env: { ...process.env, ...variables } }))

/** Runs the program to its end; for starts that should fail, and for help. */
export const run = (args: ReadonlyArray<string>, variables?: Variables): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(start(args, variables), ({ ended }) => Effect.promise(() => ended)))

/** Runs it to its end with a file for its stdout. */
export const runInto = (file: string, args: ReadonlyArray<string>): Effect.Effect<Ended> => {
  const command = ["-c", 'exec > "$0" && exec "$@"', file, process.execPath, binary, ...args]
  const program = Program.start(() => new Program("sh", command))
  return Effect.scoped(Effect.flatMap(program, ({ ended }) => Effect.promise(() => ended)))
}

/** Starts the server and waits for the ready line. When the scope closes, the server is gone, even if the test failed. */
export const serve = Effect.fnUntraced(function* (args: ReadonlyArray<string>, variables?: Variables) {
  const server = yield* start(args, variables)
  const line = yield* Effect.promise(() => server.printed(/^.*\n/))
  const ready: Running["ready"] = JSON.parse(line)
  const account = {
    baseUrl: ready.url,
    apiKey: Redacted.make(ready.apiKey),
    accessToken: Redacted.make(ready.accessToken)
  }
  const running: Running = { ready, account, stop: (signal) => Effect.promise(() => server.kill(signal)) }
  return running
})
