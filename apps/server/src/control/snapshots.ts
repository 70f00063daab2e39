/**
 * Snapshots on the wire: out in pieces, in as they arrive, so that other requests are answered meanwhile, however large the
 * world.
 */
import type { Failure } from "@berth/core/api/Envelope"
import { Clock, Effect, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { failureResponse, invalidFields } from "../http/failures.ts"
import { Restoration } from "../state/Restoration.ts"
import { takeText } from "../state/Snapshot.ts"
import { maxSnapshotBytes } from "../transport/limits.ts"
import { streamJson } from "../transport/streamJson.ts"
import type { World } from "../world/World.ts"
import { ControlledWorlds } from "./ControlledWorlds.ts"

const utf8 = new TextEncoder()

/** The snapshot of a world at this instant. */
export const snapshotReply = (world: World): HttpServerResponse.HttpServerResponse => {
  // One piece at a time, each in a turn of its own: a client that reads fast would have them all in one.
  const pieces = Stream.fromIterable(takeText(world), { chunkSize: 1 })
  const bytes = Stream.mapEffect(pieces, (piece) => Effect.as(Effect.yieldNow, utf8.encode(piece)))
  return HttpServerResponse.stream(bytes, { contentType: "application/json" })
}

/** As that of all connections. */
const realTime = Clock.Clock.defaultValue()

/** The reply to a snapshot whose turn did not come. */
export const busyReply = ({ code, message }: Failure<503>): HttpServerResponse.HttpServerResponse =>
  failureResponse(code, message, { headers: { "retry-after": "1" } })

/** The world of a snapshot, made for the place of `world`. Snapshots over 1 MiB wait for their turn. */
export const readSnapshot = Effect.fnUntraced(
  function* (request: HttpServerRequest.HttpServerRequest, { id, settings: { account } }: World) {
    const { realMillis, snapshotTurn } = yield* ControlledWorlds
    const restoration = new Restoration()
    const rest = yield* streamJson<Failure<408> | Failure<503>>(request, {
      maxBytes: maxSnapshotBytes,
      longArrays: restoration.longArrays,
      onBatch: (batch) => {
        const errors = restoration.add(batch)
        return errors === null ? undefined : invalidFields(errors)
      },
      onLarge: snapshotTurn.take()
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
