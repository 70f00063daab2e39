/**
 * The image endpoints of `ImagesGroup`: they translate between the wire and the world, and decide nothing.
 */
import { succeed } from "@berth/core/api/Envelope"
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
      Effect.flatMap(callersWorld, ({ now, world }) =>
        Effect.fromResult(
          Result.mapBoth(
            listImages(world, {
              imageType: query.image_type,
              vcpus: query.cpu,
              memoryGb: query.ram,
              series: query.series,
              os: query.os,
              version: query.version
            }),
            { onFailure: refused, onSuccess: (rows) => succeed(listedImages(rows, now)) }
          )
        )
      )
    )
    .handle("saved", ({ query }) =>
      Effect.flatMap(callersWorld, ({ now, world }) =>
        Effect.fromResult(
          Result.mapBoth(listSavedImages(world, query.image_type), {
            onFailure: refused,
            onSuccess: (rows) => succeed(savedImages(rows, now))
          })
        )
      )
    )
)
