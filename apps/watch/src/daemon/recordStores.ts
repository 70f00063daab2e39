/**
 * The database in `BERTH_STATE_URL`, in which `berth` on several machines records what it changes. If the variable is not set,
 * no database code is loaded.
 */
import { stateUrlSetting } from "@berthkit/terminal/Connection"
import { Effect } from "effect"

const load = Effect.promise(() => import("@berthkit/terminal/openState"))

/** Undefined if `berth` records its changes in the state folder. */
export const recordStores = Effect.gen(function* () {
  const address = yield* stateUrlSetting
  return address === undefined ? undefined : yield* (yield* load).openRecords(address)
})
