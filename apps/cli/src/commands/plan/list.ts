/**
 * `berth plan list`: sizes and prices, as the image list has them.
 */
import { Plans } from "@berth/core/client/Plans"
import type { Plan } from "@berth/core/domain/Plan"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { printAll } from "../../output/print.ts"
import { planRecord } from "../../records/plan.ts"
import { client } from "../../settings/client.ts"
import { imageFilter, imageFilterFlags } from "../../settings/imageFilter.ts"

/** Cheapest first; plans without a price come last. */
const byPrice = (a: Plan, b: Plan): number =>
  (a.pricePerHourInr ?? Number.POSITIVE_INFINITY) - (b.pricePerHourInr ?? Number.POSITIVE_INFINITY) || 0

export const list = Command.make(
  "list",
  {
    ...imageFilterFlags,
    sort: Flag.Literals("sort", ["price"]).pipe(
      Flag.withMetavar("KEY"),
      Flag.withDescription("price: cheapest first; default is the service's order"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ sort, ...filters }) {
    const plans = yield* (yield* Plans).list(imageFilter(filters))
    yield* printAll(planRecord, Option.isSome(sort) ? plans.toSorted(byPrice) : plans)
  })
).pipe(Command.withDescription("List plans and their prices"), Command.provide(client))
