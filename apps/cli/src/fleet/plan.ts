/**
 * What has to change so that a fleet is as its file says. Pure: (file, ledger, observed nodes) → plan. Nothing is done to a node that the
 * ledger does not have, nor to one of which it is doubtful whether it is there; and nothing is replaced that was not asked for
 * (`replace`). What the plan costs is here as well.
 */
import { sumIfKnown, sumInr } from "@berthkit/core/domain/Money"
import type { Node } from "@berthkit/core/domain/Node"
import { type Price, type PriceList, sumOfPrices } from "@berthkit/core/domain/Price"
import { differencesOf } from "./differences.ts"
import { commitmentText, type FleetFile, type Group } from "./FleetFile.ts"
import { entriesOf, type Entry, type Ledger, memberOf, ownedIds, type Owned } from "./Ledger.ts"
import { type Member, memberText } from "./Member.ts"

/**
 * Whether it has to be known what became of a create that is pending: because its member is not wanted any more, or because it cannot be
 * ordered again as it was.
 */
export const mustBeKnown =
  (file: LoadedFleet, ledger: Ledger, isDestroy: boolean) =>
  (entry: Entry): boolean => {
    const { group } = memberOf(entry)
    const wanted = file.groups.find((each) => each.group === group)
    const members = entriesOf(ledger).filter((each) => each.state !== "none" && memberOf(each).group === group)
    return (
      isDestroy ||
      wanted === undefined ||
      members.length > wanted.count ||
      JSON.stringify(entry.sent?.["startScripts"] ?? []) !== JSON.stringify(wanted.scripts)
    )
  }

/** What was observed. */
export interface World {
  /** The nodes of the list, by id, and those of the ledger that only a read shows. */
  readonly nodes: ReadonlyMap<number, Node>
  /** Nodes of the ledger that are gone. */
  readonly gone: ReadonlySet<number>
}

/** A group, and what its start scripts come to. */
export interface LoadedGroup extends Group {
  /** Digests of the start scripts. */
  readonly scripts: ReadonlyArray<string>
}

export interface LoadedFleet extends FleetFile {
  readonly groups: ReadonlyArray<LoadedGroup>
}

export interface PlanOptions {
  /** Members whose node is replaced where it differs. */
  readonly replace: "all" | ReadonlyArray<string>
  /** Members that are deleted first where there are too many. */
  readonly pick: ReadonlyArray<string>
  /** Whether the fleet is to have no members. */
  readonly isDestroy: boolean
}

/** What happens to one member. */
export type Change = { readonly member: Member } & (
  | {
      readonly action: "create"
      readonly group: LoadedGroup
      readonly name: string
      /** A node that it had, and that is gone. */
      readonly was: Owned | null
      /** Whether an earlier run has sent the create, and what became of it has to be found out. */
      readonly isResumed: boolean
    }
  | {
      readonly action: "delete"
      readonly node: Node
      /** The node that this one was to replace, which goes with it. */
      readonly old: Node | null
      readonly why: "extra" | "removed" | "destroy"
    }
  | {
      readonly action: "replace"
      readonly group: LoadedGroup
      readonly name: string
      readonly old: Node
      /** The new node, where an earlier run has made it. */
      readonly made: Node | null
      readonly isResumed: boolean
      /** Why, in words. */
      readonly reasons: ReadonlyArray<string>
    }
  | {
      readonly action: "differs"
      readonly node: Node
      /** The node that this one is to replace, where an earlier run has begun that and not ended it. */
      readonly old: Node | null
      readonly differences: ReadonlyArray<string>
    }
  | { readonly action: "commit"; readonly node: Node; readonly group: LoadedGroup }
  | { readonly action: "unchanged"; readonly node: Node }
  | { readonly action: "kept"; readonly node: Node }
  /** Neither listed nor certainly gone, or on its way out: it is left alone. */
  | {
      readonly action: "doubted"
      readonly owned: Owned
      readonly why: "missing" | "terminating"
    }
  /** Only the ledger changes: the node that was deleted, or that nobody wants any more, is gone. */
  | {
      readonly action: "settle"
      readonly what: "member" | "previous" | "restore" | "undelete"
    }
)

/** Why nothing is done at all. */
export interface Conflict {
  readonly message: string
  readonly hint: string
  readonly kind: "usage" | "conflict"
}

export interface Plan {
  readonly changes: ReadonlyArray<Change>
  readonly conflicts: ReadonlyArray<Conflict>
}

/** Whether the fleet is as its file says. */
export const isEqual = ({ changes }: Plan): boolean =>
  changes.every(({ action }) => action === "unchanged" || action === "settle")

/** Whether something is sent for a change. */
export const isSent = ({ action }: Change): boolean => ["create", "delete", "replace", "commit"].includes(action)

