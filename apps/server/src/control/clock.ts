/**
 * The endpoints of `ClockGroup`: they translate between the wire and the world's clock, and decide nothing.
 */
import { Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { invalidFields } from "../http/failures.ts"
import { inSteps } from "../http/inSteps.ts"
import { nextEvents } from "../world/nextEvent.ts"
import * as VirtualClock from "../lifecycle/VirtualClock.ts"
import * as World from "../world/World.ts"
import { ClockChange } from "./ClockGroup.ts"
import { ControlApi } from "./ControlApi.ts"
import { namedWorld, readBody } from "./ControlledWorlds.ts"
import { instant } from "./fields.ts"

const reading = (world: World.World) => ({ now: instant(world.latest), mode: VirtualClock.modeOf(world.clock) })

const pastTheEnd = (field: string) => invalidFields({ [field]: ["The time of a world ends with the year 9899."] })

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
          const byMillis = Duration.toMillis(advance)
          if (now + byMillis > VirtualClock.lastMillis) return yield* Effect.fail(pastTheEnd("advance"))
          yield* inSteps(World.advanceInSteps(world, real, byMillis))
          return reading(world)
        }
        const events = yield* inSteps(nextEvents(world, now))
        if (events[0] !== undefined) {
          if (events[0].at > VirtualClock.lastMillis) return yield* Effect.fail(pastTheEnd("advanceTo"))
          const later = realMillis()
          yield* inSteps(World.advanceInSteps(world, later, events[0].at - World.enter(world, later)))
        }
        return { ...reading(world), events: events.map((event) => ({ ...event, at: instant(event.at) })) }
      })
    )
)
