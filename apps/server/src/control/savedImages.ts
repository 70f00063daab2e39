/** The endpoints of `SavedImagesGroup`: they translate between the wire and the world, and contain no rules. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { refusalFailure } from "../http/failures.ts"
import { saveImage } from "../world/savedImages.ts"
import { ControlApi } from "./ControlApi.ts"
import { namedWorld, readBody } from "./ControlledWorlds.ts"
import { SavedImageOrder } from "./SavedImagesGroup.ts"

const readOrder = readBody(SavedImageOrder)

export const layer = HttpApiBuilder.group(ControlApi, "savedImages", (handlers) =>
  handlers.handleRaw("add", ({ params, request }) =>
    Effect.gen(function* () {
      const order = yield* readOrder(request)
      const { world } = yield* namedWorld(params.world)
      const saved = yield* Effect.mapError(Effect.fromResult(saveImage(world, order)), (refusal) =>
        refusalFailure(refusal)
      )
      return {
        id: saved.id,
        slug: saved.slug,
        name: saved.name,
        templateId: saved.templateId,
        image: saved.base.slug,
        plan: saved.plan.slug
      }
    })
  )
)