/** Whether nothing is sent. */
export const isIdle = ({ changes }: Plan): boolean => !changes.some(isSent)

/** How many members are changed in this way. */
export const countOf = ({ changes }: Plan, action: Change["action"]): number =>
  changes.filter((change) => change.action === action).length

/** How many nodes are deleted. */
export const deletesOf = (plan: Plan): number =>
  countOf(plan, "replace") +
  plan.changes.reduce((sum, change) => sum + (change.action !== "delete" ? 0 : change.old === null ? 1 : 2), 0)

/** A member of the ledger as it is now. */
interface Slot {
  readonly entry: Entry
  readonly member: Member
  readonly state: "there" | "pending" | "gone" | "doubted" | "terminating"
  readonly node: Node | null
}

const slotOf = (entry: Entry, { gone, nodes }: World): Slot => {
  const member = memberOf(entry)
  if (entry.node === undefined) return { entry, member, state: "pending", node: null }
  const node = nodes.get(entry.node.id) ?? null
  if (node !== null) return { entry, member, state: node.status === "terminate" ? "terminating" : "there", node }
  return { entry, member, state: gone.has(entry.node.id) ? "gone" : "doubted", node }
}

/** In which order members are given up: those that were picked, those that have no node, then the highest number. */
const givenUpFirst =
  (pick: ReadonlyArray<string>) =>
  (a: Slot, b: Slot): number => {
    const rank = ({ entry, state }: Slot) =>
      pick.includes(entry.member) ? 0 : state === "gone" || state === "terminating" ? 1 : 2
    return rank(a) - rank(b) || b.member.n - a.member.n
  }

class Planner {
  readonly changes: Array<Change> = []
  readonly conflicts: Array<Conflict> = []
  readonly #file: LoadedFleet
  readonly #ledger: Ledger
  readonly #world: World
  readonly #options: PlanOptions
  readonly #owned: ReadonlySet<number>
  readonly #named: ReadonlyMap<string, ReadonlyArray<Node>>
  readonly #picked = new Set<string>()

  constructor(file: LoadedFleet, ledger: Ledger, world: World, options: PlanOptions) {
    this.#file = file
    this.#ledger = ledger
    this.#world = world
    this.#options = options
    this.#owned = ownedIds(ledger)
    this.#named = Map.groupBy(world.nodes.values(), ({ name }) => name)
  }

