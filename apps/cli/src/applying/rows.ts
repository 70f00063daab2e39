/**
 * A plan as rows for people and programs, with the price of each.
 */
import type { Node } from "@berthkit/core/domain/Node"
import type { PriceList } from "@berthkit/core/domain/Price"
import type { Failure } from "../failure/Problem.ts"
import { commitmentText } from "../fleet/FleetFile.ts"
import { memberText } from "../fleet/Member.ts"
import { type Change, differenceOf, isSent, type Plan, priceOf } from "../fleet/plan.ts"
import type { FleetChange } from "../records/fleetChange.ts"

/** What came of a change. */
export interface Done {
  readonly outcome: FleetChange["outcome"]
  /** The node afterwards, where there is one. */
  readonly node: Node | null
  /** In place of the reason of the plan. */
  readonly reason?: string
  /** Why it failed. */
  readonly failure?: Failure
}

type Shown = Exclude<Change, { readonly action: "settle" }>

const deletedWhy = {
  extra: "more than the count of its group",
  removed: "not in the file any more",
  destroy: "the fleet is destroyed"
} as const

const commitmentOf = (group: { readonly commitment: Parameters<typeof commitmentText>[0] | null }): string =>
  group.commitment === null ? "" : `then commitment ${commitmentText(group.commitment)}`

const reasonOf = (change: Shown, isPreview: boolean): string => {
  switch (change.action) {
    case "create": {
      const { group, isResumed, was } = change
      const gone =
        was === null
          ? ""
          : isPreview
            ? `node ${was.id} cannot be found; apply makes sure that it is gone`
            : `node ${was.id} is gone`
      return [isResumed ? "an earlier run sent this create" : gone, commitmentOf(group)]
        .filter((text) => text !== "")
        .join("; ")
    }
    case "delete":
      return `${deletedWhy[change.why]}${change.old === null ? "" : `; also node ${change.old.id}, which it was to replace`}`
    case "replace": {
      const old = `deletes node ${change.old.id} afterwards`
      return [...change.reasons, old].join("; ")
    }
    case "differs":
      return `${change.differences.join("; ")} (--replace ${memberText(change.member)} ${change.old === null ? "changes it" : "goes on"})`
    case "commit":
      return `sets the commitment ${change.group.commitment === null ? "" : commitmentText(change.group.commitment)}`
    case "kept":
      return "protected: it is never deleted"
    case "doubted":
      return change.why === "terminating"
        ? "is being deleted; run apply again once it is gone"
        : "cannot be found, and is not certainly gone: left alone"
    case "unchanged":
      return ""
  }
}

const factsOf = (change: Shown): Pick<FleetChange, "id" | "name" | "plan" | "image"> => {
  switch (change.action) {
    case "create":
    case "replace": {
      const { image, plan } = change.group.order
      const id = change.action === "create" ? null : (change.made?.id ?? change.old.id)
      return { id, name: change.name, plan, image: String(image) }
    }
    case "doubted":
      return change.owned
    default:
      return change.node
  }
}

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
    const price = prices === undefined ? { now: null, after: null } : priceOf(change, prices)
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
        reason: done.failure?.message ?? done.reason ?? reasonOf(change, isPreview),
        outcome: done.outcome,
        pricePerHourNowInr: prices === undefined ? null : amount(price.now),
        pricePerHourAfterInr: prices === undefined ? null : amount(price.after),
        differencePerHourInr: difference("pricePerHourInr"),
        differencePerMonthInr: difference("pricePerMonthInr")
      }
    ]
  })
