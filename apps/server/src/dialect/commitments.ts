/** The commitment call of today's dialect. Its replies are `{status, message}`. */
import { CommitmentUpdate } from "@berthkit/core/api/CommitmentsGroup"
import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Reply } from "../http/Exchange.ts"
import { readFields } from "@berthkit/core/api/readFields"
import { readJson } from "../transport/readJson.ts"
import { setCommitment } from "../world/commitments.ts"
import type { Today } from "../world/Today.ts"
import { getNodeAt } from "../world/todaysNodes.ts"
import * as World from "../world/World.ts"
import type { Asked } from "./Asked.ts"

const readUpdate = readFields(CommitmentUpdate)

const answer = ({ failuresWith200 }: Today, status: number, message: string): Reply =>
  HttpServerResponse.jsonUnsafe({ status, message }, { status: failuresWith200 ? 200 : status })

const sentences = {
  NodeUnknown: "Node not found",
  NodeLocked: "Node is locked",
  NodeTerminating: "Node is being terminated"
} as const

/**
 * What is wrong with a setting. Either it names a committed plan that does not exist, or it names none although the node has
 * no commitment to renew.
 */
const invalidSentence = (skuId: number | undefined): string =>
  skuId === undefined || skuId === 0 ? "Node has no commitment to renew" : "Committed plan does not exist"

export const commitmentReply = ({ exchange, place, today }: Asked): Effect.Effect<Reply> =>
  readJson(exchange.request, (bytes) => void (exchange.body = bytes)).pipe(
    Effect.map((body): Reply => {
      const { errors, fields } = readUpdate(body)
      if (fields === null) return answer(today, 400, Object.values(errors).flat().join(" "))
      const { realMillis, world } = exchange
      const now = World.enter(world, realMillis())
      if (Result.isFailure(getNodeAt(world, place, fields.vcn_id))) return answer(today, 404, sentences.NodeUnknown)
      const set = setCommitment(
        world,
        { nodeId: fields.vcn_id, setting: fields.node_status, skuId: fields.committed_plan },
        now
      )
      if (Result.isSuccess(set)) return answer(today, 200, "Updated Successfully")
      const { _tag } = set.failure
      return answer(today, 412, _tag === "Invalid" ? invalidSentence(fields.committed_plan) : sentences[_tag])
    }),
    Effect.catch(({ code, message }) => Effect.succeed(answer({ ...today, failuresWith200: false }, code, message)))
  )
