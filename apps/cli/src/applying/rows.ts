/**
 * Shows a plan as rows for people and programs, each with its price.
 */
import type { Node } from "@berthkit/core/domain/Node"
import type { PriceList } from "@berthkit/core/domain/Price"
import type { Failure } from "../failure/Problem.ts"
import { memberText } from "../fleet/Member.ts"
import { type Change, isSent, type Plan } from "../fleet/Change.ts"
import { candidatesText } from "../fleet/candidates.ts"
import { type ChangePrice, differenceOf, priceOf } from "../fleet/planPrice.ts"
import { periodPrice } from "../output/format.ts"
import { endOfCommitment } from "../records/commitment.ts"
import type { FleetChange } from "../records/fleetChange.ts"
import { messageOfMember } from "./memberProblem.ts"

/** The result of a change. */
export interface Done {
  readonly outcome: FleetChange["outcome"]
  /** The node afterwards; null if there is none. */
  readonly node: Node | null
  /** Shown instead of the plan's own reason. */
  readonly reason?: string
  /** Set if the change failed. */
  readonly failure?: Failure
}

type Shown = Exclude<Change, { readonly action: "settle" }>

const deletedWhy = {
  extra: "more than the count of its group",
  removed: "no longer in the file",
  destroy: "the fleet is destroyed"
} as const

/** Describes what a commitment buys and what happens at its end: `30 days for ₹4000.00; at its end the commitment is renewed`. */
const commitmentWhy = ({ group, node }: Extract<Change, { readonly action: "commit" }>, { option }: ChangePrice) => {
  if (group.commitment === null) return ""
  const { days, setting } = group.commitment
  const price = (option && periodPrice(option)) ?? "a price that is not known"
  const bought = days === null ? "" : `${days} days for ${price}; `
  return `${bought}${endOfCommitment[setting]}${node === null ? "; set once the node is there" : ""}`
}

const remedies: Readonly<
  Record<Extract<Change, { readonly action: "differs" }>["remedy"], (member: string, old: Node | null) => string>
> = {
  replace: (member) => ` (--replace ${member} changes it)`,
  goOn: (member) => ` (--replace ${member} goes on)`,
  protected: (member, old) =>
    old === null
      ? "; protected: not replaced"
      : `; protected: not replaced; to finish the replacement, remove protect from the file, apply it, and apply it again with --replace ${member}`,
  released: () => "; the ledger protects it until this apply has finished; run apply again to make the change",
  releasedReplace: (member, old) =>
    `; the ledger protects it until this apply has finished; then --replace ${member} ${old === null ? "changes it" : "goes on"}`,
  bought: (member) =>
    `; apply does not buy it again: look in the account portal, and record what it shows with berth fleet adopt --as ${member} --commitment`,
  commitment: () => "; to end the commitment, write commitment: hourly_billing in the file and apply it"
}

/**
 * What to do about a node that has a member's name and is in no ledger. The node may be somebody else's, so the hint
 * never says to delete it.
 */
export const whoseText = (id: number): string =>
  `Find out who created node ${id}, because it may be somebody else's: berth history ${id} names the command if Berth did. To make it a member: berth fleet adopt ${id} --as MEMBER`

