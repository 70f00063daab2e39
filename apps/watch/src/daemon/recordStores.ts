/** The database in `BERTH_STATE_URL`, in which berth notes on several machines what it changes. Without the variable it loads nothing. */
import { stateUrlSetting } from "@berthkit/terminal/Connection"
import { Effect } from "effect"

const load = Effect.promise(() => import("@berthkit/terminal/openState"))

/** Undefined if what berth changed is noted in the state folder. */
export const recordStores = Effect.gen(function* () {
  const address = yield* stateUrlSetting
  return address === undefined ? undefined : yield* (yield* load).openRecords(address)
})
