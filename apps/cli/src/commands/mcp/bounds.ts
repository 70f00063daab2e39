/**
 * What a server may have changed: the actions that it was started for, and how many nodes at which price it may create until it ends. A
 * create takes its part before it is sent, so that two at once never take the same.
 */
import { sumInr } from "@berthkit/core/domain/Money"
import { Effect, Option } from "effect"
import { UsageFault } from "../../failure/CliFailure.ts"
import { rupees } from "../../output/format.ts"
import { currencyName } from "../../records/price.ts"
import type { Kept, Terms } from "../../proposal/ProposalStore.ts"

export const actions = ["create", "delete", "commit"] as const
export type Action = (typeof actions)[number]

/** What the server was started with. */
export interface Bounds {
  readonly allow: ReadonlyArray<Action>
  /** Rupees per hour that all creates together may cost. */
  readonly maxCostInr: Option.Option<number>
  /** How many nodes it may create. */
  readonly maxNodes: Option.Option<number>
}

const startedWith = (flags: string) => `A person sets this where the server is started: berth mcp ${flags}`

/** That the server may not do it. */
export const notAllowed = (action: Action, { allow }: Bounds) =>
  new UsageFault({
    message:
      allow.length === 0
        ? "This server is read-only: nothing can be changed through it."
        : `This server may not ${action}: it may ${allow.join(", ")}.`,
    hint: startedWith(`--allow ${[...allow, action].join(",")}`)
  })

/** The bounds of one run of the server. */
export const makeBounds = (bounds: Bounds) => {
  /** Rupees per hour of each proposal whose node it has created, or may have. */
  const taken = new Map<string, number>()

  /** Fails where the change would pass a bound. What the proposal `id` has taken before is its own. */
  const ensureWithin = ({ order, proposal }: Terms, id?: string): Effect.Effect<void, UsageFault> => {
    if (order.action !== "create") return Effect.void
    const others = Array.from(taken).flatMap(([other, price]) => (other === id ? [] : [price]))
    if (Option.exists(bounds.maxNodes, (most) => others.length + 1 > most)) {
      const message = `This server may create ${Option.getOrElse(bounds.maxNodes, () => 0)} nodes, and has created ${others.length}.`
      return Effect.fail(new UsageFault({ message, hint: startedWith("--max-nodes N") }))
    }
    if (Option.isNone(bounds.maxCostInr)) return Effect.void
    const most = bounds.maxCostInr.value
    const price = proposal.maxPricePerHourInr
    const total = price === null ? null : sumInr([...others, price])
    if (total !== null && total <= most) return Effect.void
    const message = proposal.foreignPrice
      ? `The price is in ${currencyName(proposal.foreignPrice)}, and the limit of this server is in rupees: they cannot be compared.`
      : total === null
        ? `The price is not known, so it may be above ₹${rupees(most)} per hour.`
        : `The nodes of this server would cost ₹${rupees(total)} per hour, more than ₹${rupees(most)}.`
    return Effect.fail(new UsageFault({ message, hint: startedWith("--max-cost ₹/HOUR") }))
  }

  /** Takes the part of a create. */
  const take = ({ id, terms: { order, proposal } }: Kept): void => {
    if (order.action === "create") taken.set(id, proposal.maxPricePerHourInr ?? 0)
  }

  /** Gives it back, where no node came of it. */
  const giveBack = ({ id }: Kept): void => void taken.delete(id)

  return { ensureWithin, take, giveBack }
}
