/**
 * Sends the setting of a node's commitment. A second request may buy a second period, and the service reports no commitments. So a purchase is
 * noted before it is sent, and as long as its outcome is unknown no command sends another one for that node: a person looks in the portal
 * and tells Berth. What this machine has bought for a node is known by the node's id, so no command buys the same for it again.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { CommittedOption } from "@berthkit/core/domain/Commitment"
import type { Node } from "@berthkit/core/domain/Node"
import { Clock, DateTime, Effect } from "effect"
import { CommitmentBought, CommitmentUnknown } from "../failure/CliFailure.ts"
import {
  buysPeriod,
  commitmentLog,
  type CommitmentOrder,
  keepSetting,
  type Obstacle,
  type Open,
  orderText
} from "./CommitmentLog.ts"

/** Whether a failed request may have been carried out. A refusal by the rate limit is an outcome. */
export const mayBeSet = ({ reason }: BerthError): boolean => reason.mayBeProcessed && reason.retry !== "throttled"

/** What to do after a reply was lost. */
export const afterLost = (order: CommitmentOrder): string =>
  buysPeriod(order)
    ? "Look in the account portal before you run it again with --found set or --found not-set: a second request may buy another period."
    : "Run it again: it buys nothing."

type Named = Pick<Node, "id" | "name">

/** The command that sets it, to be typed again. */
export const commandOf = (
  id: number,
  { setting, skuId }: { readonly setting: string; readonly skuId: number | null }
) => `berth commitment set ${id} ${setting}${skuId === null ? "" : ` --sku ${skuId}`}`

/** How to send a purchase again that Berth takes for one that was made. */
export const sendAgain = (
  id: number,
  { setting, skuId }: { readonly setting: string; readonly skuId?: number | null | undefined }
) => `If the account portal does not show it: ${commandOf(id, { setting, skuId: skuId ?? null })} --found not-set`

/** That an earlier purchase for a node has no outcome yet. */
const stillUnknown = ({ id, name }: Named, open: Open) =>
  new CommitmentUnknown({
    id,
    name,
    because: `${orderText(open)} was sent at ${DateTime.formatIso(DateTime.makeUnsafe(open.sentMillis))}, and no reply came. Nothing was sent now`,
    hint: `Look in the account portal. If it shows that commitment: ${commandOf(id, open)} --found set; otherwise send it with --found not-set.`
  })

/** That this purchase would be the second one of the same. */
const boughtBefore = ({ id, name }: Named, { setting, skuId }: CommitmentOrder, setMillis: number) => {
  const order = { setting, skuId: skuId ?? null }
  return new CommitmentBought({
    id,
    name,
    message: `${orderText(order)} of ${name} (${id}) was set at ${DateTime.formatIso(DateTime.makeUnsafe(setMillis))}, and a second request may buy another period. Nothing was sent now.`,
    hint: sendAgain(id, order)
  })
}

const inTheWay = (node: Named, order: CommitmentOrder, obstacle: Obstacle) =>
  obstacle._tag === "Open" ? stillUnknown(node, obstacle.open) : boughtBefore(node, order, obstacle.bought.setMillis)

/** Fails if this is a purchase, and an earlier one for the node has no outcome yet or was the same. */
export const ensureNew = Effect.fnUntraced(function* (node: Named, order: CommitmentOrder) {
  if (!buysPeriod(order)) return
  const purchase = { id: node.id, setting: order.setting, skuId: order.skuId ?? null }
  const obstacle = yield* commitmentLog.obstacleTo(purchase)
  if (obstacle !== undefined) return yield* inTheWay(node, order, obstacle)
})

const send = ({ id }: Named, { setting, skuId }: CommitmentOrder) =>
  Nodes.use((nodes) => nodes.setCommitment(id, setting, { skuId }))

/** Sends a setting, a purchase only once. `again` after a person has seen that an earlier one is not set. */
export const sendCommitment = Effect.fnUntraced(function* (
  node: Named,
  order: CommitmentOrder,
  option: CommittedOption | undefined,
  again = false
) {
  const { id } = node
  const { setting, skuId } = order
  if (!buysPeriod(order)) yield* send(node, order)
  else {
    const sentMillis = yield* Clock.currentTimeMillis
    const days = option?.days
    const purchase = { id, sentMillis, setting, skuId: skuId ?? null, ...(days !== undefined && { days }) }
    const obstacle = yield* commitmentLog.begin(purchase, again)
    if (obstacle !== undefined) return yield* inTheWay(node, order, obstacle)
    yield* Effect.tapError(send(node, order), (error) =>
      mayBeSet(error) ? Effect.void : Effect.ignore(commitmentLog.end(id))
    )
  }
  yield* keepSetting(id, setting, skuId, option)
  // Last: a process that is killed before this leaves a note, which only asks a person.
  if (buysPeriod(order)) yield* Effect.ignore(commitmentLog.end(id))
})
