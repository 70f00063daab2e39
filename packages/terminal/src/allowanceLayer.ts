/** Shares the allowance of a client through the database that a setting names. Without that setting it loads nothing. */
import { AllowanceStore } from "@berthkit/core/client/allowance/AllowanceStore"
import { Effect, Layer } from "effect"
import type { Connection } from "./Connection.ts"

export const allowanceLayer = ({ options, stateUrl }: Connection): Layer.Layer<never> =>
  stateUrl === undefined
    ? Layer.empty
    : Layer.effect(
        AllowanceStore,
        Effect.gen(function* () {
          const { openAllowanceStores } = yield* Effect.promise(() => import("./openAllowance.ts"))
          return yield* (yield* openAllowanceStores(stateUrl))(options)
        })
      )
