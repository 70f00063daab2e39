/**
 * `berth limits`: what is left of the rate limit, when it refills, and which clients of this machine use it. Costs one request where
 * no client of this machine has learnt it lately.
 */
import { Allowance } from "@berth/core/client/Allowance"
import { withFiles } from "@berth/core/client/files/StateFiles"
import { Nodes } from "@berth/core/client/Nodes"
import { Clock, DateTime, Effect, Option } from "effect"
import { Command } from "effect/cli"
import { printOne } from "../../output/print.ts"
import { limitsRecord } from "../../records/limits.ts"
import { client, connection } from "../../settings/client.ts"

/** The other processes beside the allowance file, as far as they can be counted: each has a file named after its process id. */
const processesBeside = (file: string | undefined) =>
  file === undefined
    ? Effect.succeed(0)
    : withFiles(async (fs) => {
        const names = await fs.readdir(`${file}.members`)
        return names.filter((name) => !name.includes(".") && isRunning(Number.parseInt(name, 10))).length
      }).pipe(Effect.orElseSucceed(() => 0))

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

export const limits = Command.make(
  "limits",
  {},
  Effect.fnUntraced(function* () {
    const allowance = yield* Allowance
    const known = yield* allowance.current
    if (known.limit === null) yield* Nodes.use((nodes) => nodes.listPage({ page: 1, perPage: 1 }))
    const current = yield* allowance.current
    const { options } = yield* connection
    const file = options.allowanceFile
    const now = yield* Clock.currentTimeMillis
    const resetAt = Option.map(Option.fromNullishOr(current.resetInMillis), (millis) =>
      DateTime.formatIso(DateTime.makeUnsafe(Math.round((now + millis) / 1000) * 1000))
    )
    yield* printOne(limitsRecord, {
      ...current,
      resetAt: Option.getOrNull(resetAt),
      file: file ?? null,
      otherProcesses: yield* processesBeside(file)
    })
  })
).pipe(Command.provide(client))
