/**
 * The program that started this one: it learns where the server is from a line on stdout, and its end shows by the end of stdin.
 */
import { fstatSync } from "node:fs"
import { Effect } from "effect"

/**
 * Prints the line by which a starter learns where the server is. Fails with the code of the system, such as `ENOSPC`: where it cannot be
 * written, as on a full disk, the starter would wait for it for ever.
 */
export const printReadyLine = (line: string): Effect.Effect<void, string> =>
  Effect.callback((resume) => {
    const fail = (error: NodeJS.ErrnoException) => resume(Effect.fail(error.code ?? error.message))
    // Emitted beside the callback; without a listener it would end the process.
    process.stdout.on("error", fail)
    process.stdout.write(`${line}\n`, (error) => (error ? fail(error) : resume(Effect.void)))
  })

/** Whether another program holds the other end of stdin. A file, `/dev/null` and a terminal show no such thing. */
export const isStdinPipe = (): boolean => {
  const stdin = fstatSync(0)
  return stdin.isFIFO() || stdin.isSocket()
}

/**
 * Done when stdin has ended: a pipe ends with the process that holds its other end, also when that is killed. What comes on it is not used.
 */
export const stdinEnd: Effect.Effect<void> = Effect.callback((resume) => {
  const end = () => resume(Effect.void)
  process.stdin.once("end", end).once("error", end).once("close", end).resume()
  return Effect.sync(() => void process.stdin.destroy())
})
