/**
 * `berth image list`: lists the images for new nodes, each once with its plans.
 */
import { Images } from "@berthkit/core/client/Images"
import { passesSize } from "@berthkit/core/domain/Plan"
import { Effect } from "effect"
import { command } from "../command.ts"
import { limitFlag, printLimited } from "../../output/printLimited.ts"
import { imageWithPlansRecord, withPlans } from "../../records/image.ts"
import { client } from "../../settings/client.ts"
import { imageFilter, imageFilterFlags } from "../../settings/imageFilter.ts"

export const list = command(
  { ...imageFilterFlags, limit: limitFlag("images") },
  Effect.fnUntraced(function* ({ limit, ...flags }) {
    const images = yield* Images
    const found = yield* images.list(imageFilter(flags))
    const wanted = found.filter(({ plan, sku, specs }) => passesSize(flags)([plan, sku], specs))
    yield* printLimited(imageWithPlansRecord, withPlans(wanted), limit)
  }),
  client
)
