/**
 * The terms of an order: its exact request, its current price, and its node. They are computed when the order is proposed and again before
 * it is sent; if they differ, the person's consent does not cover them.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { DateTime, Effect } from "effect"
import { ensureMayBuy } from "../../applying/ledgerCommitments.ts"
import { ensureUnprotected } from "../../applying/Registry.ts"
import { freshCatalogue } from "../../catalogue/ImageList.ts"
import { lossesOf } from "../../commitmentLog/CommitmentLog.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { resolveNode } from "../../nodes/resolve.ts"
import { createProposal, diskHint, offerFor, underSlug } from "../../proposal/offer.ts"
import type { Order, Terms } from "../../proposal/ProposalStore.ts"
import { ensureKeepsProtected, optionFor, proposalOf as commitmentProposal } from "../commitment/set.ts"
import { proposalOf as deleteProposal } from "../node/delete.ts"

const aboutOf = ({ createdAt, id, name, publicIp }: Node): Terms["about"] => ({
  id,
  name,
  createdAt: createdAt && DateTime.formatIso(createdAt),
  publicIp
})

/** The same fault with a hint that names tools, instead of a flag of another command. */
const withoutForce = ({ hint, message }: UsageFault) =>
  new UsageFault({
    message,
    hint: hint?.startsWith(diskHint)
      ? "Name the size of the disk in GB: disk"
      : "See list_plans and list_images for what there is."
  })

/** The terms of an order. `known` is the record of its node if it was read just now. */
export const termsOf = Effect.fnUntraced(function* (order: Order, known?: Node) {
  if (order.action === "create") {
    const catalogue = yield* freshCatalogue
    const spec = yield* Effect.mapError(Effect.fromResult(underSlug(order.spec, catalogue.images)), withoutForce)
    const offer = yield* Effect.mapError(offerFor(spec, catalogue, { force: false }), withoutForce)
    return { order: { ...order, spec }, proposal: createProposal(spec, offer), about: null } satisfies Terms
  }
  // The record has to include the plan, which only the list reports.
  const node = known ?? (yield* resolveNode(String(order.id), { change: true }))
  const about = aboutOf(node)
  if (order.action === "delete") {
    yield* ensureUnprotected([node])
    const losses = yield* lossesOf
    return { order, proposal: deleteProposal(node, losses(node.id)), about } satisfies Terms
  }
  const skuId = order.skuId ?? undefined
  yield* ensureKeepsProtected(node, order.setting)
  const option =
    skuId === undefined || skuId === 0
      ? undefined
      : yield* Effect.mapError(optionFor(node, skuId), (fault) =>
          fault._tag === "UsageFault" ? withoutForce(fault) : fault
        )
  yield* ensureMayBuy(node, { setting: order.setting, skuId }, option?.days)
  return { order, proposal: commitmentProposal(node, order.setting, skuId, option), about } satisfies Terms
})
