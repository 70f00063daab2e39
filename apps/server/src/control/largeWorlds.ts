/**
 * Making large worlds: one at a time, because they would add up in memory, and in steps between which other requests are
 * answered.
 */
import type { Failure } from "@berth/core/api/Envelope"
import { Clock, Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import { failureResponse } from "../http/failures.ts"
import { inSteps } from "../http/inSteps.ts"
import { beginInSteps, startSize } from "../world/scenario.ts"
import type { WorldSettings } from "../world/WorldSettings.ts"
import { ControlledWorlds } from "./ControlledWorlds.ts"

/** Nodes that take no turn to be made: some milliseconds. */
const maxSmall = 10_000

/** The reply to a request whose turn did not come. */
const busyReply = ({ code, message }: Failure<503>): HttpServerResponse.HttpServerResponse =>
  failureResponse(code, message, { headers: { "retry-after": "1" } })

/** Answers a request whose turn did not come. */
export const orBusy = <A, E, R>(self: Effect.Effect<A, E | Failure<503>, R>) =>
  Effect.catchIf(
    self,
    (failure): failure is Failure<503> & E => (failure as Partial<Failure<number>>).code === 503,
    (failure) => Effect.succeed(busyReply(failure))
  )

/** Waits for the turn of a large world, in real time as all connections do, and keeps it for as long as the scope lasts. */
const takeTurn = Effect.flatMap(ControlledWorlds, ({ largeWorldTurn }) => largeWorldTurn.take()).pipe(
  Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
)

/** A world as its settings have it at the start. */
export const beginWorld = (settings: WorldSettings, realMillis: number, id?: string) =>
  Effect.gen(function* () {
    if (startSize(settings) > maxSmall) yield* takeTurn
    return yield* inSteps(beginInSteps(settings, realMillis, id))
  }).pipe(Effect.scoped)
