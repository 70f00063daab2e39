/**
 * The database that `BERTH_ALLOWANCE_STORE` names, as the client of a command uses it.
 */
import { AllowanceStore } from "@berthkit/core/client/allowance/AllowanceStore"
import { Effect } from "effect"

const withinMillis = 4000

/** How many other clients share the allowance through it now. Fails where it cannot be used. */
export const countOthers = Effect.gen(function* () {
  const open = yield* AllowanceStore
  if (open === undefined) return 0
  const store = yield* open
  const { count } = yield* Effect.ensuring(store.meet(withinMillis), store.leave)
  // The client of this command is one of them.
  return Math.max(0, count - 1)
})
