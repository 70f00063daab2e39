/**
 * Answers for `FaultsGroup`: it translates between the wire and the armed faults of a world, and decides nothing.
 */
import { fail } from "@berth/core/api/Envelope"
import { Effect } from "effect"
import type { Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { arm, describeArmed } from "../faults/ArmedFaults.ts"
import { readFaults } from "../injection/readFaults.ts"
import { sentenceOf } from "../http/failures.ts"
import { readJson } from "../transport/readJson.ts"
import type { World } from "../world/World.ts"
import { ControlApi } from "./ControlApi.ts"
import { namedWorld } from "./ControlledWorlds.ts"

const described = (world: World) =>
  world.faults.map(
    (armed) => describeArmed(armed) as { fault: string; seen: number; fired: number } & Record<string, Schema.Json>
  )

export const layer = HttpApiBuilder.group(ControlApi, "faults", (handlers) =>
  handlers
    .handle("read", ({ params }) => Effect.map(namedWorld(params.world), ({ world }) => described(world)))
    .handleRaw("arm", ({ params, request }) =>
      Effect.gen(function* () {
        const body = yield* readJson(request)
        const { now, world } = yield* namedWorld(params.world)
        const faults = yield* Effect.mapError(Effect.fromResult(readFaults(body)), (errors) =>
          fail(422, sentenceOf(errors), errors)
        )
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
