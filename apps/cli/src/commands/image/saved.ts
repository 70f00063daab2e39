/**
 * `berth image saved`: the account's own saved images.
 */
import { Images } from "@berthkit/core/client/Images"
import { Effect } from "effect"
import { command } from "../command.ts"
import { limitFlag, printLimited } from "../../output/printLimited.ts"
import { savedImageRecord } from "../../records/image.ts"
import { client } from "../../settings/client.ts"

export const saved = command(
  { limit: limitFlag("images") },
  Effect.fnUntraced(function* ({ limit }) {
    const images = yield* Images
    yield* printLimited(savedImageRecord, yield* images.saved(), limit)
  }),
  client
)
