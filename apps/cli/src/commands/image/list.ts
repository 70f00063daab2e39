/**
 * `berth image list`: the images nodes are made from, once for every plan they go with.
 */
import { Images } from "@berth/core/client/Images"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { client } from "../../config/client.ts"
import { imageFilter, imageFilterFlags } from "../../config/imageFilterFlags.ts"
import { imageView } from "../../output/imageView.ts"
import { printAll } from "../../output/print.ts"

export const list = Command.make(
  "list",
  imageFilterFlags,
  Effect.fnUntraced(function* (flags) {
    const images = yield* Images
    yield* printAll(imageView, yield* images.list(imageFilter(flags)))
  })
).pipe(Command.withDescription("List images"), Command.provide(client))
