/** The commitment endpoint of `CommitmentsGroup`: it translates between the wire and the world, and contains no rules. */
import { CommitmentUpdate } from "@berthkit/core/api/CommitmentsGroup"
import { succeed } from "@berthkit/core/api/Envelope"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { readFields } from "@berthkit/core/api/readFields"
import { setCommitment } from "../world/commitments.ts"
import { callersJson, callersWorld } from "./Exchange.ts"
import { invalidFields, refusalFailure } from "./failures.ts"
import { ServedApi } from "./query.ts"

const readUpdate = readFields(CommitmentUpdate)

export const layer = HttpApiBuilder.group(ServedApi, "commitments", (handlers) =>
  handlers.handleRaw("set", () =>
    Effect.gen(function* () {
      const { errors, fields } = readUpdate(yield* callersJson)
      if (fields === null) return yield* Effect.fail(invalidFields(errors))
      const { now, world } = yield* callersWorld
      const order = { nodeId: fields.vcn_id, setting: fields.node_status, skuId: fields.committed_plan }
      const skuId = yield* Effect.mapError(Effect.fromResult(setCommitment(world, order, now)), (refusal) =>
        refusalFailure(refusal, { skuId: "committed_plan" })
      )
      return succeed({ vcn_id: fields.vcn_id, node_status: fields.node_status, committed_plan: skuId })
    })
  )
)
