/**
 * `berth image saved`: the account's own saved images.
 */
import { Images } from "@berth/core/client/Images"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { printAll } from "../../output/print.ts"
import { imageRecord } from "../../records/image.ts"
import { client } from "../../settings/client.ts"

export const saved = Command.make(
  "saved",
  {},
  Effect.fnUntraced(function* () {
    const images = yield* Images
    yield* printAll({ ...imageRecord, none: "no saved images" }, yield* images.saved())
  })
).pipe(Command.withDescription("List the account's saved images"), Command.provide(client))
