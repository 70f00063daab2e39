/**
 * The command of `berth run`, with the streams of this process and without the credentials of berth. Whatever ends the run, the command and
 * everything it has started end before the node is deleted.
 */
import { Effect, Fiber } from "effect"
import { LocalFileFault, type UsageFault } from "../../failure/CliFailure.ts"
import { cannotRun, ensureProgram, startProgram } from "../../settings/startProgram.ts"

/** What ends a run; berth passes it on. */
const signals = ["SIGINT", "SIGHUP", "SIGTERM"] as const

/** So long a command may take to end by itself after a signal: systems that cancel a job kill all of it in ten seconds. */
const graceMillis = 5000

/** How often to check whether its processes still run. */
const pollMillis = 50

const hint = "Correct the command after --."

/** Fails where there is no such program: before a node is created for it. */
export const ensureCommand = (command: string): Effect.Effect<void, UsageFault> => ensureProgram(command, hint)

/** Runs the command to its end; the code is that of a shell where a signal has ended it. */
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
        // Whoever asks twice does not want to wait.
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
        // The node exists by now, so this is no longer a usage error.
        const { message, hint: remedy } = cannotRun(words[0] ?? "", error.message, hint)
        resume(Effect.fail(new LocalFileFault({ path: words[0] ?? "", message, hint: remedy })))
      }
    )

    let isStopping = false
    const stop = Effect.gen(function* () {
      if (isEnded) return
      isStopping = true
      // Ctrl-C at a terminal has reached the command by itself: twice it would mean something else to many programs.
      if (last !== "SIGINT" || !program.hearsTerminal) program.signal(last)
      for (let waited = 0; waited < graceMillis && program.isRunning(); waited += pollMillis)
        yield* Effect.sleep(pollMillis)
      program.signal("SIGKILL")
      yield* Effect.promise(() => ended)
      end()
    })
    // In a fiber of its own, which no further signal interrupts.
    return Effect.flatMap(Effect.forkDetach(stop), Fiber.await)
  })
