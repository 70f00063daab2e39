/**
 * `berth limits`: what is left of the rate limit, when it refills, and which clients of this machine use it. Costs one request where
 * no client of this machine has learnt it lately.
 */
import { Allowance } from "@berth/core/client/Allowance"
import { Nodes } from "@berth/core/client/Nodes"
import { Clock, DateTime, Effect, Option } from "effect"
import { command } from "../command.ts"
import { printOne } from "../../output/print.ts"
import { limitsRecord } from "../../records/limits.ts"
import { client, connection } from "../../settings/client.ts"
import { ensureWritable } from "../../settings/ensureWritable.ts"
import { otherClients } from "./otherClients.ts"

export const limits = command(
  {},
  Effect.fnUntraced(function* () {
    const allowance = yield* Allowance
    const known = yield* allowance.current
    if (known.limit === null) yield* Nodes.use((nodes) => nodes.listPage({ page: 1, perPage: 1 }))
    const current = yield* allowance.current
    const { options } = yield* connection
    const { allowanceFile } = options
    const clients = yield* otherClients(allowanceFile)
    const isShared = allowanceFile !== undefined && (yield* Effect.isSuccess(ensureWritable(allowanceFile)))
    const now = yield* Clock.currentTimeMillis
    const resetAt = Option.map(Option.fromNullishOr(current.resetInMillis), (millis) =>
      DateTime.formatIso(DateTime.makeUnsafe(Math.round((now + millis) / 1000) * 1000))
    )
    yield* printOne(limitsRecord, {
      ...current,
      resetAt: Option.getOrNull(resetAt),
      file: isShared ? allowanceFile : null,
      otherProcesses: clients.length,
      clients
    })
  }),
  client
)
