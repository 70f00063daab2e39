/**
 * `berth plan list`: sizes and prices, read off the image list.
 */
import { Plans } from "@berth/core/client/Plans"
import type { Plan } from "@berth/core/domain/Plan"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { client } from "../../config/client.ts"
import { imageFilter, imageFilterFlags } from "../../config/imageFilterFlags.ts"
import { planView } from "../../output/planView.ts"
import { printAll } from "../../output/print.ts"

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
    yield* printAll(planView, Option.isSome(sort) ? plans.toSorted(byPrice) : plans)
  })
).pipe(Command.withDescription("List plans and their prices"), Command.provide(client))
