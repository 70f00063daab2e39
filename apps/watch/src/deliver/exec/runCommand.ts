/** One attempt to hand an event to a program: the event is on its stdin, and exit code 0 means delivered. */
import { type ChildProcess, spawn } from "node:child_process"
import { Socket } from "node:net"
import { redactor, withoutUser } from "@berthkit/core/client/transport/Redaction"
import { Effect, Option, Redacted } from "effect"
import { delivered, failed, type Outcome } from "../Health.ts"
import type { ExecOptions } from "../SinkOptions.ts"

/** Variables about the location of programs, the user, the language and the time zone. None of them holds a secret. */
const isForEveryProgram = (name: string): boolean => /^(PATH|HOME|LANG|LC_[A-Z]+|TZ)$/.test(name)

/** An allow-list, because nobody can list all variables of the daemon that hold secrets. */
const environmentFor = (variables: ReadonlyArray<string>): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => isForEveryProgram(name) || variables.includes(name))
  )

/** Only the end of stderr is kept and shown: at most this many characters. */
const maxKept = 10_000
const maxShown = 300

/** How long to wait for the end of stderr after the program has ended. Its child processes may keep stderr open indefinitely. */
const maxStderrWait = "200 millis"

/**
 * Collects the end of a program's stderr. It reads all of stderr, because otherwise a process that writes much would block or
 * fail.
 */
const collect = ({ stderr }: ChildProcess): Effect.Effect<string> => {
  if (stderr === null) return Effect.succeed("")
  let text = ""
  stderr.setEncoding("utf8").on("data", (chunk: string) => void (text = (text + chunk).slice(-maxKept)))
  // Children of the program may outlive this process, which does not wait for them.
  if (stderr instanceof Socket) stderr.unref()
  const closed = Effect.callback<void>((resume) => {
    if (stderr.closed) return resume(Effect.void)
    stderr.once("close", () => resume(Effect.void))
  })
  return Effect.map(Effect.timeoutOption(closed, maxStderrWait), () => text)
}

/** The end of a string on one line, without the secrets in the program's variables. */
const shownEnd = ({ variables }: ExecOptions, text: string): string => {
  const [first, ...rest] = variables.map((name) => process.env[name]?.trim() ?? "").filter((value) => value !== "")
  const redact =
    first === undefined
      ? (whole: string) => whole
      : redactor({ apiKey: Redacted.make(first), accessToken: Redacted.make(first) }, rest)
  const line = withoutUser(redact(text)).replaceAll(/\s+/g, " ").trim()
  return line.length > maxShown ? `…${line.slice(1 - maxShown)}` : line
}

/** Waits for the program's exit code or signal, or for the reason why it did not start. */
const ended = (child: ChildProcess) =>
  Effect.callback<number | NodeJS.Signals | Error>((resume) => {
    child.on("error", (error) => resume(Effect.succeed(error)))
    child.on("exit", (code, signal) => resume(Effect.succeed(code ?? signal!)))
  })

const attempt = Effect.fnUntraced(function* (child: ChildProcess, options: ExecOptions, json: string) {
  const stderr = collect(child)
  // A program does not have to read its stdin, so errors of this stream are ignored.
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

const notRun = ({ message }: Error): Outcome => failed("unavailable", `it could not be started: ${message}`)

/**
 * Starts the program, or returns why that failed. Some failures, such as a missing file, arrive as an event later; others are
 * thrown here.
 */
const start = ({ command: [program, ...args], variables }: ExecOptions): ChildProcess | Error => {
  const env = environmentFor(variables)
  try {
    // The command gets its own process group, so that its children end with it.
    return spawn(program, args, { stdio: ["pipe", "ignore", "pipe"], detached: true, env })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Ends a running program and all its children. */
const killGroup = ({ exitCode, pid, signalCode }: ChildProcess) => {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // The program has just ended.
  }
}
