/**
 * The endpoints of `ClockGroup`: they translate between the wire and the world's clock, and decide nothing.
 */
import { Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { nextEvents } from "../world/nextEvent.ts"
import * as VirtualClock from "../lifecycle/VirtualClock.ts"
import * as World from "../world/World.ts"
import { ClockChange } from "./ClockGroup.ts"
import { ControlApi } from "./ControlApi.ts"
import { namedWorld, readBody } from "./ControlledWorlds.ts"
import { instant } from "./fields.ts"

const reading = (world: World.World) => ({ now: instant(world.latest), mode: VirtualClock.modeOf(world.clock) })

const readChange = readBody(ClockChange)

export const layer = HttpApiBuilder.group(ControlApi, "clock", (handlers) =>
  handlers
    .handle("read", ({ params }) => Effect.map(namedWorld(params.world), ({ world }) => reading(world)))
    .handleRaw("change", ({ params, request }) =>
      Effect.gen(function* () {
        const { advance, mode } = yield* readChange(request)
        const { now, realMillis, world } = yield* namedWorld(params.world)
        const real = realMillis()
        if (mode !== undefined) {
          World.setClockMode(world, real, mode)
          return reading(world)
        }
        if (advance !== undefined) {
          World.advance(world, real, Duration.toMillis(advance))
          return reading(world)
        }
        const events = nextEvents(world, now)
        if (events[0] !== undefined) World.advance(world, real, events[0].at - now)
        return { ...reading(world), events: events.map((event) => ({ ...event, at: instant(event.at) })) }
      })
    )
)
