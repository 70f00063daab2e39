/**
 * The program that started this one. A line on stdout tells it where the server is, and the end of stdin tells the server that
 * it has ended.
 */
import { fstatSync } from "node:fs"
import { Effect } from "effect"

/**
 * Prints the line that tells a starter where the server is. Fails with the system's error code, such as `ENOSPC` on a full
 * disk: without the line the starter would wait for ever.
 */
export const printReadyLine = (line: string): Effect.Effect<void, string> =>
  Effect.callback((resume) => {
    const fail = (error: NodeJS.ErrnoException) => resume(Effect.fail(error.code ?? error.message))
    // Node also emits the error as an event, which would end the process if nobody listened.
    process.stdout.on("error", fail)
    process.stdout.write(`${line}\n`, (error) => (error ? fail(error) : resume(Effect.void)))
  })

/** Whether stdin is a pipe that another program holds open, and not a file, `/dev/null` or a terminal. */
export const isStdinPipe = (): boolean => {
  const stdin = fstatSync(0)
  return stdin.isFIFO() || stdin.isSocket()
}

/**
 * Completes when stdin ends. A pipe ends with the process at its other end, even if that process is killed. Input is ignored.
 */
export const stdinEnd: Effect.Effect<void> = Effect.callback((resume) => {
  const end = () => resume(Effect.void)
  process.stdin.once("end", end).once("error", end).once("close", end).resume()
  return Effect.sync(() => void process.stdin.destroy())
})