  plan(): Plan {
    const { isDestroy, pick, replace } = this.#options
    const entries = entriesOf(this.#ledger)
    const groups = new Map(this.#file.groups.map((group) => [group.group, group]))
    const slots = Map.groupBy(
      entries.flatMap((entry) => this.#settled(entry)),
      ({ member }) => member.group
    )
    for (const name of new Set([...groups.keys(), ...slots.keys()])) {
      this.#group(groups.get(name), slots.get(name) ?? [], isDestroy)
    }
    for (const member of [...pick, ...(replace === "all" ? [] : replace)]) {
      if (!entries.some((entry) => entry.member === member && entry.state !== "none")) {
        this.#refuse(
          `The fleet ${this.#ledger.fleet} has no member ${member}.`,
          "List its members: berth diff",
          "usage"
        )
      }
    }
    for (const member of pick) {
      if (this.#picked.has(member) || this.conflicts.length > 0) continue
      this.#refuse(
        `--pick ${member} deletes nothing: its group has no member too many.`,
        "Lower the count of the group, or leave out --pick.",
        "usage"
      )
    }
    return { changes: this.changes, conflicts: this.conflicts }
  }

  #refuse(message: string, hint: string, kind: Conflict["kind"] = "conflict") {
    this.conflicts.push({ message, hint, kind })
  }

  /** The slot of an entry, once what an earlier run has left of it is settled; none where the member has no node. */
  #settled(entry: Entry): ReadonlyArray<Slot> {
    const member = memberOf(entry)
    const { gone, nodes } = this.#world
    const settle = (what: Extract<Change, { readonly action: "settle" }>["what"]) =>
      this.changes.push({ action: "settle", member, what })
    if (entry.state === "none") return []
    const slot = slotOf(entry, this.#world)
    const { previous, ...rest } = entry
    if (previous !== undefined && gone.has(previous.id) && entry.state !== "creating") {
      settle("previous")
      return this.#settled(rest)
    }
    if (previous !== undefined && slot.state === "gone" && nodes.has(previous.id)) {
      settle("restore")
      return [slotOf({ ...rest, state: "made", node: previous, sent: null }, this.#world)]
    }
    if (entry.state === "deleting") {
      if (slot.state === "gone" && previous === undefined) {
        settle("member")
        return []
      }
      if (slot.state !== "there") return []
      settle("undelete")
    }
    return [slot]
  }

  #group(group: LoadedGroup | undefined, slots: ReadonlyArray<Slot>, isDestroy: boolean) {
    const count = isDestroy ? 0 : (group?.count ?? 0)
    const why = isDestroy ? "destroy" : group === undefined ? "removed" : "extra"
    const isProtected = ({ entry }: Slot) => (group === undefined ? entry.protect === true : group.protect)
    const removed = new Set<Slot>()
    const kept = new Set<Slot>()
    for (const slot of slots.toSorted(givenUpFirst(this.#options.pick))) {
      if (slots.length - removed.size - kept.size <= count) break
      if (this.#options.pick.includes(slot.entry.member)) this.#picked.add(slot.entry.member)
      const mayGo = !isProtected(slot) || slot.state === "gone" || slot.state === "terminating"
      ;(mayGo ? removed : kept).add(slot)
    }
    for (const slot of slots) {
      if (removed.has(slot)) this.#remove(slot, why)
      else if (kept.has(slot)) this.#keep(slot)
      else if (group !== undefined) this.#have(slot, group)
    }
    if (group === undefined) return
    const taken = new Set(slots.map(({ member }) => member.n))
    const missing = count - (slots.length - removed.size - kept.size)
    for (let n = 1, left = missing; left > 0; n++) {
      if (taken.has(n)) continue
      left--
      this.#create({ group: group.group, n }, group, null, false)
    }
  }

  #remove({ entry, member, node, state }: Slot, why: Extract<Change, { readonly action: "delete" }>["why"]) {
    if (state === "gone") {
      const { previous } = entry
      // Neither there nor certainly gone: its line is all that is known of it.
      return previous === undefined
        ? this.changes.push({ action: "settle", member, what: "member" })
        : this.changes.push({ action: "doubted", member, owned: previous, why: "missing" })
    }
    if (state === "terminating") return
    if (state === "doubted") return this.changes.push({ action: "doubted", member, owned: entry.node!, why: "missing" })
    if (state === "pending") {
      return this.#refuse(
        `It is not known yet whether ${entry.pending!.name} (${entry.member}) was created: it cannot be given up now.`,
        `Run the same command again in eleven minutes; if you know what became of it, first: berth fleet forget ${entry.member}`
      )
    }
    const old = entry.previous && this.#world.nodes.get(entry.previous.id)
    const isOldThere = old !== undefined && old.status !== "terminate"
    return this.changes.push({ action: "delete", member, node: node!, old: isOldThere ? old : null, why })
  }

  #keep({ entry, member, node, state }: Slot) {
    if (node !== null) this.changes.push({ action: "kept", member, node })
    else if (state === "doubted") this.changes.push({ action: "doubted", member, owned: entry.node!, why: "missing" })
  }

  /** A member that the file wants and the ledger has. */
  #have(slot: Slot, group: LoadedGroup) {
    const { entry, member, node, state } = slot
    switch (state) {
      case "doubted":
        return this.changes.push({ action: "doubted", member, owned: entry.node!, why: "missing" })
      case "terminating":
        return this.changes.push({ action: "doubted", member, owned: entry.node!, why: "terminating" })
      case "gone":
        return entry.previous === undefined
          ? this.#create(member, group, entry.node!, false)
          : this.changes.push({ action: "doubted", member, owned: entry.previous, why: "missing" })
      case "pending":
        return this.#resume(slot, group)
      case "there":
        break
    }
    if (node === null) return
    const { previous } = entry
    if (previous !== undefined) {
      const old = this.#world.nodes.get(previous.id)
      // It was asked to go, and is on its way out.
      if (old?.status === "terminate") return this.#unchanged(slot, group, node)
      if (old === undefined) return this.changes.push({ action: "doubted", member, owned: previous, why: "missing" })
      // One that was asked to go is asked again. Another may be the only one that does its work.
      if (entry.previousAsked !== true && !this.#isToReplace(entry)) {
        const differences = [`replaces node ${old.id}, which is still there`]
        return this.changes.push({ action: "differs", member, node, old, differences })
      }
      return this.#resumeReplace(slot, group, node.name, old)
    }
    const differences = differencesOf(entry, node, group)
    if (differences.length === 0) return this.#unchanged(slot, group, node)
    if (!this.#isToReplace(entry)) {
      return this.changes.push({ action: "differs", member, node, old: null, differences })
    }
    const name = group.nameOf(member.n)
    if (this.#isTaken(name, member)) return
    const fresh = { action: "replace", made: null, isResumed: false } as const
    return this.changes.push({ ...fresh, member, group, name, old: node, reasons: differences })
  }

  #isToReplace({ member }: Entry): boolean {
    const { replace } = this.#options
    return replace === "all" || replace.includes(member)
  }

  #unchanged({ entry, member }: Slot, group: LoadedGroup, node: Node) {
    const { commitment } = group
    return commitment !== null && entry.commitment !== commitmentText(commitment)
      ? this.changes.push({ action: "commit", member, node, group })
      : this.changes.push({ action: "unchanged", member, node })
  }

