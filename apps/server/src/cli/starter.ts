/**
 * Communicates with the program that started the server. A line on stdout tells that program the server's address, and
 * the end of stdin tells the server that the program has ended.
 */
import { fstatSync } from "node:fs"
import { Effect } from "effect"

/**
 * Prints the line that tells the starter where the server is. If stdout cannot be written, fails with the system's
 * error code, such as `ENOSPC`, because the starter would otherwise wait indefinitely.
 */
export const printReadyLine = (line: string): Effect.Effect<void, string> =>
  Effect.callback((resume) => {
    const fail = (error: NodeJS.ErrnoException) => resume(Effect.fail(error.code ?? error.message))
    // Node also emits the error as an event, and ends the process if nobody listens to it.
    process.stdout.on("error", fail)
    process.stdout.write(`${line}\n`, (error) => (error ? fail(error) : resume(Effect.void)))
  })

/** Whether stdin is a pipe from another program, and not a file, `/dev/null` or a terminal. */
export const isStdinPipe = (): boolean => {
  const stdin = fstatSync(0)
  return stdin.isFIFO() || stdin.isSocket()
}

/**
 * Completes when stdin ends, and ignores what it reads. A pipe ends when the process at its other end has ended, even if
 * that process was killed.
 */
export const stdinEnd: Effect.Effect<void> = Effect.callback((resume) => {
  const end = () => resume(Effect.void)
  process.stdin.once("end", end).once("error", end).once("close", end).resume()
  return Effect.sync(() => void process.stdin.destroy())
})
