/**
 * `berth image saved`: the account's own saved images.
 */
import { Images } from "@berth/core/client/Images"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { client } from "../../config/client.ts"
import { imageView } from "../../output/imageView.ts"
import { printAll } from "../../output/print.ts"

export const saved = Command.make(
  "saved",
  {},
  Effect.fnUntraced(function* () {
    const images = yield* Images
    yield* printAll({ ...imageView, none: "no saved images" }, yield* images.saved())
  })
).pipe(Command.withDescription("List the account's saved images"), Command.provide(client))
