/**
 * How worlds end: by a request, or after a time without use. Their journals stay for a while, because people look into a
 * failed test only after it has ended.
 */
import { Clock, Effect, Result } from "effect"
import type { EndReason } from "../journal/Journals.ts"
import * as World from "../world/World.ts"
import type { RemoveRefusal } from "../world/Worlds.ts"
import type { Controlled } from "./ControlledWorlds.ts"

/** Ends a world. Its credentials stop working at once. */
export const endWorld = (
  { journals, realMillis, worlds }: Controlled,
  id: string,
  reason: EndReason
): Result.Result<void, RemoveRefusal> =>
  Result.map(worlds.remove(id), (world) => journals.end(world, World.instantOf(world, realMillis()), reason))

/** The longest pause between two searches for idle worlds. One search covers all worlds, so no world needs a timer. */
const maxSweepMillis = 10_000

/** Ends each world that has been unused for `ttlMillis`, or up to a tenth of that time later. Never returns. */
export const endIdleWorlds = Effect.fnUntraced(function* (controlled: Controlled, ttlMillis: number) {
  for (;;) {
    yield* Effect.sleep(Math.min(maxSweepMillis, Math.ceil(ttlMillis / 10)))
    const now = yield* Clock.currentTimeMillis
    for (const { id } of controlled.worlds.idleSince(now - ttlMillis)) endWorld(controlled, id, "idle")
  }
})
