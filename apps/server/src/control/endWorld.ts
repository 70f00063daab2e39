/**
 * How worlds end: deleted by a request, or after a time without use. Their journals stay for a while, because that is when a
 * test is red.
 */
import { Clock, Effect, Result } from "effect"
import type { EndReason } from "../journal/Journals.ts"
import * as World from "../world/World.ts"
import type { RemoveRefusal } from "../world/Worlds.ts"
import type { Controlled } from "./ControlledWorlds.ts"

/** Ends a world: its credentials are unknown from now on. */
export const endWorld = (
  { journals, realMillis, worlds }: Controlled,
  id: string,
  reason: EndReason
): Result.Result<void, RemoveRefusal> =>
  Result.map(worlds.remove(id), (world) => journals.end(world, World.instantOf(world, realMillis()), reason))

/** How often idle worlds are searched for at least: one search goes over all worlds, and there is no timer for each. */
const maxSweepMillis = 10_000

/** Ends worlds that have not been used for `ttlMillis`, a tenth of that later at the latest. Never returns. */
export const endIdleWorlds = Effect.fnUntraced(function* (controlled: Controlled, ttlMillis: number) {
  for (;;) {
    yield* Effect.sleep(Math.min(maxSweepMillis, Math.ceil(ttlMillis / 10)))
    const now = yield* Clock.currentTimeMillis
    for (const { id } of controlled.worlds.idleSince(now - ttlMillis)) endWorld(controlled, id, "idle")
  }
})
