/**
 * One attempt to hand an event to a program: the event is on its stdin, and exit code 0 means that it was delivered.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { Socket } from "node:net"
import { redactor, withoutUser } from "@berthkit/core/client/transport/Redaction"
import { Effect, Option, Redacted } from "effect"
import { delivered, failed, type Outcome } from "../Health.ts"
import type { ExecOptions } from "../SinkOptions.ts"

/** Where programs are, whose they are, and in which language and time zone they write. None of these holds a secret. */
const isForEveryProgram = (name: string): boolean => /^(PATH|HOME|LANG|LC_[A-Z]+|TZ)$/.test(name)

/** An allow-list: which other variables of the daemon hold secrets nobody can list. */
const environmentFor = (variables: ReadonlyArray<string>): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => isForEveryProgram(name) || variables.includes(name))
  )

/** The characters at the end of what it wrote to stderr that are kept, and those that are shown. */
const maxKept = 10_000
const maxShown = 300

/** How long stderr may stay open after the program ended: what it started may hold it open for ever. */
const maxStderrWait = "200 millis"

/** Collects the end of what a program writes to stderr. It is read to its end, so that no process breaks by writing there. */
const collect = ({ stderr }: ChildProcess): Effect.Effect<string> => {
  if (stderr === null) return Effect.succeed("")
  let text = ""
  stderr.setEncoding("utf8").on("data", (chunk: string) => void (text = (text + chunk).slice(-maxKept)))
  // What the program started may outlive this process, which does not wait for it.
  if (stderr instanceof Socket) stderr.unref()
  const closed = Effect.callback<void>((resume) => {
    if (stderr.closed) return resume(Effect.void)
    stderr.once("close", () => resume(Effect.void))
  })
  return Effect.map(Effect.timeoutOption(closed, maxStderrWait), () => text)
}

/** The end of a text on one line, without the secrets in the variables that the program got. */
const shownEnd = ({ variables }: ExecOptions, text: string): string => {
  const [first, ...rest] = variables.map((name) => process.env[name]?.trim() ?? "").filter((value) => value !== "")
  const redact =
    first === undefined
      ? (whole: string) => whole
      : redactor({ apiKey: Redacted.make(first), accessToken: Redacted.make(first) }, rest)
  const line = withoutUser(redact(text)).replaceAll(/\s+/g, " ").trim()
  return line.length > maxShown ? `…${line.slice(1 - maxShown)}` : line
}

/** Waits for the exit code or the signal with which it ended, or for why it did not run. */
const ended = (child: ChildProcess) =>
  Effect.callback<number | NodeJS.Signals | Error>((resume) => {
    child.on("error", (error) => resume(Effect.succeed(error)))
    child.on("exit", (code, signal) => resume(Effect.succeed(code ?? signal!)))
  })

const attempt = Effect.fnUntraced(function* (child: ChildProcess, options: ExecOptions, json: string) {
  const stderr = collect(child)
  // A program that does not read its stdin is none the worse for it.
  child.stdin?.on("error", () => {}).end(`${json}\n`)
  const { timeoutMillis } = options
  const ending = Option.getOrNull(yield* Effect.timeoutOption(ended(child), timeoutMillis))
  if (ending === 0) return delivered
  if (ending instanceof Error) return notRun(ending)
  killGroup(child)
  const how = ending === null ? `it did not end within ${timeoutMillis / 1000} s` : `it ended with ${ending}`
  const said = shownEnd(options, yield* stderr)
  return failed("refused", said === "" ? how : `${how}: ${said}`)
})

export const runCommand = (options: ExecOptions, json: string): Effect.Effect<Outcome> =>
  Effect.acquireUseRelease(
    Effect.sync(() => start(options)),
    (child) => (child instanceof Error ? Effect.succeed(notRun(child)) : attempt(child, options, json)),
    (child) => Effect.sync(() => child instanceof Error || killGroup(child))
  )

const notRun = ({ message }: Error): Outcome => failed("unavailable", `it cannot be run: ${message}`)

/** Some reasons not to start a program arrive as an event, such as that there is none; others are thrown. */
const start = ({ command: [program, ...args], variables }: ExecOptions): ChildProcess | Error => {
  const env = environmentFor(variables)
  try {
    // A group of its own, so that what it starts ends with it.
    return spawn(program, args, { stdio: ["pipe", "ignore", "pipe"], detached: true, env })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Ends a program that runs, with all that it started. */
const killGroup = ({ exitCode, pid, signalCode }: ChildProcess) => {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // It has just ended.
  }
}
