/**
 * Snapshots on the wire: out in pieces, in as they arrive, so that other requests are answered meanwhile, however large the
 * world.
 */
import { fail, type Failure } from "@berth/core/api/Envelope"
import { Clock, Effect, Semaphore } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { failureResponse, invalidFields } from "../http/failures.ts"
import { Restoration } from "../state/Restoration.ts"
import { takeText } from "../state/Snapshot.ts"
import { piecesReply } from "../transport/jsonPieces.ts"
import { maxSilenceMillis, maxSnapshotBytes, maxTurnWaitMillis } from "../transport/limits.ts"
import { streamJson } from "../transport/streamJson.ts"
import type { World } from "../world/World.ts"
import { ControlledWorlds } from "./ControlledWorlds.ts"

/** The snapshot of a world at this instant. */
export const snapshotReply = (world: World): HttpServerResponse.HttpServerResponse => piecesReply(takeText(world))

/** Large snapshots that are read at the same time: their worlds would add up in memory. */
export const maxLargeRestores = 1

/** As that of all connections. */
const realTime = Clock.Clock.defaultValue()

const silent = fail(408, "The request took too long to arrive.")
const busy = fail(503, "Another large snapshot is being read: try again.")

/** The reply to a snapshot whose turn did not come. */
export const busyReply = ({ code, message }: Failure<503>): HttpServerResponse.HttpServerResponse =>
  failureResponse(code, message, { headers: { "retry-after": "1" } })

/** The world of a snapshot, made for the place of `world`. Snapshots over 1 MiB wait for their turn, and lose it when they stall. */
export const readSnapshot = Effect.fnUntraced(
  function* (request: HttpServerRequest.HttpServerRequest, { id, settings: { account } }: World) {
    const { largeRestores, realMillis } = yield* ControlledWorlds
    const restoration = new Restoration()
    const rest = yield* streamJson<Failure<408> | Failure<503>>(request, {
      maxBytes: maxSnapshotBytes,
      longArrays: restoration.longArrays,
      onBatch: (batch) => {
        const errors = restoration.add(batch)
        return errors === null ? undefined : invalidFields(errors)
      },
      silence: { maxMillis: maxSilenceMillis, failure: silent },
      onLarge: Effect.timeoutOrElse(Semaphore.takeScoped(largeRestores, 1), {
        duration: maxTurnWaitMillis,
        orElse: () => Effect.fail(busy)
      })
    })
    const steps = restoration.world(rest, { id, account, realMillis: realMillis() })
    for (;;) {
      const step = steps.next()
      if (step.done === true) return yield* Effect.mapError(Effect.fromResult(step.value), invalidFields)
      yield* Effect.yieldNow
    }
  },
  Effect.scoped,
  Effect.provideService(Clock.Clock, realTime)
)
