/** The endpoints of `ClockGroup`: they translate between the wire and the world's clock, and contain no rules. */
import { DateTime, Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { invalidFields } from "../http/failures.ts"
import { nextEvents } from "../world/nextEvent.ts"
import * as VirtualClock from "../lifecycle/VirtualClock.ts"
import * as World from "../world/World.ts"
import { ClockChange } from "./ClockGroup.ts"
import { ControlApi } from "./ControlApi.ts"
import { namedWorld, readBody } from "./ControlledWorlds.ts"
import { instant } from "./fields.ts"

const reading = (world: World.World) => ({ now: instant(world.latest), mode: VirtualClock.modeOf(world.clock) })

const pastTheEnd = (field: string) => invalidFields({ [field]: ["A world's time ends with the year 9899."] })

const inThePast = ({ latest }: World.World) =>
  invalidFields({ advanceTo: [`It is ${DateTime.formatIso(instant(latest))}: a world's time never goes back.`] })

const readChange = readBody(ClockChange)

export const layer = HttpApiBuilder.group(ControlApi, "clock", (handlers) =>
  handlers
    .handle("read", ({ params }) => Effect.map(namedWorld(params.world), ({ world }) => reading(world)))
    .handleRaw("change", ({ params, request }) =>
      Effect.gen(function* () {
        const { advance, advanceTo, mode } = yield* readChange(request)
        const { now, realMillis, world } = yield* namedWorld(params.world)
        const advanceBy = (byMillis: number) => {
          World.advance(world, realMillis(), byMillis)
          return reading(world)
        }
        if (mode !== undefined) {
          World.setClockMode(world, realMillis(), mode)
          return reading(world)
        }
        if (advance !== undefined) {
          const byMillis = Duration.toMillis(advance)
          if (now + byMillis > VirtualClock.lastMillis) return yield* Effect.fail(pastTheEnd("advance"))
          return advanceBy(byMillis)
        }
        if (advanceTo !== undefined && advanceTo !== "next-event") {
          const byMillis = DateTime.toEpochMillis(DateTime.makeUnsafe(advanceTo)) - World.instantOf(world, realMillis())
          if (byMillis < 0) return yield* Effect.fail(inThePast(world))
          if (world.latest + byMillis > VirtualClock.lastMillis) return yield* Effect.fail(pastTheEnd("advanceTo"))
          return advanceBy(byMillis)
        }
        const events = nextEvents(world, World.instantOf(world, realMillis()))
        const shown = events.map((event) => ({ ...event, at: instant(event.at) }))
        if (events[0] === undefined) return { ...reading(world), events: shown }
        if (events[0].at > VirtualClock.lastMillis) return yield* Effect.fail(pastTheEnd("advanceTo"))
        return { ...advanceBy(events[0].at - World.instantOf(world, realMillis())), events: shown }
      })
    )
)
