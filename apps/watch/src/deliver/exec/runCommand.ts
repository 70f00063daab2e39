/**
 * One attempt to hand an event to a program: the event is on its stdin, and exit code 0 means that it was delivered.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { Effect } from "effect"
import { delivered, failed, type Outcome } from "../Outcome.ts"
import type { ExecOptions } from "../SinkOptions.ts"

/** The program runs with the environment of the daemon, without the credentials of the service. */
const environmentWithout = (hidden: ReadonlySet<string>): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !hidden.has(name) && !/^BERTH_.*(KEY|TOKEN|SECRET)/.test(name))
  )

export const runCommand = (options: ExecOptions, json: string) =>
  Effect.callback<Outcome>((resume) => {
    const child = start(options)
    if (child instanceof Error) return resume(Effect.succeed(notRun(child)))
    child.on("error", (error) => resume(Effect.succeed(notRun(error))))
    child.on("exit", (code, signal) =>
      resume(Effect.succeed(code === 0 ? delivered : failed("refused", `it ended with ${code ?? signal}`)))
    )
    // A program that does not read its stdin is none the worse for it.
    child.stdin?.on("error", () => {}).end(`${json}\n`)
    return Effect.sync(() => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) killGroup(child.pid)
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: options.timeoutMillis,
      orElse: () =>
        Effect.succeed<Outcome>(failed("refused", `it did not end within ${options.timeoutMillis / 1000} s`))
    })
  )

const notRun = ({ message }: Error): Outcome => failed("unavailable", `it cannot be run: ${message}`)

/** Some reasons not to start a program arrive as an event, such as that there is none; others are thrown. */
const start = ({ command: [program, ...args], hiddenVariables }: ExecOptions): ChildProcess | Error => {
  const env = environmentWithout(hiddenVariables)
  try {
    // A group of its own, so that what it starts ends with it.
    return spawn(program, args, { stdio: ["pipe", "ignore", "ignore"], detached: true, env })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

const killGroup = (pid: number) => {
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // It has just ended.
  }
}
