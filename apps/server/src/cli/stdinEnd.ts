/**
 * The end of the program that started this one, seen by the end of stdin: a pipe ends with the process that holds its other
 * end, also when that is killed.
 */
import { fstatSync } from "node:fs"
import { Effect } from "effect"

/** Whether another program holds the other end of stdin. A file, `/dev/null` and a terminal show no such thing. */
export const isStdinPipe = (): boolean => {
  const stdin = fstatSync(0)
  return stdin.isFIFO() || stdin.isSocket()
}

/** Done when stdin has ended. What comes on it is not used. */
export const stdinEnd: Effect.Effect<void> = Effect.callback((resume) => {
  const end = () => resume(Effect.void)
  process.stdin.once("end", end).once("error", end).once("close", end).resume()
  return Effect.sync(() => void process.stdin.destroy())
})
