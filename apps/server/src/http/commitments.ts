/**
 * The commitment endpoint of `CommitmentsGroup`: it translates between the wire and the world, and decides nothing.
 */
import { succeed } from "@berth/core/api/Envelope"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { setCommitment } from "../world/commitments.ts"
import { callersWorld } from "./Exchange.ts"
import { refusalFailure } from "./failures.ts"
import { readJson } from "../transport/readJson.ts"
import { ServedApi } from "./ServedApi.ts"

export const layer = HttpApiBuilder.group(ServedApi, "commitments", (handlers) =>
  handlers.handleRaw("set", ({ request }) =>
    Effect.gen(function* () {
      const body = yield* readJson(request)
      const { now, world } = yield* callersWorld
      const state = yield* Effect.mapError(Effect.fromResult(setCommitment(world, body, now)), refusalFailure)
      return succeed({ vcn_id: state.nodeId, node_status: state.setting, committed_plan: state.skuId })
    })
  )
)
