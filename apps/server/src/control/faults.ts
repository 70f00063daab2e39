/** The endpoints of `FaultsGroup`: they translate between the wire and the armed faults of a world, and contain no rules. */
import { fail } from "@berthkit/core/api/Envelope"
import { Effect } from "effect"
import type { Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { arm, armAlso, type ArmedFault, armedId, describeArmed } from "../faults/ArmedFault.ts"
import { readFaults, readFurtherFault } from "../injection/readFaults.ts"
import { invalidFields } from "../http/failures.ts"
import { readStrictJson } from "../transport/readJson.ts"
import type { World } from "../world/World.ts"
import { ControlApi } from "./ControlApi.ts"
import { namedWorld } from "./ControlledWorlds.ts"

type Described = { id: string; fault: string; seen: number; fired: number } & Record<string, Schema.Json>

const describe = (armed: ArmedFault) => describeArmed(armed) as Described

const described = (world: World) => world.faults.map(describe)

const notArmed = (id: string) => fail(404, `No fault ${JSON.stringify(id.slice(0, 50))} is armed.`)

export const layer = HttpApiBuilder.group(ControlApi, "faults", (handlers) =>
  handlers
    .handle("read", ({ params }) => Effect.map(namedWorld(params.world), ({ world }) => described(world)))
    .handleRaw("arm", ({ params, request }) =>
      Effect.gen(function* () {
        const body = yield* readStrictJson(request)
        const { now, world } = yield* namedWorld(params.world)
        const faults = yield* Effect.mapError(Effect.fromResult(readFaults(body)), invalidFields)
        world.faults = arm(faults, now)
        return described(world)
      })
    )
    .handleRaw("add", ({ params, request }) =>
      Effect.gen(function* () {
        const body = yield* readStrictJson(request)
        const { now, world } = yield* namedWorld(params.world)
        const armed = world.faults.map(({ fault }) => fault)
        const fault = yield* Effect.mapError(Effect.fromResult(readFurtherFault(body, armed)), invalidFields)
        const added = armAlso(world.faults, fault, now)
        world.faults = [...world.faults, added]
        return describe(added)
      })
    )
    .handle("disarmOne", ({ params }) =>
      Effect.flatMap(namedWorld(params.world), ({ world }) => {
        const others = world.faults.filter((armed) => armedId(armed) !== params.fault)
        if (others.length === world.faults.length) return Effect.fail(notArmed(params.fault))
        world.faults = others
        return Effect.void
      })
    )
    .handle("disarm", ({ params }) =>
      Effect.map(namedWorld(params.world), ({ world }) => {
        world.faults = []
      })
    )
)
