/**
 * `berth plan list`: sizes and prices, as the image list has them.
 */
import { Plans } from "@berthkit/core/client/Plans"
import { Effect } from "effect"
import { command } from "../command.ts"
import { limitFlag, printLimited } from "../../output/printLimited.ts"
import { planRecord } from "../../records/plan.ts"
import { client } from "../../settings/client.ts"
import { imageFilter, imageFilterFlags } from "../../settings/imageFilter.ts"

export const list = command(
  { ...imageFilterFlags, limit: limitFlag("plans") },
  Effect.fnUntraced(function* ({ limit, ...flags }) {
    const { minCpu, minRam, plan } = flags
    const plans = yield* (yield* Plans).list({ ...imageFilter(flags), minCpu, minRam, plan })
    yield* printLimited(planRecord, plans, limit)
  }),
  client
)
