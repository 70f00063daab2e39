/**
 * The other clients of this machine that share an allowance file: each has a file beside it, named after its process id. Their
 * programs are known where the system has `/proc`.
 */
import { basename } from "node:path"
import { withFiles } from "@berthkit/core/client/files/StateFiles"
import { Effect } from "effect"
import type { Client } from "../../records/limits.ts"

const concurrency = 8

/** Whether another process with this id runs. */
const isRunning = (id: number): boolean => {
  if (!(id > 0) || id === process.pid) return false
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** The program of a command line, such as `berth-watch` of `node /usr/bin/berth-watch.mjs run`: none of its arguments. */
const programOf = (commandLine: string): string | null => {
  const [first = "", ...others] = commandLine.split("\0").map((word) => basename(word))
  const script = /^node(?:\.exe)?$/.test(first) ? others.find((word) => /\.[cm]?[jt]s$|^berth/.test(word)) : first
  return script === undefined || script === "" ? null : script.replace(/\.[cm]?[jt]s$/, "")
}

const clientOf = (processId: number): Effect.Effect<Client> =>
  withFiles((fs) => fs.readFile(`/proc/${processId}/cmdline`, "utf8")).pipe(
    Effect.map(programOf),
    Effect.orElseSucceed(() => null),
    Effect.map((program) => ({ processId, program }))
  )

/** The clients beside the allowance file, this process not among them. */
export const otherClients = (file: string | undefined): Effect.Effect<ReadonlyArray<Client>> =>
  file === undefined
    ? Effect.succeed([])
    : withFiles((fs) => fs.readdir(`${file}.members`)).pipe(
        Effect.orElseSucceed((): ReadonlyArray<string> => []),
        Effect.map((names) => names.filter((name) => !name.includes(".")).map((name) => Number.parseInt(name, 10))),
        Effect.flatMap((ids) => Effect.forEach(ids.filter(isRunning), clientOf, { concurrency }))
      )
