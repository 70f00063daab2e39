/** The commitment setting of a node (assumptions A16 and A17 in docs/interface/assumptions.md). */
import { Result } from "effect"
import { choose, type CommitmentSetting, termAt } from "../lifecycle/CommitmentTerm.ts"
import { getNode } from "./nodes.ts"
import { type Invalid, invalid, type NodeLocked, type NodeTerminating, type NodeUnknown } from "./Refusal.ts"
import { phase, put, type World } from "./World.ts"
import { committedOption } from "./catalogue.ts"

/** The commitment that a request asks for. */
export interface CommitmentOrder {
  readonly nodeId: number
  readonly setting: CommitmentSetting
  /** The id of the committed option to take; 0 means none (interface.md §4 note 3). */
  readonly skuId: number | undefined
}

type CommitmentRefusal = Invalid | NodeUnknown | NodeLocked | NodeTerminating

/** Sets what follows the commitment. Returns the sku of the term that runs afterwards; `null` if there is no commitment. */
export const setCommitment = (
  world: World,
  { nodeId: id, setting, skuId: wanted }: CommitmentOrder,
  now: number
): Result.Result<number | null, CommitmentRefusal> => {
  const skuId = wanted === 0 ? undefined : wanted
  return Result.flatMap(getNode(world, id), (node): Result.Result<number | null, CommitmentRefusal> => {
    if (node.locked) return Result.fail({ _tag: "NodeLocked", id })
    if (phase(world, node, now) === "terminate") return Result.fail({ _tag: "NodeTerminating", id })
    const option = skuId === undefined ? null : committedOption(node.plan, skuId)
    if (option === undefined) {
      return Result.fail(invalid({ skuId: [`${skuId} is no committed_sku_id of the plan ${node.plan.slug}.`] }))
    }
    const commitment = choose(node.commitment, setting, option, now)
    if (commitment === null && setting === "auto_renew") {
      return Result.fail(
        invalid({ skuId: [`Node ${id} has no commitment to renew: name a committed_sku_id of its plan.`] })
      )
    }
    put(world, { ...node, commitment })
    return Result.succeed(commitment === null ? null : (termAt(commitment, now)?.skuId ?? null))
  })
}
