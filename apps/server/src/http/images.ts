/** The image endpoints of `ImagesGroup`: they translate between the wire and the world, and contain no rules. */
import { succeed } from "@berthkit/core/api/Envelope"
import { Effect, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listImages, listSavedImages } from "../world/images.ts"
import type { Invalid } from "../world/Refusal.ts"
import { callersWorld } from "./Exchange.ts"
import { refusalFailure } from "./failures.ts"
import { listedImages, savedImages } from "./records.ts"
import { ServedApi } from "./query.ts"

const refused = (refusal: Invalid) => refusalFailure(refusal, { imageType: "image_type" })

export const layer = HttpApiBuilder.group(ServedApi, "images", (handlers) =>
  handlers
    .handle("list", ({ query }) =>
      Effect.flatMap(callersWorld, ({ now, world }) => {
        const { cpu: vcpus, image_type: imageType, os, ram: memoryGb, series, version } = query
        const rows = listImages(world, { imageType, vcpus, memoryGb, series, os, version })
        return Effect.fromResult(
          Result.mapBoth(rows, { onFailure: refused, onSuccess: (rows) => succeed(listedImages(rows, now)) })
        )
      })
    )
    .handle("saved", ({ query }) =>
      Effect.flatMap(callersWorld, ({ now, world }) => {
        const rows = listSavedImages(world, query.image_type)
        return Effect.fromResult(
          Result.mapBoth(rows, { onFailure: refused, onSuccess: (rows) => succeed(savedImages(rows, now)) })
        )
      })
    )
)
