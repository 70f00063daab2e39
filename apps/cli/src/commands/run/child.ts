/**
 * The command of `berth run` as a process: with the streams of this one and without the credentials of berth. It ends before its node goes,
 * whatever ends the run.
 */
import { spawn } from "node:child_process"
import { accessSync, constants as fileConstants, statSync } from "node:fs"
import { delimiter, join } from "node:path"
import { Effect, Fiber } from "effect"
import { UsageFault } from "../../failure/CliFailure.ts"
import { childEnvironment, shellCode } from "../../settings/childEnvironment.ts"

/** What ends a run; berth passes it on. */
const signals = ["SIGINT", "SIGHUP", "SIGTERM"] as const

/** Whether Ctrl-C comes from a terminal: also where one of the streams is redirected. */
const isAtTerminal = () => [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)

/** So long a command may take to end by itself after a signal: systems that cancel a job kill all of it in ten seconds. */
const grace = "5 seconds"

const canRun = (path: string): boolean => {
  try {
    accessSync(path, fileConstants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

const cannotRun = (command: string, why: string) =>
  new UsageFault({ message: `${command} cannot be run: ${why}.`, hint: "Correct the command after --." })

/** Fails where there is no such program: before a node is created for it. */
export const ensureCommand = (command: string): Effect.Effect<void, UsageFault> =>
  Effect.suspend(() => {
    // There a command may lack its extension.
    if (process.platform === "win32") return Effect.void
    if (command.includes("/")) {
      return canRun(command) ? Effect.void : Effect.fail(cannotRun(command, "it is not a program that you may run"))
    }
    const folders = (process.env["PATH"] ?? "").split(delimiter)
    return folders.some((folder) => canRun(join(folder === "" ? "." : folder, command)))
      ? Effect.void
      : Effect.fail(cannotRun(command, "it is not on the PATH"))
  })

/** Runs the command to its end; the code is that of a shell where a signal has ended it. */
export const runCommand = (
  [command = "", ...args]: ReadonlyArray<string>,
  variables: Readonly<Record<string, string>>
): Effect.Effect<number, UsageFault> =>
  Effect.callback<number, UsageFault>((resume) => {
    const child = spawn(command, args, { stdio: "inherit", env: { ...childEnvironment(process.env), ...variables } })
    const ended = Promise.withResolvers<void>()
    let isEnded = false
    let received = 0
    let last: NodeJS.Signals = "SIGTERM"
    const listeners = signals.map((signal) => {
      const listener = () => {
        last = signal
        // Whoever asks twice does not want to wait.
        if (++received > 1) child.kill("SIGKILL")
      }
      process.prependListener(signal, listener)
      return () => process.off(signal, listener)
    })
    const end = () => {
      isEnded = true
      for (const remove of listeners) remove()
      ended.resolve()
    }
    child.once("error", (error) => {
      end()
      resume(Effect.fail(cannotRun(command, error.message)))
    })
    child.once("exit", (code, signal) => {
      end()
      resume(Effect.succeed(shellCode(code, signal)))
    })

    const stop = Effect.gen(function* () {
      if (isEnded) return
      // Ctrl-C at a terminal has reached the command by itself: twice it would mean something else to many programs.
      if (last !== "SIGINT" || !isAtTerminal()) child.kill(last)
      const kill = Effect.andThen(
        Effect.sync(() => child.kill("SIGKILL")),
        Effect.promise(() => ended.promise)
      )
      yield* Effect.timeoutOrElse(
        Effect.promise(() => ended.promise),
        { duration: grace, orElse: () => kill }
      )
    })
    // In a fiber of its own, which no further signal interrupts.
    return Effect.flatMap(Effect.forkDetach(stop), Fiber.await)
  })
