/**
 * Limits what a server may change. A server may do only the actions that it was started with. Three totals over its
 * whole run may be limited, too: the number of nodes that it creates, their price per hour, and the price of its
 * commitments. A change reserves its part of the limits before it is sent, so two concurrent changes never use the same
 * part.
 */
import { maxPerHourOf } from "@berthkit/core/domain/Price"
import { sumInr } from "@berthkit/core/domain/Money"
import { Effect, Option } from "effect"
import { buysPeriod } from "../../commitmentLog/CommitmentLog.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { rupees } from "../../output/format.ts"
import { currencyName } from "../../records/price.ts"
import { checkMaxCost } from "../../proposal/limits.ts"
import type { Kept, Terms } from "../../proposal/ProposalStore.ts"

export const actions = ["create", "delete", "commit"] as const
export type Action = (typeof actions)[number]

/** The limits that the server was started with. */
export interface Bounds {
  readonly allow: ReadonlyArray<Action>
  /** Limit on the total price of created nodes, in rupees per hour. */
  readonly maxCostInr: Option.Option<number>
  /** Limit on the total of committed periods, in rupees, including those of creates. */
  readonly maxCommitmentInr: Option.Option<number>
  /** Limit on the number of created nodes. */
  readonly maxNodes: Option.Option<number>
}

const startedWith = (flags: string) => `A person sets this when starting the server: berth mcp ${flags}`

/** The failure if the server may not do an action. */
export const notAllowed = (action: Action, { allow }: Bounds) =>
  new UsageFault({
    message:
      allow.length === 0
        ? "This server is read-only: nothing can be changed through it."
        : `This server may not ${action}: it may ${allow.join(", ")}.`,
    hint: startedWith(`--allow ${[...allow, action].join(",")}`)
  })

/** Whether a change pays for a committed period, at once or later. */
const buys = ({ order }: Terms): boolean =>
  order.action === "create"
    ? order.spec.committedSkuId !== undefined
    : order.action === "commit" && buysPeriod({ ...order, skuId: order.skuId ?? undefined })

const perHourOf = (proposal: Terms["proposal"]) => maxPerHourOf(proposal, proposal.minimumBillingInr)

/** The running totals of one server. */
export const makeBounds = (bounds: Bounds) => {
  /** For each proposal, the hourly price in rupees of the node that it created or may have created. */
  const taken = new Map<string, number>()
  /** For each proposal, the price in rupees of the committed period that it bought or may have bought. */
  const bought = new Map<string, number>()

  const othersIn = (all: ReadonlyMap<string, number>, id: string | undefined) =>
    Array.from(all).flatMap(([other, amount]) => (other === id ? [] : [amount]))

  const ensureCommitment = (terms: Terms, id?: string): Effect.Effect<void, UsageFault> => {
    if (Option.isNone(bounds.maxCommitmentInr) || !buys(terms)) return Effect.void
    const most = bounds.maxCommitmentInr.value
    const price = terms.proposal.committedPriceInr
    const total = price === null ? null : sumInr([...othersIn(bought, id), price])
    if (total !== null && total <= most) return Effect.void
    const message =
      total === null
        ? `The price of the commitment in rupees is not known, so it may be above ₹${rupees(most)}.`
        : `This server would buy commitments for ₹${rupees(total)}, more than ₹${rupees(most)}.`
    return Effect.fail(new UsageFault({ message, hint: startedWith("--max-commitment ₹") }))
  }

  const ensureCreate = ({ order, proposal }: Terms, id?: string): Effect.Effect<void, UsageFault> => {
    if (order.action !== "create") return Effect.void
    const others = othersIn(taken, id)
    if (Option.exists(bounds.maxNodes, (most) => others.length + 1 > most)) {
      const message = `This server may create ${Option.getOrElse(bounds.maxNodes, () => 0)} nodes, and has created ${others.length}.`
      return Effect.fail(new UsageFault({ message, hint: startedWith("--max-nodes N") }))
    }
    const most = Option.getOrUndefined(bounds.maxCostInr)
    const price = perHourOf(proposal)
    const total = price === null ? null : sumInr([...others, price])
    return checkMaxCost(total, most, () => {
      const hint = startedWith("--max-cost ₹/HOUR")
      const limit = `₹${rupees(most ?? 0)}`
      return {
        foreign: proposal.foreignPrice
          ? {
              message: `The price is in ${currencyName(proposal.foreignPrice)}, and the limit of this server is in rupees: they cannot be compared.`,
              hint
            }
          : undefined,
        unknown: { message: `The price is not known, so it may be above ${limit} per hour.`, hint },
        above: { message: `The nodes of this server would cost ₹${rupees(total)} per hour, more than ${limit}.`, hint }
      }
    })
  }

  /** Fails if the change would exceed a limit. An earlier reservation of the proposal `id` is not counted twice. */
  const ensureWithin = (terms: Terms, id?: string) =>
    Effect.andThen(ensureCreate(terms, id), ensureCommitment(terms, id))

  /** Reserves what a change uses of the limits. */
  const take = ({ id, terms }: Kept): void => {
    const { order, proposal } = terms
    if (order.action === "create") taken.set(id, perHourOf(proposal) ?? 0)
    if (buys(terms)) bought.set(id, proposal.committedPriceInr ?? 0)
  }

  /** Releases the reservation of a change that did nothing. */
  const giveBack = ({ id }: Kept): void => {
    taken.delete(id)
    bought.delete(id)
  }

  return { ensureWithin, take, giveBack }
}
