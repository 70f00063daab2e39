/**
 * The real `berth`, bundled, as a process of its own, against a service on a real socket.
 */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
// @boundaries-ignore the mock service is what the tests talk to
import { TestServer } from "@berth/server/testing"
import { Effect, Redacted } from "effect"

const binary = fileURLToPath(new URL("../bin/berth.mjs", import.meta.url))

/** How a run ended. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A run that goes on. */
export interface Running {
  readonly pid: number
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Waits until stderr holds the text. Dies when the process ends without it. */
  readonly untilStderr: (text: string) => Effect.Effect<void>
  /** Reads no more of stdout. */
  readonly hangUp: Effect.Effect<void>
  readonly ended: Effect.Effect<Ended>
}

/** What a run is given. */
export interface RunOptions {
  /** Variables besides PATH; undefined takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What is on stdin. Default: nothing. */
  readonly input?: string
}

/** Starts it; it is gone when the scope closes, whatever the test did. */
export const start = (args: ReadonlyArray<string>, options: RunOptions = {}) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const { PATH } = process.env
        const child = spawn(process.execPath, [binary, ...args], { env: { PATH, ...options.env }, stdio: "pipe" })
        let stdout = ""
        let stderr = ""
        child.stdin.end(options.input ?? "")
        child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text))
        child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text))
        const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })))
        const untilStderr = (text: string) =>
          new Promise<void>((resolve, reject) => {
            const check = () => stderr.includes(text) && resolve()
            child.stderr.on("data", check)
            check()
            ended.then(() => reject(new Error(`ended without ${text} on stderr: ${stderr}`)), reject)
          })
        return { child, ended, untilStderr }
      }),
      ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
    ),
    ({ child, ended, untilStderr }): Running => ({
      pid: child.pid ?? 0,
      kill: (signal) => Effect.sync(() => child.kill(signal)),
      untilStderr: (text) => Effect.promise(() => untilStderr(text)),
      hangUp: Effect.sync(() => child.stdout.destroy()),
      ended: Effect.promise(() => ended)
    })
  )

/** Runs it to its end. */
export const run = (args: ReadonlyArray<string>, options?: RunOptions): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(start(args, options), ({ ended }) => ended))

/** The settings that name an account of the service under test. */
export const settings = Effect.map(TestServer, ({ accessToken, apiKey, baseUrl }) => ({
  BERTH_BASE_URL: baseUrl,
  BERTH_API_KEY: Redacted.value(apiKey),
  BERTH_ACCESS_TOKEN: Redacted.value(accessToken)
}))

/** Runs it against the service under test. */
export const berth = (args: ReadonlyArray<string>, options?: RunOptions): Effect.Effect<Ended, never, TestServer> =>
  Effect.flatMap(settings, (env) => run(args, { ...options, env: { ...env, ...options?.env } }))

/** The JSON that a run printed. */
export const json = <A>({ stdout }: Ended): A => JSON.parse(stdout)

/** The lines of a text, without the empty one after the last. */
export const lines = (text: string): ReadonlyArray<string> => text.split("\n").slice(0, -1)

/** Any control character but the line feed. */
// oxlint-disable-next-line no-control-regex
export const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/
