/**
 * Snapshots on the wire: out in pieces, in as they arrive, so that other requests are answered meanwhile, however large the
 * world.
 */
import type { Failure } from "@berth/core/api/Envelope"
import { Clock, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { invalidFields } from "../http/failures.ts"
import { inSteps } from "../http/inSteps.ts"
import { Restoration } from "../state/Restoration.ts"
import { takeText } from "../state/Snapshot.ts"
import { piecesReply } from "../transport/jsonPieces.ts"
import { maxSnapshotBytes } from "../transport/limits.ts"
import { streamJson } from "../transport/streamJson.ts"
import type { World } from "../world/World.ts"
import { ControlledWorlds, namedWorld, tooManyNodes } from "./ControlledWorlds.ts"
import { takeTurn } from "./largeWorlds.ts"

/** The snapshot of a world at the instant at which it is a reader's turn. */
export const snapshotReply = Effect.fnUntraced(function* (id: string) {
  const { snapshotReaders, world } = yield* namedWorld(id)
  yield* snapshotReaders.take(world.nodes.size)
  return piecesReply(takeText((yield* namedWorld(id)).world))
})

/** As that of all connections. */
const realTime = Clock.Clock.defaultValue()

/** The world of a snapshot, made for the place of `world`. Snapshots over 1 MiB wait for their turn, and may lose it when they stall. */
export const readSnapshot = Effect.fnUntraced(
  function* (request: HttpServerRequest.HttpServerRequest, { id, nodes, settings: { account } }: World) {
    const { realMillis, worlds } = yield* ControlledWorlds
    const restoration = new Restoration()
    const rest = yield* streamJson<Failure<408> | Failure<503>>(request, {
      maxBytes: maxSnapshotBytes,
      longArrays: restoration.longArrays,
      onBatch: (batch) => {
        const errors = restoration.add(batch)
        return errors === null ? undefined : invalidFields(errors)
      },
      onLarge: takeTurn
    })
    const tooMany = worlds.tooManyWith(restoration.nodeCount - nodes.size)
    if (tooMany !== undefined) return yield* Effect.fail(tooManyNodes(tooMany, "nodes"))
    const made = yield* inSteps(restoration.world(rest, { id, account, realMillis: realMillis() }))
    return yield* Effect.mapError(Effect.fromResult(made), invalidFields)
  },
  Effect.scoped,
  Effect.provideService(Clock.Clock, realTime)
)
