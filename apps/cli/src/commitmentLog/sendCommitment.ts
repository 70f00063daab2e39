/**
 * Sends the setting of a node's commitment, for every command. A second request may buy a second period, and the service does not report
 * commitments. So berth records each purchase before sending it. While the outcome is unknown, berth sends no other purchase for the node:
 * a person has to look in the portal and tell berth. Purchases are recorded by node id, so no command of this machine buys the same period
 * twice.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { CommittedOption } from "@berthkit/core/domain/Commitment"
import type { Node } from "@berthkit/core/domain/Node"
import { Clock, DateTime, Effect } from "effect"
import { CommitmentBought, CommitmentUnknown, whoOf } from "../failure/CliFailure.ts"
import {
  buysPeriod,
  commitmentLog,
  type CommitmentOrder,
  keepSetting,
  type Obstacle,
  type Open,
  orderText
} from "./CommitmentLog.ts"

/** Whether a failed request may have been carried out. A request that the rate limit rejected was certainly not carried out. */
export const mayBeSet = ({ reason }: BerthError): boolean => reason.mayBeProcessed && reason.retry !== "throttled"

/** The hint if the reply to a commitment request was lost. */
export const afterLost = (order: CommitmentOrder): string =>
  buysPeriod(order)
    ? "Look in the account portal before you run it again with --found set or --found not-set: a second request may buy another period."
    : "Run it again: it buys nothing."

/** A node whose name may be unknown. */
export interface Named extends Pick<Node, "id"> {
  readonly name: string | null
}

/** The command that sets this commitment, to be run again. */
export const commandOf = (
  id: number,
  { setting, skuId }: { readonly setting: string; readonly skuId: number | null }
) => `berth commitment set ${id} ${setting}${skuId === null ? "" : ` --sku ${skuId}`}`

/** The hint that says how to repeat a purchase that berth thinks was already made. */
export const sendAgain = (
  id: number,
  { setting, skuId }: { readonly setting: string; readonly skuId?: number | null | undefined }
) => `If the account portal does not show it: ${commandOf(id, { setting, skuId: skuId ?? null })} --found not-set`

/** The hint that says how a person settles a purchase whose outcome is unknown. */
export const settleHint = (id: number, open: { readonly setting: string; readonly skuId: number | null }): string =>
  `Look in the account portal. If it shows that commitment: ${commandOf(id, open)} --found set; otherwise send it with --found not-set.`

/** The failure if an earlier purchase for the node has no outcome yet. */
const stillUnknown = ({ id, name }: Named, open: Open) =>
  new CommitmentUnknown({
    id,
    name,
    because: `${orderText(open)} was sent at ${DateTime.formatIso(DateTime.makeUnsafe(open.sentMillis))}, and no reply came. Nothing was sent now`,
    hint: settleHint(id, open)
  })

/** The failure if the same period was already bought. */
const boughtBefore = ({ id, name }: Named, { setting, skuId }: CommitmentOrder, setMillis: number) => {
  const order = { setting, skuId: skuId ?? null }
  return new CommitmentBought({
    id,
    name,
    message: `${orderText(order)} of ${whoOf({ id, name })} was set at ${DateTime.formatIso(DateTime.makeUnsafe(setMillis))}, and a second request may buy another period. Nothing was sent now.`,
    hint: sendAgain(id, order)
  })
}

const inTheWay = (node: Named, order: CommitmentOrder, obstacle: Obstacle) =>
  obstacle._tag === "Open" ? stillUnknown(node, obstacle.open) : boughtBefore(node, order, obstacle.bought.setMillis)

/** Fails if the order is a purchase, and an earlier purchase for the node has no known outcome or bought the same period. */
export const ensureNew = Effect.fnUntraced(function* (node: Named, order: CommitmentOrder) {
  if (!buysPeriod(order)) return
  const purchase = { id: node.id, setting: order.setting, skuId: order.skuId ?? null }
  const obstacle = yield* commitmentLog.obstacleTo(purchase)
  if (obstacle !== undefined) return yield* inTheWay(node, order, obstacle)
})

/** How a request to set a commitment has ended: null if the setting was accepted. */
type FailureOf<A> = (done: A) => BerthError | null

/**
 * Sends a setting with `send`, and records it for each node. A purchase is recorded before it is sent, and is not sent if there is an
 * obstacle. `again` is set after a person has seen that the earlier purchase was not made.
 */
export const recording =
  (nodes: ReadonlyArray<Named>, order: CommitmentOrder, option: CommittedOption | undefined, again = false) =>
  <A, R>(send: Effect.Effect<A, BerthError, R>, failureOf: FailureOf<A> = () => null) =>
    Effect.gen(function* () {
      const { setting, skuId } = order
      const isPurchase = buysPeriod(order)
      const end = (begun: ReadonlyArray<Named>) =>
        Effect.forEach(begun, ({ id }) => Effect.ignore(commitmentLog.end(id)), { discard: true })
      const days = option?.days
      for (const [at, node] of isPurchase ? nodes.entries() : []) {
        const sentMillis = yield* Clock.currentTimeMillis
        const purchase = { id: node.id, sentMillis, setting, skuId: skuId ?? null, ...(days !== undefined && { days }) }
        const obstacle = yield* Effect.tapError(commitmentLog.begin(purchase, again), () => end(nodes.slice(0, at)))
        if (obstacle === undefined) continue
        yield* end(nodes.slice(0, at))
        return yield* inTheWay(node, order, obstacle)
      }
      const unlessSet = (error: BerthError) => (!isPurchase || mayBeSet(error) ? Effect.void : end(nodes))
      const done = yield* Effect.tapError(send, unlessSet)
      const failure = failureOf(done)
      if (failure !== null) {
        yield* unlessSet(failure)
        return done
      }
      for (const { id } of nodes) yield* keepSetting(id, setting, skuId, option)
      // Remove the record last: a process killed before this line leaves a record, and berth then asks a person.
      if (isPurchase) yield* end(nodes)
      return done
    })

/** Sends a setting; a purchase is sent only once. */
export const sendCommitment = (
  node: Named,
  order: CommitmentOrder,
  option: CommittedOption | undefined,
  again = false
) => {
  const { setting, skuId } = order
  const send = Nodes.use((nodes) => nodes.setCommitment(node.id, setting, { skuId }))
  return recording([node], order, option, again)(send)
}
