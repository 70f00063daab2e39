/**
 * Starts a program for the user, without berth's credentials, in a way that lets berth end the program and all its
 * child processes. Without a terminal, the program gets its own process group. At a terminal, it stays in berth's
 * group, because only the foreground group can read the terminal and gets Ctrl-C; berth then finds the program's
 * processes one by one.
 */
import { type ChildProcess, spawn, spawnSync, type StdioOptions } from "node:child_process"
import { accessSync, constants as fileConstants, statSync } from "node:fs"
import { constants } from "node:os"
import { delimiter, join } from "node:path"
import { Effect } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"
import { childEnvironment } from "./childEnvironment.ts"
import { atTerminal, type Process, processes, treeOf } from "./processTable.ts"

export interface StartedProgram {
  /** Its exit code as in a shell: 128 + N if signal N ended it. Rejects if the program cannot be started. */
  readonly ended: Promise<number>
  /** Sends a signal to all of its processes. */
  readonly signal: (signal: NodeJS.Signals) => void
  /** Whether any of its processes is running. */
  readonly isRunning: () => boolean
  /** Whether the terminal sends Ctrl-C to the program directly. */
  readonly hearsTerminal: boolean
}

/**
 * A shell waits for the program, because Node does not report real-time signals (which only Linux has), so a program
 * that such a signal ended would seem to have succeeded. The shell reads the words from a pipe, because a process list
 * would show them as arguments. It ignores the signals that the program may handle, and does not print its usual
 * message about a signal.
 */
const waiter =
  'eval "set -- $(cat <&3)"; exec 3<&- 4>&2 2>/dev/null; trap : HUP INT TERM; (exec 2>&4 4>&-; exec "$@"); exit $?'

/** Whether every shell passes on a variable of this name. Some shells drop variables whose names are not plain words. */
const isKept = (name: string) => /^[A-Za-z_]\w*$/.test(name)

const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`

const isWindows = process.platform === "win32"

const canRun = (path: string): boolean => {
  try {
    accessSync(path, fileConstants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

export const cannotRun = (command: string, why: string, hint: string) =>
  new UsageFault({ message: `${command} cannot be run: ${why}.`, hint })

/** Fails if the program does not exist. */
export const ensureProgram = (command: string, hint: string): Effect.Effect<void, UsageFault> =>
  Effect.suspend(() => {
    // On Windows a command may be named without its extension.
    if (isWindows) return Effect.void
    if (command.includes("/")) {
      return canRun(command)
        ? Effect.void
        : Effect.fail(cannotRun(command, "it is not a program that you may run", hint))
    }
    const folders = (process.env["PATH"] ?? "").split(delimiter)
    return folders.some((folder) => canRun(join(folder === "" ? "." : folder, command)))
      ? Effect.void
      : Effect.fail(cannotRun(command, "it is not on the PATH", hint))
  })

/**
 * The first word of a command line, after assignments of variables. Undefined if the word may be anything other than the name or path of a
 * command.
 */
const firstWord = (command: string): string | undefined =>
  /^\s*(?:[A-Za-z_]\w*=[\w./:,@%+-]*\s+)*([\w./][\w./@%+-]*)(?=$|[\s;&|])/.exec(command)?.[1]

const shell = "/bin/sh"

/** Fails if the shell cannot parse a command line, or if its first program does not exist. Other faults show when it runs. */
export const ensureShellCommand = (command: string, what: string, hint: string): Effect.Effect<void, UsageFault> =>
  Effect.suspend(() => {
    if (isWindows) return Effect.void
    const accepts = (...args: ReadonlyArray<string>) =>
      spawnSync(shell, args, { stdio: "ignore", env: childEnvironment(process.env) }).status === 0
    const word = firstWord(command)
    const why = !accepts("-n", "-c", command)
      ? "the shell finds a syntax error in it"
      : word === undefined
        ? undefined
        : word.includes("/")
          ? canRun(word)
            ? undefined
            : `${word} is not a program that you may run`
          : accepts("-c", 'command -v "$0"', word)
            ? undefined
            : `${word} is not on the PATH`
    return why === undefined ? Effect.void : Effect.fail(cannotRun(what, why, hint))
  })

const codeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + (signal === null ? 0 : (constants.signals[signal] ?? 0))

interface ProgramOptions {
  /** Variables that the program gets in addition to the environment of berth. */
  readonly variables?: Readonly<Record<string, string>>
  /** Its stdin, stdout and stderr; default those of berth. */
  readonly stdio?: readonly ["inherit" | "ignore", "inherit" | number, "inherit" | number]
  /** Whether the program never reads from a terminal. It then always gets a process group of its own. */
  readonly isBackground?: boolean
}

/** Starts a program with arguments. The first word is the path of the program, or its name on the PATH. */
export const startProgram = (words: ReadonlyArray<string>, options: ProgramOptions = {}): StartedProgram => {
  const { isBackground = false, stdio = ["inherit", "inherit", "inherit"], variables = {} } = options
  const env = { ...childEnvironment(process.env), ...variables }
  const terminal = atTerminal()
  const isGrouped = !isWindows && (isBackground || !terminal.isControlled)
  const child =
    process.platform === "linux" ? startWaited(words, env, stdio, isGrouped) : startPlain(words, env, stdio, isGrouped)
  const { pid } = child
  const known = new Map<number, Process>()
  /** The program's running processes. At a terminal, these include processes that berth has seen before and whose parents have ended. */
  const members = (): ReadonlyArray<Process> => {
    if (pid === undefined) return []
    const all = processes()
    if (isGrouped) return all.filter(({ group }) => group === pid)
    for (const each of treeOf(pid, all)) known.set(each.pid, each)
    return all.filter((each) => known.get(each.pid)?.startedAt === each.startedAt)
  }
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject)
    child.once("exit", (code, signal) => resolve(codeOf(code, signal)))
  })
  return {
    ended,
    hearsTerminal: !isGrouped && terminal.isForeground,
    isRunning: () => members().length > 0,
    signal: (signal) => {
      if (isWindows) return void child.kill(signal)
      for (const target of isGrouped && pid !== undefined ? [-pid] : members().map((each) => each.pid)) {
        try {
          process.kill(target, signal)
        } catch {
          // The process has ended.
        }
      }
    }
  }
}

/** Runs a command line in a shell. */
export const startShell = (command: string, options: ProgramOptions): StartedProgram =>
  isWindows
    ? startProgram([process.env["ComSpec"] ?? "cmd.exe", "/d", "/s", "/c", command], options)
    : startProgram([shell, "-c", command], options)

type Starter = (
  words: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv,
  stdio: NonNullable<ProgramOptions["stdio"]>,
  isGrouped: boolean
) => ChildProcess

const startPlain: Starter = ([command = "", ...args], env, stdio, isGrouped) =>
  spawn(command, args, { stdio: [...stdio], env, detached: isGrouped })

const startWaited: Starter = (words, env, stdio, isGrouped) => {
  const lost = Object.entries(env).filter(([name, value]) => !isKept(name) && value !== undefined)
  const assigned = lost.length === 0 ? [] : ["env", ...lost.map(([name, value]) => `${name}=${value}`)]
  const all: StdioOptions = [...stdio, "pipe"]
  const child = spawn(shell, ["-c", waiter], { stdio: all, env, detached: isGrouped })
  const pipe = child.stdio[3] as NodeJS.WritableStream | undefined
  // Writing fails if the shell has already ended.
  pipe?.on("error", () => {})
  pipe?.end([...assigned, ...words].map(quoted).join(" "))
  return child
}
