/**
 * Keeps a world in use for as long as a scope lasts: that of a request, which may take longer than a world may be idle.
 */
import { Effect, type Scope } from "effect"
import type { World } from "../world/World.ts"
import type { WorldUse } from "../world/WorldUse.ts"

export const keepInUse = (
  { realMillis, use }: { readonly realMillis: () => number; readonly use: WorldUse },
  world: World
): Effect.Effect<void, never, Scope.Scope> =>
  use.mayEnd(world)
    ? Effect.acquireRelease(
        Effect.sync(() => use.watch(world)),
        () => Effect.sync(() => use.unwatch(world, realMillis()))
      )
    : Effect.void
