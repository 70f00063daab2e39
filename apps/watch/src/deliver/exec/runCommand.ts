/**
 * One attempt to hand an event to a program: the event is on its stdin, and exit code 0 means that it was delivered.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { Effect } from "effect"
import { delivered, failed, type Outcome } from "../Health.ts"
import type { ExecOptions } from "../SinkOptions.ts"

/** Where programs are, whose they are, and in which language and time zone they write. None of these holds a secret. */
const isForEveryProgram = (name: string): boolean => /^(PATH|HOME|LANG|LC_[A-Z]+|TZ)$/.test(name)

/** An allow-list: which other variables of the daemon hold secrets nobody can list. */
const environmentFor = (variables: ReadonlyArray<string>): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => isForEveryProgram(name) || variables.includes(name))
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
const start = ({ command: [program, ...args], variables }: ExecOptions): ChildProcess | Error => {
  const env = environmentFor(variables)
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
