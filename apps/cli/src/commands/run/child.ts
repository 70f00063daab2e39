/**
 * Runs the command of `berth run` with the streams of this process and without berth's credentials. The command and all its child
 * processes end before the node is deleted, even if the run fails or is interrupted.
 */
import { Effect, Fiber } from "effect"
import { LocalFileFault, type UsageFault } from "../../failure/CliFailure.ts"
import { cannotRun, ensureProgram, startProgram } from "../../settings/startProgram.ts"

/** The signals that end a run; berth passes them on. */
const signals = ["SIGINT", "SIGHUP", "SIGTERM"] as const

/** How long a command may take to end after a signal. It is short because systems that cancel a job kill everything after ten seconds. */
const graceMillis = 5000

/** How often to check whether the command's processes are still running. */
const pollMillis = 50

const hint = "Correct the command after --."

/** Fails if the program does not exist, before a node is created for it. */
export const ensureCommand = (command: string): Effect.Effect<void, UsageFault> => ensureProgram(command, hint)

/** Runs the command until it ends. If a signal ended it, the code is the one that a shell would return. */
export const runCommand = (
  words: ReadonlyArray<string>,
  variables: Readonly<Record<string, string>>
): Effect.Effect<number, UsageFault | LocalFileFault> =>
  Effect.callback<number, UsageFault | LocalFileFault>((resume) => {
    const program = startProgram(words, { variables })
    let isEnded = false
    let received = 0
    let last: NodeJS.Signals = "SIGTERM"
    const listeners = signals.map((signal) => {
      const listener = () => {
        last = signal
        // A second signal means that the user does not want to wait.
        if (++received > 1) program.signal("SIGKILL")
      }
      process.prependListener(signal, listener)
      return () => process.off(signal, listener)
    })
    const end = () => {
      isEnded = true
      for (const remove of listeners) remove()
    }
    const ended = program.ended.then(
      (code) => {
        if (!isStopping) end()
        resume(Effect.succeed(code))
      },
      (error: Error) => {
        end()
        // The node already exists, so this is not a usage error.
        const { message, hint: remedy } = cannotRun(words[0] ?? "", error.message, hint)
        resume(Effect.fail(new LocalFileFault({ path: words[0] ?? "", message, hint: remedy })))
      }
    )

    let isStopping = false
    const stop = Effect.gen(function* () {
      if (isEnded) return
      isStopping = true
      // Ctrl-C at a terminal reaches the command directly. If berth sent it again, many programs would take it for a second Ctrl-C.
      if (last !== "SIGINT" || !program.hearsTerminal) program.signal(last)
      for (let waited = 0; waited < graceMillis && program.isRunning(); waited += pollMillis)
        yield* Effect.sleep(pollMillis)
      program.signal("SIGKILL")
      yield* Effect.promise(() => ended)
      end()
    })
    // Detached, so that a second signal cannot interrupt it.
    return Effect.flatMap(Effect.forkDetach(stop), Fiber.await)
  })
