/**
 * `berth limits`: shows how much of the rate limit is left, when it refills, and which clients use it. Sends one request, unless a client
 * that shares the limit has received it recently.
 */
import { Allowance } from "@berthkit/core/client/Allowance"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { Connection } from "@berthkit/terminal/Connection"
import { shownAddress } from "@berthkit/terminal/postgresAddress"
import { Clock, DateTime, Effect, Option } from "effect"
import { command } from "../command.ts"
import { printOne } from "../../output/print.ts"
import { type Limits, limitsRecord } from "../../records/limits.ts"
import { client, connection } from "../../settings/client.ts"
import { ensureWritable } from "../../files/ownFiles.ts"
import { countOthers, otherClients } from "./otherClients.ts"

/** How the clients share the limit, and which clients they are. */
const sharingOf = Effect.fnUntraced(function* ({ options: { allowanceFile }, stateUrl }: Connection) {
  if (stateUrl !== undefined) {
    const others = yield* Effect.option(countOthers)
    const file = Option.isSome(others) ? shownAddress(stateUrl) : null
    return { file, otherProcesses: Option.getOrElse(others, () => 0), clients: [] }
  }
  const clients = yield* otherClients(allowanceFile)
  const isShared = allowanceFile !== undefined && (yield* Effect.isSuccess(ensureWritable(allowanceFile)))
  return { file: isShared ? allowanceFile : null, otherProcesses: clients.length, clients }
})

/** The remaining requests, and the clients that share them. */
export const currentLimits = Effect.gen(function* () {
  const allowance = yield* Allowance
  const known = yield* allowance.current
  if (known.limit === null) yield* Nodes.use((nodes) => nodes.listPage({ page: 1, perPage: 1 }))
  const current = yield* allowance.current
  const sharing = yield* sharingOf(yield* connection)
  const now = yield* Clock.currentTimeMillis
  const resetAt = Option.map(Option.fromNullishOr(current.resetInMillis), (millis) =>
    DateTime.formatIso(DateTime.makeUnsafe(Math.round((now + millis) / 1000) * 1000))
  )
  return { ...current, resetAt: Option.getOrNull(resetAt), ...sharing } satisfies Limits
})

export const limits = command(
  {},
  () => Effect.flatMap(currentLimits, (record) => printOne(limitsRecord, record)),
  client
)
