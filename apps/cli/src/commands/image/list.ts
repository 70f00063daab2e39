/**
 * `berth image list`: lists the images for new nodes, each once with its plans.
 */
import { passesSize } from "@berthkit/core/domain/Plan"
import { Effect } from "effect"
import { command } from "../command.ts"
import { limitFlag, printLimited } from "../../output/printLimited.ts"
import { imageWithPlansRecord, withPlans } from "../../records/image.ts"
import { askedImages } from "../../settings/askedImages.ts"
import { client } from "../../settings/client.ts"
import { imageFilterFlags } from "../../settings/imageFilter.ts"

export const list = command(
  { ...imageFilterFlags, limit: limitFlag("images") },
  Effect.fnUntraced(function* ({ limit, ...flags }) {
    const found = yield* askedImages(flags)
    const wanted = found.filter(({ plan, sku, specs }) => passesSize(flags)([plan, sku], specs))
    yield* printLimited(imageWithPlansRecord, withPlans(wanted), limit)
  }),
  client
)
