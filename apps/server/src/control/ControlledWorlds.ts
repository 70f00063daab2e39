/**
 * What the endpoints of the control plane work on: the worlds of the server, and its real time.
 */
import { fail, type Failure } from "@berth/core/api/Envelope"
import { Context, Effect } from "effect"
import type { EventFeed } from "../journal/EventFeed.ts"
import * as World from "../world/World.ts"
import type { Worlds } from "../world/Worlds.ts"

export interface Controlled {
  readonly worlds: Worlds
  /** Real time in milliseconds since the epoch, from the server's `Clock`. */
  readonly realMillis: () => number
  readonly feed: EventFeed
}

/** Set for every request by `plane.ts`. */
export const ControlledWorlds = Context.Reference<Controlled>("@berth/server/control/ControlledWorlds", {
  defaultValue: () => {
    throw new Error("An endpoint of the control plane was reached without the plane")
  }
})

export const worldUnknown = (id: string): Failure<404> => fail(404, `There is no world ${id}.`)

/** The world a path names, and its present instant. */
export const namedWorld = (id: string) =>
  Effect.flatMap(
    ControlledWorlds,
    ({
      realMillis,
      worlds
    }): Effect.Effect<
      { readonly world: World.World; readonly now: number; readonly realMillis: number },
      Failure<404>
    > => {
      const world = worlds.get(id)
      if (world === undefined) return Effect.fail(worldUnknown(id))
      const real = realMillis()
      return Effect.succeed({ world, now: World.enter(world, real), realMillis: real })
    }
  )
