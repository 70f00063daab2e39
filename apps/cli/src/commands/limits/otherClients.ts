/**
 * Finds the other clients that share the account's allowance (its share of the rate limit): through the database that
 * `BERTH_STATE_URL` names, or through files on this machine, one per process and named after its id. Their programs are known on
 * systems with `/proc`.
 */
import { basename } from "node:path"
import { AllowanceStore } from "@berthkit/core/client/allowance/AllowanceStore"
import { withFiles } from "@berthkit/core/client/files/StateFiles"
import { Effect } from "effect"
import type { Client } from "../../records/limits.ts"

const withinMillis = 4000

/** The number of other clients in the database. Fails if the database cannot be used. */
export const countOthers = Effect.gen(function* () {
  const open = yield* AllowanceStore
  if (open === undefined) return 0
  const store = yield* open
  const { count } = yield* Effect.ensuring(store.meet(withinMillis), store.leave)
  // This command counts as a client too.
  return Math.max(0, count - 1)
})

const concurrency = 8

/** Whether another process with this id is running. */
const isRunning = (id: number): boolean => {
  if (!(id > 0) || id === process.pid) return false
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** The program of a command line without its arguments, such as `berth-watch` for `node /usr/bin/berth-watch.mjs run`. */
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

/** The clients with a file next to the allowance file, except this process. */
export const otherClients = (file: string | undefined): Effect.Effect<ReadonlyArray<Client>> =>
  file === undefined
    ? Effect.succeed([])
    : withFiles((fs) => fs.readdir(`${file}.members`)).pipe(
        Effect.orElseSucceed((): ReadonlyArray<string> => []),
        Effect.map((names) => names.filter((name) => !name.includes(".")).map((name) => Number.parseInt(name, 10))),
        Effect.flatMap((ids) => Effect.forEach(ids.filter(isRunning), clientOf, { concurrency }))
      )
