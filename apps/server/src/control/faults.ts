/**
 * The endpoints of `FaultsGroup`: they translate between the wire and the armed faults of a world, and decide nothing.
 */
import { Effect } from "effect"
import type { Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { arm, describeArmed } from "../faults/ArmedFault.ts"
import { readFaults } from "../injection/readFaults.ts"
import { invalidFields } from "../http/failures.ts"
import type { World } from "../world/World.ts"
import { ControlApi } from "./ControlApi.ts"
import { controlJson, namedWorld } from "./ControlledWorlds.ts"

const described = (world: World) =>
  world.faults.map(
    (armed) => describeArmed(armed) as { fault: string; seen: number; fired: number } & Record<string, Schema.Json>
  )

export const layer = HttpApiBuilder.group(ControlApi, "faults", (handlers) =>
  handlers
    .handle("read", ({ params }) => Effect.map(namedWorld(params.world), ({ world }) => described(world)))
    .handleRaw("arm", ({ params, request }) =>
      Effect.gen(function* () {
        const body = yield* controlJson(request)
        const { now, world } = yield* namedWorld(params.world)
        const faults = yield* Effect.mapError(Effect.fromResult(readFaults(body)), invalidFields)
        world.faults = arm(faults, now)
        return described(world)
      })
    )
    .handle("disarm", ({ params }) =>
      Effect.map(namedWorld(params.world), ({ world }) => {
        world.faults = []
      })
    )
)
