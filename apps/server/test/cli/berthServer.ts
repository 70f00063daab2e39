/**
 * The real `berth-server`, bundled, as a process of its own.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"

const binary = fileURLToPath(new URL("../../bin/berth-server.mjs", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  /** The one line on stdout. */
  readonly ready: { readonly url: string; readonly apiKey: string; readonly accessToken: string; readonly pid: number }
  /** Sends a signal and waits for the end. */
  readonly stop: (signal: NodeJS.Signals) => Effect.Effect<Ended>
}

/** Runs it to its end; for starts that are to fail, and for help. */
export const run = (args: ReadonlyArray<string>): Effect.Effect<Ended> =>
  Effect.callback<Ended>((resume) => {
    const child = start(args)
    child.ended.then((ended) => resume(Effect.succeed(ended)))
    return Effect.sync(() => child.process.kill("SIGKILL"))
  })

/** Starts it and waits for the ready line; it is gone when the scope closes, whatever the test did. */
export const serve = (args: ReadonlyArray<string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const child = start(args)
        return { ...child, line: await child.firstLine }
      }),
      ({ process }) => Effect.sync(() => process.kill("SIGKILL"))
    ),
    ({ ended, line, process }): Running => ({
      ready: JSON.parse(line),
      stop: (signal) =>
        Effect.promise(() => {
          process.kill(signal)
          return ended
        })
    })
  )

const start = (args: ReadonlyArray<string>) => {
  const child: ChildProcess = spawn(process.execPath, [binary, ...args], { stdio: ["ignore", "pipe", "pipe"] })
  let stdout = ""
  let stderr = ""
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  const firstLine = new Promise<string>((resolve, reject) => {
    child.stdout!.on("data", (data) => {
      stdout += data
      if (stdout.includes("\n")) resolve(stdout.slice(0, stdout.indexOf("\n")))
    })
    ended.then(({ code, stderr }) => reject(new Error(`ended with ${code} before it was ready: ${stderr}`)))
  })
  firstLine.catch(() => undefined)
  child.stderr!.on("data", (data) => {
    stderr += data
  })
  return { process: child, ended, firstLine }
}
