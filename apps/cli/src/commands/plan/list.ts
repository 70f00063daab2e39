/**
 * `berth plan list`: lists sizes and prices from the image list.
 */
import { namesOf, passesSize } from "@berthkit/core/domain/Plan"
import { Effect } from "effect"
import { command } from "../command.ts"
import { limitFlag, printLimited } from "../../output/printLimited.ts"
import { planRecord, plansOf } from "../../records/plan.ts"
import { askedImages } from "../../settings/askedImages.ts"
import { client } from "../../settings/client.ts"
import { imageFilterFlags } from "../../settings/imageFilter.ts"

export const list = command(
  { ...imageFilterFlags, limit: limitFlag("plans") },
  Effect.fnUntraced(function* ({ limit, ...flags }) {
    const { minCpu, minRam, plan } = flags
    const images = yield* askedImages(flags)
    const passes = passesSize({ minCpu, minRam, plan })
    const plans = plansOf(images).filter((each) => passes(namesOf(each), each))
    yield* printLimited(planRecord, plans, limit)
  }),
  client
)