  #resumeReplace({ member, node }: Slot, group: LoadedGroup, name: string, old: Node) {
    const begun = { action: "replace", isResumed: true, reasons: ["an earlier run began it"] } as const
    return this.changes.push({ ...begun, member, group, name, old, made: node })
  }

  #resume(slot: Slot, group: LoadedGroup) {
    const { entry, member } = slot
    const old = entry.previous && this.#world.nodes.get(entry.previous.id)
    if (old === undefined) return this.#create(member, group, null, true, entry.pending!.name)
    if (!this.#isToReplace(entry)) {
      const differences = ["an earlier run has begun to replace it"]
      return this.changes.push({ action: "differs", member, node: old, old: null, differences })
    }
    return this.#resumeReplace(slot, group, entry.pending!.name, old)
  }

  #create(member: Member, group: LoadedGroup, was: Owned | null, isResumed: boolean, name = group.nameOf(member.n)) {
    // The node of a create that was sent is not in the ledger yet: its key finds it.
    if (!isResumed && this.#isTaken(name, member)) return
    this.changes.push({ action: "create", member, group, name, was, isResumed })
  }

  /** Whether a node has the name that is not the fleet's: it is not touched, and no other is made beside it. */
  #isTaken(name: string, member: Member): boolean {
    const others = (this.#named.get(name) ?? []).filter(
      ({ id, status }) => !this.#owned.has(id) && status !== "terminate"
    )
    const [first] = others
    if (first === undefined) return false
    const ids = others.map(({ id }) => id).join(", ")
    this.#refuse(
      `${name} exists (${others.length === 1 ? "id" : "ids"} ${ids}) and is not in the ledger: \`berth fleet adopt ${first.id} --as ${memberText(member)}\`, or choose another name.`,
      `To take it in: berth fleet adopt ${first.id} --as ${memberText(member)}`
    )
    return true
  }
}

/** The plan. */
export const planOf = (file: LoadedFleet, ledger: Ledger, world: World, options: PlanOptions): Plan =>
  new Planner(file, ledger, world, options).plan()

/** What a change costs before and after it; nothing where there is no node. */
export interface ChangePrice {
  readonly now: Price | null
  readonly after: Price | null
}

export const priceOf = (change: Change, prices: PriceList): ChangePrice => {
  switch (change.action) {
    case "create":
      return { now: null, after: prices.ofOrder(change.group.order).price }
    case "delete":
      return {
        now: sumOfPrices([change.node, ...(change.old ? [change.old] : [])].map((node) => prices.ofNode(node).price)),
        after: null
      }
    case "replace":
      return {
        now:
          change.made === null
            ? prices.ofNode(change.old).price
            : sumOfPrices([prices.ofNode(change.old).price, prices.ofNode(change.made).price]),
        after: change.made === null ? prices.ofOrder(change.group.order).price : prices.ofNode(change.made).price
      }
    case "differs":
    case "commit":
    case "unchanged":
    case "kept": {
      const old = change.action === "differs" && change.old !== null ? [prices.ofNode(change.old).price] : []
      const price = sumOfPrices([prices.ofNode(change.node).price, ...old])
      return { now: price, after: price }
    }
    case "doubted": {
      const { price } = prices.ofNode(change.owned)
      return { now: price, after: price }
    }
    case "settle":
      return { now: null, after: null }
  }
}

/** What the fleet costs now and after the plan, and the difference, which is known where what changes has known prices. */
export interface PlanPrice {
  readonly now: Price
  readonly after: Price
  readonly differencePerHourInr: number | null
  readonly differencePerMonthInr: number | null
}

/** The difference of two prices; null where one is not known. Nothing costs nothing. */
export const differenceOf = (
  { after, now }: ChangePrice,
  key: "pricePerHourInr" | "pricePerMonthInr"
): number | null => {
  const [before, later] = [now === null ? 0 : now[key], after === null ? 0 : after[key]]
  return before === null || later === null ? (now === after ? 0 : null) : sumInr([later, -before])
}

export const planPrice = ({ changes }: Plan, prices: PriceList): PlanPrice => {
  const each = changes.map((change) => priceOf(change, prices))
  const sum = (key: "pricePerHourInr" | "pricePerMonthInr") => sumIfKnown(each.map((price) => differenceOf(price, key)))
  return {
    now: sumOfPrices(each.flatMap(({ now }) => now ?? [])),
    after: sumOfPrices(each.flatMap(({ after }) => after ?? [])),
    differencePerHourInr: sum("pricePerHourInr"),
    differencePerMonthInr: sum("pricePerMonthInr")
  }
}
