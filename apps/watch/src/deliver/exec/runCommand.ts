/**
 * One attempt to hand an event to a program: the event is on its stdin, and exit code 0 means that it was delivered.
 */
import { spawn } from "node:child_process"
import { Effect } from "effect"
import { delivered, failed, type Outcome } from "../Outcome.ts"
import type { ExecOptions } from "../SinkOptions.ts"

/** The program runs with the environment of the daemon, without the credentials of the service. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^BERTH_.*(KEY|TOKEN|SECRET)/.test(name)))

export const runCommand = ({ command: [program, ...args], timeoutMillis }: ExecOptions, json: string) =>
  Effect.callback<Outcome>((resume) => {
    // A group of its own, so that what it starts ends with it.
    const child = spawn(program, args, { stdio: ["pipe", "ignore", "ignore"], detached: true, env: environment() })
    child.on("error", ({ message }) => resume(Effect.succeed(failed("unavailable", `it cannot be run: ${message}`))))
    child.on("exit", (code, signal) =>
      resume(Effect.succeed(code === 0 ? delivered : failed("refused", `it ended with ${code ?? signal}`)))
    )
    // A program that does not read its stdin is none the worse for it.
    child.stdin.on("error", () => {}).end(`${json}\n`)
    return Effect.sync(() => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) killGroup(child.pid)
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: timeoutMillis,
      orElse: () => Effect.succeed<Outcome>(failed("refused", `it did not end within ${timeoutMillis / 1000} s`))
    })
  )

const killGroup = (pid: number) => {
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // It has just ended.
  }
}
