/**
 * The service of plans, with prices and committed options. The interface has no such resource, so they are read from the image list (A19).
 */
import { Context, Effect, Layer } from "effect"
import type { BerthError } from "../domain/BerthError.ts"
import { fromImages, namesOf, passesSize, type Plan, type PlanFilter, type PlanSize } from "../domain/Plan.ts"
import type { CallOptions } from "./call/Operation.ts"
import { Images } from "./Images.ts"
import { argument, fields, optional, text, whole } from "./options/Argument.ts"
import { unsent } from "./options/OptionCheck.ts"

const planSize = argument(
  fields<PlanSize>({ minCpu: optional(whole), minRam: optional(whole), plan: optional(text) }),
  "filter"
)

/**
 * The service of the plans and their prices.
 *
 * @example
 * ```ts
 * import { Plans } from "@berthkit/core/client/Plans"
 * import { Console, Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const plans = yield* Plans
 *   const [first] = yield* plans.list({ minCpu: 4 })
 *   yield* Console.log(first?.plan, first?.pricePerHourInr) // A-4VCPU-8RAM-80DISK 9.12
 * })
 * ```
 */
export class Plans extends Context.Service<
  Plans,
  {
    /** The plans of the images that pass all given filters, in the service's order. */
    readonly list: (filter?: PlanFilter, options?: CallOptions) => Effect.Effect<ReadonlyArray<Plan>, BerthError>
  }
>()("@berthkit/core/client/Plans") {
  static readonly layer = Layer.effect(
    Plans,
    Effect.gen(function* () {
      const images = yield* Images
      const list = ({ minCpu, minRam, plan, ...filter }: PlanFilter = {}, options?: CallOptions) =>
        Effect.flatMap(unsent("plans.list")(planSize({ minCpu, minRam, plan })), (size) =>
          Effect.map(images.list(filter, options), (found) =>
            fromImages(found).filter((each) => passesSize(size)(namesOf(each), each))
          )
        )
      return Plans.of({ list })
    })
  )
}
