/**
 * Sends the setting of a node's commitment. A second request may buy a second period, and the service reports no commitments. So a purchase is
 * noted before it is sent, and as long as its outcome is unknown no command sends another one for that node: a person looks in the portal
 * and tells Berth.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { CommitmentSetting, CommittedOption } from "@berthkit/core/domain/Commitment"
import type { Node } from "@berthkit/core/domain/Node"
import { Clock, DateTime, Effect } from "effect"
import { CommitmentUnknown } from "../failure/CliFailure.ts"
import { CommitmentLog, keepSetting, type Open, orderText } from "./CommitmentLog.ts"

/** What is sent. */
export interface CommitmentOrder {
  readonly setting: CommitmentSetting
  readonly skuId: number | undefined
}

/** Whether a setting pays for a period: at once, or when the running one ends. */
export const buysPeriod = ({ setting, skuId = 0 }: CommitmentOrder): boolean => setting === "auto_renew" || skuId !== 0

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

/** That an earlier purchase for a node has no outcome yet. */
const stillUnknown = ({ id, name }: Named, open: Open) =>
  new CommitmentUnknown({
    id,
    name,
    because: `${orderText(open)} was sent at ${DateTime.formatIso(DateTime.makeUnsafe(open.sentMillis))}, and no reply came. Nothing was sent now`,
    hint: `Look in the account portal. If it shows that commitment: ${commandOf(id, open)} --found set; otherwise send it with --found not-set.`
  })

/** Fails if an earlier purchase for the node has no outcome yet, and this is one too. */
export const ensureKnown = Effect.fnUntraced(function* (node: Named, order: CommitmentOrder) {
  if (!buysPeriod(order)) return
  const open = yield* CommitmentLog.use((log) => log.openOf(node.id))
  if (open !== undefined) return yield* stillUnknown(node, open)
})

const send = ({ id }: Named, { setting, skuId }: CommitmentOrder) =>
  Nodes.use((nodes) => nodes.setCommitment(id, setting, { skuId }))

/** Sends a setting, a purchase only once. `again` after a person has seen that an earlier one was not set. */
export const sendCommitment = Effect.fnUntraced(function* (
  node: Named,
  order: CommitmentOrder,
  option: CommittedOption | undefined,
  again = false
) {
  const { id } = node
  const { setting, skuId } = order
  const log = yield* CommitmentLog
  if (!buysPeriod(order)) yield* send(node, order)
  else {
    const sentMillis = yield* Clock.currentTimeMillis
    const open = yield* log.begin({ id, sentMillis, setting, skuId: skuId ?? null }, again)
    if (open !== undefined) return yield* stillUnknown(node, open)
    // The outcome is known even if the note stays, which only asks a person later.
    const end = Effect.ignore(log.end(id))
    yield* Effect.tapError(send(node, order), (error) => (mayBeSet(error) ? Effect.void : end))
    yield* end
  }
  yield* keepSetting(id, setting, skuId, option)
})
