/**
 * `berth plan list`: sizes and prices, as the image list has them.
 */
import { Plans } from "@berth/core/client/Plans"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { printAll } from "../../output/print.ts"
import { planOf, planRecord } from "../../records/plan.ts"
import { client } from "../../settings/client.ts"
import { imageFilter, imageFilterFlags, ofPlan } from "../../settings/imageFilter.ts"

export const list = Command.make(
  "list",
  imageFilterFlags,
  Effect.fnUntraced(function* (flags) {
    const plans = yield* (yield* Plans).list(imageFilter(flags))
    yield* printAll(planRecord, plans.filter(ofPlan(flags)).map(planOf))
  })
).pipe(Command.withDescription("List plans and their prices"), Command.provide(client))
