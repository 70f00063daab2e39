/**
 * A process that makes calls with one client (`clients/caller.ts`), so that its CPU time is the cost of these calls alone.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

export interface Caller {
  /** Makes that many calls, eight at a time; returns the CPU time per call in microseconds. */
  readonly cpuPerCall: (calls: number) => Promise<number>
  readonly stop: () => Promise<void>
}

const program = fileURLToPath(new URL("clients/caller.ts", import.meta.url))

/** Starts a caller; `args` are those of `clients/caller.ts`. */
export const startCaller = (...args: ReadonlyArray<string>): Caller => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"] })
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    cpuPerCall: async (calls) => {
      child.stdin.write(`${calls}\n`)
      const { done, value } = await lines.next()
      if (done === true) throw new Error(`the caller ${args.join(" ")} ended`)
      return Number(value)
    },
    stop: () => {
      child.stdin.end()
      return exited
    }
  }
}
