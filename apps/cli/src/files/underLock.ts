/**
 * One process at a time, by a lock beside a file.
 */
import { type KeyLock, withKeyLock } from "@berthkit/core/client/creation/KeyLock"
import type { FileFault } from "@berthkit/core/client/files/StateFiles"
import { Effect } from "effect"

/** Runs `use` while it holds the lock. Its failures are its own; `faultOf` makes that of the lock. */
export const underLock = <A, E, R, F>(
  path: string,
  faultOf: (fault: FileFault) => F,
  use: (lock: KeyLock) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | F, R> =>
  withKeyLock(path, (lock) => Effect.result(use(lock))).pipe(
    Effect.mapError(faultOf),
    Effect.flatMap(Effect.fromResult)
  )