const reasonOf = (change: Shown, isPreview: boolean, price: ChangePrice): string => {
  switch (change.action) {
    case "create": {
      const { candidates, isResumed, was } = change
      const gone =
        was === null
          ? ""
          : isPreview
            ? `node ${was.id} cannot be found; apply makes sure that it is gone`
            : `node ${was.id} is gone`
      return isResumed ? `an earlier run sent this create${candidatesText(candidates)}` : gone
    }
    case "delete":
      return `${deletedWhy[change.why]}${change.old === null ? "" : `; also node ${change.old.id}, which it was to replace`}`
    case "replace": {
      const old = `deletes node ${change.old.id} afterwards`
      return [...change.reasons, old].join("; ")
    }
    case "differs":
      if (change.remedy === "protected" && change.why !== undefined)
        return `${change.differences.join("; ")}; protected: ${change.why}`
      return `${change.differences.join("; ")}${remedies[change.remedy](memberText(change.member), change.old)}`
    case "commit":
      return commitmentWhy(change, price)
    case "forfeit":
      return change.loss
    case "kept":
      if (change.why !== undefined) return `protected: ${change.why}`
      return change.isReleased
        ? "the ledger protects it until this apply has finished; the next apply may delete it"
        : "protected: it is never deleted"
    case "doubled": {
      const { id } = change.node
      if (change.isReplaced && change.isProtected) {
        return `node ${change.own.id} was created to replace it; both exist and are billed. Both stay protected until the replacement is finished or you run berth fleet forget ${memberText(change.member)}`
      }
      if (change.isReplaced) {
        return `node ${change.own.id} was created to replace it; both exist and are billed. If nobody needs node ${id}: berth node delete ${id}`
      }
      return `node ${id} has the name of ${memberText(change.member)}, but the ledger has node ${change.own.id}. ${whoseText(id)}`
    }
    case "unsure":
      return `it is not known whether its commitment ${change.commitment} was set: nothing is bought or deleted for this member until you say what the account portal shows, with berth fleet adopt --commitment`
    case "doubted":
      return change.why === "terminating"
        ? "is being deleted; run apply again once it is gone"
        : "cannot be found, but is not certainly gone, so it is left alone"
    case "unchanged":
      return ""
  }
}

const factsOf = (change: Shown): Pick<FleetChange, "id" | "name" | "plan" | "image"> => {
  switch (change.action) {
    case "create":
    case "replace": {
      const { image, plan } = change.group.order
      const ordered = { name: change.name, plan, image: String(image) }
      return change.action === "create" ? { id: null, ...ordered } : (change.made ?? { id: change.old.id, ...ordered })
    }
    case "doubted":
      return change.owned
    case "commit": {
      const { group, member, node } = change
      const { image, plan } = group.order
      return node ?? { id: null, name: group.nameOf(member.n), plan, image: String(image) }
    }
    default:
      return change.node
  }
}

/** What each row has in place of prices if the plan changes nothing: no prices are read in that case. */
const nothingPriced: ChangePrice = { now: null, after: null, committedInr: 0, minimumInr: 0 }

const amount = (price: { readonly pricePerHourInr: number | null } | null): number | null =>
  price === null ? 0 : price.pricePerHourInr

const nothingOf: Done = { outcome: "planned", node: null }

/** A row for each member that has or had a node, in the order of the plan. */
export const rowsOf = (
  { changes }: Plan,
  prices: PriceList | undefined,
  {
    doneOf = () => nothingOf,
    isPreview = false
  }: { readonly doneOf?: (change: Change) => Done; readonly isPreview?: boolean } = {}
): ReadonlyArray<FleetChange> =>
  changes.flatMap((change): ReadonlyArray<FleetChange> => {
    if (change.action === "settle") return []
    const facts = factsOf(change)
    const price = prices === undefined ? nothingPriced : priceOf(change, prices)
    const done: Done = isSent(change) ? doneOf(change) : { outcome: "none", node: null }
    const difference = (key: "pricePerHourInr" | "pricePerMonthInr") =>
      prices !== undefined ? differenceOf(price, key) : isSent(change) ? null : 0
    return [
      {
        action: change.action,
        member: memberText(change.member),
        id: done.node?.id ?? facts.id,
        name: facts.name,
        plan: facts.plan,
        image: facts.image,
        reason:
          done.failure === undefined
            ? (done.reason ?? reasonOf(change, isPreview, price))
            : messageOfMember(memberText(change.member), done.failure),
        outcome: done.outcome,
        pricePerHourNowInr: prices === undefined ? null : amount(price.now),
        pricePerHourAfterInr: prices === undefined ? null : amount(price.after),
        differencePerHourInr: difference("pricePerHourInr"),
        differencePerMonthInr: difference("pricePerMonthInr"),
        committedPriceInr: price.committedInr,
        minimumBillingInr: price.minimumInr
      }
    ]
  })
