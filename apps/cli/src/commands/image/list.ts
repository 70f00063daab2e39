/**
 * `berth image list`: the images that nodes are made from, each once, with the plans that it goes with.
 */
import { Images } from "@berth/core/client/Images"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { printAll } from "../../output/print.ts"
import { imageWithPlansRecord, withPlans } from "../../records/image.ts"
import { client } from "../../settings/client.ts"
import { imageFilter, imageFilterFlags, ofPlan } from "../../settings/imageFilter.ts"

export const list = Command.make(
  "list",
  imageFilterFlags,
  Effect.fnUntraced(function* (flags) {
    const images = yield* Images
    const found = yield* images.list(imageFilter(flags))
    yield* printAll(imageWithPlansRecord, withPlans(found.filter(ofPlan(flags))))
  })
).pipe(Command.withDescription("List images"), Command.provide(client))
