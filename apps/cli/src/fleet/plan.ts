/**
 * What has to change so that a fleet is as its file says. Pure: (file, ledger, observed nodes) → plan. Nothing is done to a node that the
 * ledger does not have, nor to one of which it is doubtful whether it is there; and nothing is replaced that was not asked for
 * (`replace`). What the plan costs is here as well.
 */
import { sumIfKnown, sumInr } from "@berthkit/core/domain/Money"
import { isSpelling } from "@berthkit/core/client/creation/Ownership"
import type { Node } from "@berthkit/core/domain/Node"
import { isFailed } from "@berthkit/core/domain/NodeStatus"
import { type Price, type PriceList, sumOfPrices } from "@berthkit/core/domain/Price"
import type { CommittedOption } from "@berthkit/core/domain/Commitment"
import { bySpelling } from "./bySpelling.ts"
import { costOfOrder } from "../commitmentLog/orderCost.ts"
import { differencesOf, isSameOrder } from "./differences.ts"
import { commitmentText, type FleetFile, type Group } from "./FleetFile.ts"
import { entriesOf, type Entry, type Ledger, memberOf, ownedIds, type Owned, restored } from "./Ledger.ts"
import { type Member, memberText } from "./Member.ts"

/** Whether `--replace` names a member. */
const isAskedFor = (replace: PlanOptions["replace"], member: string): boolean =>
  replace === "all" || replace.includes(member)

/** Protected by the file or by the ledger, so that removing a group together with its protection deletes nothing. */
const isProtected = (entry: Entry, group: LoadedGroup | undefined): boolean =>
  entry.protect === true || group?.protect === true

/**
 * Whether the outcome of a pending create must be known before anything is done: its member is no longer wanted, this run does not continue
 * its replacement, or the file orders something else. A run continues only a create that equals the order in the file, because nothing is
 * sent that was not shown.
 */
export const mustBeKnown =
  (file: LoadedFleet, ledger: Ledger, { isDestroy, replace }: Pick<PlanOptions, "isDestroy" | "replace">) =>
  (entry: Entry): boolean => {
    const { group, n } = memberOf(entry)
    const wanted = file.groups.find((each) => each.group === group)
    const members = entriesOf(ledger).filter((each) => each.state !== "none" && memberOf(each).group === group)
    return (
      isDestroy ||
      wanted === undefined ||
      members.length > wanted.count ||
      (entry.previous !== undefined && (!isAskedFor(replace, entry.member) || isProtected(entry, wanted))) ||
      !isSameOrder(entry, wanted.nameOf(n), wanted)
    )
  }

/** What was observed. */
export interface World {
  /** The nodes of the list, by id, and those of the ledger that only a read shows. */
  readonly nodes: ReadonlyMap<number, Node>
  /** Nodes of the ledger that are gone. */
  readonly gone: ReadonlySet<number>
  /** Nodes of other fleets on this machine. */
  readonly elsewhere: ReadonlySet<number>
  /** By node, in words: what is lost of its committed period if it is deleted. */
  readonly losses: ReadonlyMap<number, string>
  /** By member with an open create: nodes that this machine took for its possible result. Default: none. */
  readonly candidates?: ReadonlyMap<string, ReadonlyArray<number>>
}

/**
 * Nodes that the open create of a member may have made, in ascending order: those of its name, in some spelling, that no ledger has, and
 * those that this machine took for possible ones.
 */
export const candidatesFor = (
  { pending }: Pick<Entry, "pending">,
  nodes: Iterable<Node>,
  isTaken: (id: number) => boolean,
  recorded: ReadonlyArray<number> = []
): ReadonlyArray<number> => {
  if (pending === undefined) return []
  const named = bySpelling(nodes)(pending.name).flatMap(({ id, status }) => (status === "terminate" ? [] : [id]))
  return Array.from(new Set([...named, ...recorded].filter((id) => !isTaken(id)))).toSorted((a, b) => a - b)
}

/** Which nodes an open create may have made, as the end of a sentence; empty if none is known. */
export const candidatesText = (ids: ReadonlyArray<number>): string =>
  ids.length === 0
    ? ""
    : ids.length === 1
      ? `; node ${ids[0]} may be its own`
      : `; one of the nodes ${ids.join(", ")} may be its own`

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
      /** Nodes that it may have made by then. */
      readonly candidates: ReadonlyArray<number>
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
      /** The new node, if an earlier run has made it. */
      readonly made: Node | null
      readonly isResumed: boolean
      /** Whether this reverts a replacement: then `made` is the original node, which stays, and `old` is its replacement. */
      readonly isTakenBack: boolean
      /** Why, in words. */
      readonly reasons: ReadonlyArray<string>
    }
  | {
      readonly action: "differs"
      readonly node: Node
      /** The node that this one replaces, if an earlier run began the replacement and did not finish it. */
      readonly old: Node | null
      readonly differences: ReadonlyArray<string>
      /** What to do about it; a protected node is never replaced. */
      readonly remedy: "replace" | "goOn" | "protected" | "commitment"
    }
  /** Sets the commitment of a node. Null: the node that the preceding change of this member makes. */
  | { readonly action: "commit"; readonly node: Node | null; readonly group: LoadedGroup }
  /** Nothing is sent for it: a node that a change of this member deletes has a commitment, which is paid to its end. */
  | { readonly action: "forfeit"; readonly node: Node; readonly loss: string }
  | { readonly action: "unchanged"; readonly node: Node }
  | {
      readonly action: "kept"
      readonly node: Node
      /** Whether the file no longer protects it, so that the next run may delete it. */
      readonly isReleased: boolean
    }
  /** Perhaps a second node of the member: it is shown, and left alone. */
  | {
      readonly action: "doubled"
      readonly node: Node
      readonly own: Owned
      /** Whether `own` was to replace it. */
      readonly isReplaced: boolean
    }
  /** Neither listed nor certainly gone, or on its way out: it is left alone. */
  | {
      readonly action: "doubted"
      readonly owned: Owned
      readonly why: "missing" | "terminating"
      /** Whether the file wants it. */
      readonly isWanted: boolean
    }
  /** Its commitment was sent and got no reply: until a person says what the portal shows, nothing is bought or deleted for the member. */
  | { readonly action: "unsure"; readonly node: Node; readonly commitment: string }
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

/** How many members have more than one node. */
export const doubledOf = ({ changes }: Plan): ReadonlyArray<string> =>
  Array.from(
    new Set(
      changes.flatMap((change) =>
        // An unfinished replacement of an earlier run also leaves two nodes.
        change.action === "doubled" || (change.action === "differs" && change.old !== null)
          ? [memberText(change.member)]
          : []
      )
    )
  )

/** A change of a member that stays as it is. */
type Staying = Extract<Change, { readonly action: "unchanged" | "commit" | "differs" | "unsure" }>

const staying: ReadonlyArray<Change["action"]> = ["unchanged", "commit", "differs", "unsure"]

const isComing = ({ status }: Node): boolean => status === "creating" || status === "created" || isFailed(status)

const nodesThatStay = (changes: ReadonlyArray<Change>): ReadonlyArray<readonly [Staying, Node]> =>
  changes.flatMap((change) => {
    if (!staying.includes(change.action)) return []
    const { node } = change as Staying
    return node === null ? [] : [[change as Staying, node] as const]
  })

/** Members that stay and do not run yet: each may be meant to replace a node that is to be deleted. */
export const unsettledOf = (changes: ReadonlyArray<Change>): ReadonlyArray<Staying> =>
  nodesThatStay(changes).flatMap(([change, node]) => (isComing(node) ? [change] : []))

/** Members that stay, and may be meant to replace one of these nodes because they are younger. */
export const youngerOf = (
  changes: ReadonlyArray<Change>,
  deleted: ReadonlyArray<Pick<Node, "id">>
): ReadonlyArray<readonly [Staying, Node]> =>
  nodesThatStay(changes).filter(([, node]) => deleted.some(({ id }) => id < node.id))

/**
 * Members that stay, may be meant to replace one of these nodes, and are off or in a status that Berth does not know. An older node may
 * replace a younger one if the file wants it again, as after the rename of its group was reverted.
 */
export const stoppedOf = (
  changes: ReadonlyArray<Change>,
  deleted: ReadonlyArray<Pick<Node, "id">>,
  { members }: Pick<Ledger, "members">
): ReadonlyArray<readonly [Staying, Node]> => {
  if (deleted.length === 0) return []
  const younger = new Set(youngerOf(changes, deleted).map(([change]) => change))
  return nodesThatStay(changes).filter(
    ([change, node]) =>
      (younger.has(change) || members.get(memberText(change.member))?.awaited === true) &&
      node.status !== "running" &&
      !isComing(node)
  )
}

/** Members that are given up with their node, and those whose node was seen to run while the file wants it. */
export const awaitedOf = ({ changes }: Plan): ReadonlyArray<readonly [Member, boolean]> =>
  changes.flatMap((change): ReadonlyArray<readonly [Member, boolean]> => {
    const isGivenUp =
      (change.action === "delete" && change.why !== "destroy") ||
      change.action === "kept" ||
      (change.action === "doubted" && !change.isWanted)
    if (isGivenUp) return [[change.member, true]]
    const isSeen = nodesThatStay([change]).some(([, { status }]) => status === "running")
    return isSeen ? [[change.member, false]] : []
  })

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

/**
 * Nodes that may be a second node of a member: they have its name in some spelling, and are in no other fleet's ledger. Their plan and image
 * prove nothing: another machine may apply another version of the file. While a create of the member is open, a node of its name may be the
 * result.
 */
export const twinsOf = (
  entries: Iterable<Entry>,
  nodes: ReadonlyMap<number, Node>,
  elsewhere: ReadonlySet<number>
): ReadonlyArray<{ readonly entry: Entry; readonly node: Node; readonly own: Owned }> => {
  const all = Array.from(entries)
  const owned = new Set(all.flatMap(({ node, previous }) => [node, previous].flatMap((each) => each?.id ?? [])))
  const named = bySpelling(nodes.values())
  return all.flatMap((entry) => {
    const { node: own, pending } = entry
    if (own === undefined || pending !== undefined) return []
    // A service that shows the member's own name whole would not cut that of its twin.
    const shown = nodes.get(own.id)?.name
    return named(shown ?? own.name)
      .filter(({ id, status }) => !owned.has(id) && !elsewhere.has(id) && status !== "terminate")
      .filter(({ name }) => shown === undefined || isSpelling(shown, name))
      .map((node) => ({ entry, node, own }))
  })
}

/**
 * Members that have two nodes in the ledger because a replacement was begun and not finished: `node` is the old one, which exists, and
 * `own` the new one, which is not gone.
 */
export const unfinishedOf = (
  entries: Iterable<Entry>,
  nodes: ReadonlyMap<number, Node>,
  isGone: (id: number) => boolean
): ReturnType<typeof twinsOf> =>
  Array.from(entries).flatMap((entry) => {
    const { node: own, previous } = entry
    const node = previous && nodes.get(previous.id)
    const isThere = ({ status }: Node) => status !== "terminate"
    if (own === undefined || node === undefined || !isThere(node) || isGone(own.id)) return []
    const made = nodes.get(own.id)
    return made === undefined || isThere(made) ? [{ entry, node, own }] : []
  })

/** Whether a change names a node. */
const isAbout = (change: Change, id: number): boolean =>
  [
    "node" in change ? change.node : null,
    "old" in change ? change.old : null,
    "made" in change ? change.made : null
  ].some((node) => node?.id === id)

/** What to do about a create of which it is not known whether it made a node. */
export const laterOr = (member: string): string =>
  `Run the same command again in eleven minutes. If it is not known then either, look at the nodes of its name, and say which is its own: berth fleet adopt ID --as ${member}; or that none is: berth fleet forget ${member}`

class Planner {
  readonly changes: Array<Change> = []
  readonly conflicts: Array<Conflict> = []
  readonly #file: LoadedFleet
  readonly #ledger: Ledger
  readonly #world: World
  readonly #options: PlanOptions
  readonly #owned: ReadonlySet<number>
  readonly #named: ReturnType<typeof bySpelling>
  readonly #picked = new Set<string>()

  constructor(file: LoadedFleet, ledger: Ledger, world: World, options: PlanOptions) {
    this.#file = file
    this.#ledger = ledger
    this.#world = world
    this.#options = options
    this.#owned = ownedIds(ledger)
    this.#named = bySpelling(world.nodes.values())
  }

  plan(): Plan {
    const { isDestroy, pick, replace } = this.#options
    const entries = entriesOf(this.#ledger)
    const groups = new Map(this.#file.groups.map((group) => [group.group, group]))
    const slots = Map.groupBy(
      entries.flatMap((entry) => this.#settled(entry)),
      ({ member }) => member.group
    )
    for (const { entry, node, own } of twinsOf(entries, this.#world.nodes, this.#world.elsewhere)) {
      this.changes.push({ action: "doubled", member: memberOf(entry), node, own, isReplaced: false })
    }
    for (const name of new Set([...groups.keys(), ...slots.keys()])) {
      this.#group(groups.get(name), slots.get(name) ?? [], isDestroy)
    }
    const { gone, nodes } = this.#world
    for (const { entry, node, own } of unfinishedOf(entries, nodes, (id) => gone.has(id))) {
      if (this.changes.some((change) => isAbout(change, node.id))) continue
      this.changes.push({ action: "doubled", member: memberOf(entry), node, own, isReplaced: true })
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
      return [slotOf(restored(entry), this.#world)]
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
    const removed = new Set<Slot>()
    const kept = new Set<Slot>()
    for (const slot of slots.toSorted(givenUpFirst(this.#options.pick))) {
      if (slots.length - removed.size - kept.size <= count) break
      if (this.#options.pick.includes(slot.entry.member)) this.#picked.add(slot.entry.member)
      // These states delete no node in this run, so protection does not matter.
      const mayGo = !isProtected(slot.entry, group) || ["gone", "terminating", "pending"].includes(slot.state)
      ;(mayGo ? removed : kept).add(slot)
    }
    for (const slot of slots) {
      if (this.#isUnsure(slot)) continue
      if (removed.has(slot)) this.#remove(slot, why)
      else if (kept.has(slot)) this.#keep(slot, group)
      else if (group !== undefined) this.#have(slot, group)
    }
    if (group === undefined) return
    const taken = new Set(slots.map(({ member }) => member.n))
    const missing = count - (slots.length - removed.size - kept.size)
    for (let n = 1, left = missing; left > 0; n++) {
      if (taken.has(n)) continue
      left--
      this.#create({ group: group.group, n }, group, null)
    }
  }

  /** Whether it is unknown what was bought for the node of a member, which is shown then. */
  #isUnsure({ entry, member, node, state }: Slot): boolean {
    const { committing } = entry
    if (state !== "there" || node === null || committing === undefined) return false
    this.changes.push({ action: "unsure", member, node, commitment: committing })
    return true
  }

  #remove({ entry, member, node, state }: Slot, why: Extract<Change, { readonly action: "delete" }>["why"]) {
    if (state === "gone") {
      const { previous } = entry
      // Neither there nor certainly gone: its line is all that is known of it.
      return previous === undefined
        ? this.changes.push({ action: "settle", member, what: "member" })
        : this.#doubt(member, previous, false)
    }
    if (state === "terminating") {
      const isOldThere = entry.previous !== undefined && this.#world.nodes.has(entry.previous.id)
      return isOldThere ? this.#doubt(member, entry.node!, false, "terminating") : undefined
    }
    if (state === "doubted") return this.#doubt(member, entry.node!, false)
    if (state === "pending") {
      return this.#refuse(
        `It is not known yet whether ${entry.pending!.name} (${entry.member}) was created: it cannot be given up now${this.#candidatesText(entry)}.`,
        laterOr(entry.member)
      )
    }
    const old = entry.previous && this.#world.nodes.get(entry.previous.id)
    const isOldThere = old !== undefined && old.status !== "terminate"
    this.changes.push({ action: "delete", member, node: node!, old: isOldThere ? old : null, why })
    this.#forfeit(entry, node!)
    if (isOldThere) this.#forfeit(entry, old)
  }

  /** Shows what is lost with a node that is deleted. Only the ledger of another machine may know of its commitment. */
  #forfeit(entry: Entry, node: Node) {
    const { commitment } = entry
    const isCommitted =
      entry.node?.id === node.id && commitment !== undefined && !commitment.startsWith("hourly_billing")
    const loss =
      this.#world.losses.get(node.id) ??
      (isCommitted ? `it is committed with ${commitment}, and the rest of that period is lost` : undefined)
    if (loss !== undefined) this.changes.push({ action: "forfeit", member: memberOf(entry), node, loss })
  }

  #keep({ entry, member, node, state }: Slot, group: LoadedGroup | undefined) {
    const isReleased = group?.protect === false
    if (node !== null) this.changes.push({ action: "kept", member, node, isReleased })
    else if (state === "doubted") this.#doubt(member, entry.node!, false)
  }

  #doubt(member: Member, owned: Owned, isWanted: boolean, why: "missing" | "terminating" = "missing") {
    this.changes.push({ action: "doubted", member, owned, why, isWanted })
  }

  /** A member that the file wants and the ledger has. */
  #have(slot: Slot, group: LoadedGroup) {
    const { entry, member, node, state } = slot
    switch (state) {
      case "doubted":
        return this.#doubt(member, entry.node!, true)
      case "terminating":
        return this.#doubt(member, entry.node!, true, "terminating")
      case "gone":
        return entry.previous === undefined
          ? this.#create(member, group, entry.node!)
          : this.#doubt(member, entry.previous, true)
      case "pending":
        return this.#resume(slot, group)
      case "there":
        break
    }
    if (node === null) return
    const { previous } = entry
    if (previous !== undefined) {
      const old = this.#world.nodes.get(previous.id)
      const name = group.nameOf(member.n)
      const differences = differencesOf(entry, node, group, name)
      // It was asked to go, and is on its way out.
      if (old?.status === "terminate") {
        return differences.length === 0
          ? this.#unchanged(slot, group, node)
          : this.#differs(slot, group, node, null, differences, "replace")
      }
      if (old === undefined) return this.#doubt(member, previous, true)
      const isBack =
        entry.previousAsked !== true &&
        differences.length > 0 &&
        differencesOf({ ...previous, node: previous }, old, group, name).length === 0
      // One that was asked to go is asked again. Another may be the only one that does its work.
      const isBegun = entry.previousAsked === true || this.#isToReplace(entry)
      if (!isBegun || isProtected(slot.entry, group)) {
        const what = isBack
          ? [`node ${old.id} is as the file says, and node ${node.id}, which was to replace it, is not`]
          : [...differences, `replaces node ${old.id}, which is still there`]
        return this.#differs(slot, group, node, old, what, "goOn")
      }
      return isBack
        ? this.#replaceOn(slot, group, node.name, { old: node, made: old, isTakenBack: true })
        : this.#replaceOn(slot, group, node.name, { old, made: node, isTakenBack: false }, differences)
    }
    const differences = differencesOf(entry, node, group, group.nameOf(member.n))
    if (differences.length === 0) return this.#unchanged(slot, group, node)
    if (!this.#isToReplace(entry) || isProtected(slot.entry, group)) {
      return this.#differs(slot, group, node, null, differences, "replace")
    }
    const name = group.nameOf(member.n)
    if (this.#isTaken(name, member)) return
    const fresh = { action: "replace", made: null, isResumed: false, isTakenBack: false } as const
    this.changes.push({ ...fresh, member, group, name, old: node, reasons: differences })
    this.#forfeit(entry, node)
    this.#commitWith(member, group)
  }

  #differs(
    slot: Slot,
    group: LoadedGroup,
    node: Node,
    old: Node | null,
    differences: ReadonlyArray<string>,
    remedy: "replace" | "goOn"
  ) {
    const { member } = slot
    const isKept = isProtected(slot.entry, group)
    this.changes.push({ action: "differs", member, node, old, differences, remedy: isKept ? "protected" : remedy })
  }

  #isToReplace({ member }: Entry): boolean {
    return isAskedFor(this.#options.replace, member)
  }

  #unchanged({ entry, member }: Slot, group: LoadedGroup, node: Node) {
    const { commitment } = group
    if (commitment !== null && entry.commitment !== commitmentText(commitment)) {
      return this.changes.push({ action: "commit", member, node, group })
    }
    const left = commitment === null ? endOf(entry.commitment) : undefined
    return left === undefined
      ? this.changes.push({ action: "unchanged", member, node })
      : this.changes.push({ action: "differs", member, node, old: null, differences: [left], remedy: "commitment" })
  }

  /** Adds the commitment of the node that the preceding change makes. */
  #commitWith(member: Member, group: LoadedGroup) {
    if (group.commitment !== null) this.changes.push({ action: "commit", member, node: null, group })
  }

  /** Continues a replacement of an earlier run. A new node that differs from the file by now is not committed. */
  #replaceOn(
    { entry, member }: Slot,
    group: LoadedGroup,
    name: string,
    nodes: Pick<Extract<Change, { readonly action: "replace" }>, "old" | "made" | "isTakenBack">,
    differences: ReadonlyArray<string> = []
  ) {
    const begun = nodes.isTakenBack
      ? "the file is as it was before the replacement"
      : `an earlier run began it${this.#candidatesText(entry)}`
    const reasons = [begun, ...differences.map((each) => `its new node has ${each}`)]
    this.changes.push({ action: "replace", isResumed: true, member, group, name, reasons, ...nodes })
    this.#forfeit(entry, nodes.old)
    const isOpen = nodes.made === null || entry.commitment === undefined
    if (isOpen && !nodes.isTakenBack && differences.length === 0) this.#commitWith(member, group)
  }

  #resume(slot: Slot, group: LoadedGroup) {
    const { entry, member } = slot
    const name = group.nameOf(member.n)
    if (!isSameOrder(entry, name, group)) {
      return this.#refuse(
        `It is not known yet whether ${entry.pending!.name} (${entry.member}) was created on ${entry.pending!.plan} as an earlier run ordered it, and the file orders something else${this.#candidatesText(entry)}.`,
        laterOr(entry.member)
      )
    }
    const old = entry.previous && this.#world.nodes.get(entry.previous.id)
    if (old === undefined) {
      this.changes.push({
        action: "create",
        member,
        group,
        name,
        was: null,
        isResumed: true,
        candidates: this.#candidates(entry)
      })
      return this.#commitWith(member, group)
    }
    if (!this.#isToReplace(entry) || isProtected(slot.entry, group)) {
      return this.#refuse(
        `It is not known yet whether the node that replaces ${old.id} (${entry.member}) was created${this.#candidatesText(entry)}.`,
        `Run the same command again in eleven minutes, or go on with the replacement: --replace ${entry.member}`
      )
    }
    return this.#replaceOn(slot, group, name, { old, made: null, isTakenBack: false })
  }

  #create(member: Member, group: LoadedGroup, was: Owned | null) {
    const name = group.nameOf(member.n)
    if (this.#isTaken(name, member)) return
    this.changes.push({ action: "create", member, group, name, was, isResumed: false, candidates: [] })
    this.#commitWith(member, group)
  }

  /** Nodes that the open create of a member may have made. */
  #candidates(entry: Entry): ReadonlyArray<number> {
    const { candidates, elsewhere, nodes } = this.#world
    const isTaken = (id: number) => this.#owned.has(id) || elsewhere.has(id)
    return candidatesFor(entry, nodes.values(), isTaken, candidates?.get(entry.member))
  }

  #candidatesText(entry: Entry): string {
    return candidatesText(this.#candidates(entry))
  }

  /** Whether a node that is not the fleet's has the name, in some spelling: it is not touched, and no other is made beside it. */
  #isTaken(name: string, member: Member): boolean {
    const others = this.#named(name).filter(({ id, status }) => !this.#owned.has(id) && status !== "terminate")
    const [first] = others
    if (first === undefined) return false
    const ids = others.map(({ id }) => id).join(", ")
    const what = first.name === name ? name : `${first.name}, which may be ${name} as the service spells it,`
    this.#refuse(
      `${what} exists (${others.length === 1 ? "id" : "ids"} ${ids}) and is not in the ledger: \`berth fleet adopt ${first.id} --as ${memberText(member)}\`, or choose another name.`,
      `To take it in: berth fleet adopt ${first.id} --as ${memberText(member)}`
    )
    return true
  }
}

/** The plan. */
export const planOf = (file: LoadedFleet, ledger: Ledger, world: World, options: PlanOptions): Plan =>
  new Planner(file, ledger, world, options).plan()

/** What happens to a commitment of the ledger that the file no longer names; undefined if nothing more is paid. */
const endOf = (commitment: string | undefined): string | undefined => {
  if (commitment === undefined || commitment.startsWith("hourly_billing")) return undefined
  const what = commitment.startsWith("auto_renew")
    ? "it is renewed at the end of each period, and paid again"
    : "the service deletes the node at its end"
  return `committed with ${commitment}, which the file does not name any more: ${what}`
}

/** The committed options with the number of days that the group wants. */
export const optionsOf = ({ commitment, order }: Group, prices: PriceList): ReadonlyArray<CommittedOption> =>
  commitment === null || commitment.days === null
    ? []
    : prices.ofOrder(order).committedOptions.filter(({ days }) => days === commitment.days)

/** What a change costs before and after it; nothing where there is no node. */
export interface ChangePrice {
  readonly now: Price | null
  readonly after: Price | null
  /** What it pays at once for a committed period; null if unknown, 0 without one. */
  readonly committedInr: number | null
  /** The minimum charge of the node that it makes; null if unknown, 0 if it makes none. */
  readonly minimumInr: number | null
}

const running = (now: Price | null, after: Price | null): ChangePrice => ({
  now,
  after,
  committedInr: 0,
  minimumInr: 0
})

const ordered = (group: LoadedGroup, now: Price | null, prices: PriceList): ChangePrice => {
  const cost = costOfOrder(prices.ofOrder(group.order))
  return { now, after: cost.price, committedInr: 0, minimumInr: cost.minimumBillingInr }
}

export const priceOf = (change: Change, prices: PriceList): ChangePrice => {
  switch (change.action) {
    case "create":
      return ordered(change.group, null, prices)
    case "delete":
      return running(
        sumOfPrices([change.node, ...(change.old ? [change.old] : [])].map((node) => prices.ofNode(node).price)),
        null
      )
    case "replace": {
      const old = prices.ofNode(change.old).price
      if (change.made === null) return ordered(change.group, old, prices)
      const made = prices.ofNode(change.made).price
      return running(sumOfPrices([old, made]), made)
    }
    case "differs": {
      const old = change.old === null ? [] : [prices.ofNode(change.old).price]
      const price = sumOfPrices([prices.ofNode(change.node).price, ...old])
      return running(price, price)
    }
    case "commit": {
      const { group, node } = change
      const price = node === null ? null : prices.ofNode(node).price
      const [option, ...others] = optionsOf(group, prices)
      const isBought = group.commitment?.days !== null
      const committedInr = !isBought ? 0 : option === undefined || others.length > 0 ? null : option.priceInr
      return { ...running(price, price), committedInr }
    }
    case "unsure":
    case "unchanged":
    case "kept":
    case "doubled": {
      const { price } = prices.ofNode(change.node)
      return running(price, price)
    }
    case "doubted": {
      const { price } = prices.ofNode(change.owned)
      return running(price, price)
    }
    case "forfeit":
    case "settle":
      return running(null, null)
  }
}

/** What the fleet costs now and after the plan, and the difference, which is known where what changes has known prices. */
export interface PlanPrice {
  readonly now: Price
  readonly after: Price
  /** In rupees, at most what all nodes cost per hour that are there at once; null if unknown. Old nodes cost until they are deleted. */
  readonly peakPerHourInr: number | null
  readonly differencePerHourInr: number | null
  readonly differencePerMonthInr: number | null
  /** The price of all committed periods that the plan buys; null if one is unknown. */
  readonly committedInr: number | null
  /** The sum of the minimum charges of the nodes that it makes; null if one is unknown. */
  readonly minimumInr: number | null
}

/** The difference of two prices; null where one is not known. Nothing costs nothing. */
export const differenceOf = (
  { after, now }: Pick<ChangePrice, "now" | "after">,
  key: "pricePerHourInr" | "pricePerMonthInr"
): number | null => {
  const [before, later] = [now === null ? 0 : now[key], after === null ? 0 : after[key]]
  return before === null || later === null ? (now === after ? 0 : null) : sumInr([later, -before])
}

/**
 * The peak of a plan: all that is there now and all creates, because deletes come last; of each finished replacement what it costs more; and
 * of those under way, `atOnce` at a time, both nodes.
 */
const peakOf = (changes: ReadonlyArray<Change>, each: ReadonlyArray<ChangePrice>, atOnce: number): number | null => {
  const most = (price: Price | null) => (price === null ? 0 : price.maxPricePerHourInr)
  const now = each.map((price) => most(price.now))
  const creates = changes.flatMap(({ action }, i) => (action === "create" ? [most(each[i]!.after)] : []))
  const replaces = changes.flatMap((change, i) => {
    if (change.action !== "replace" || change.made !== null) return []
    const [from, to] = [most(each[i]!.now), most(each[i]!.after)]
    return from === null || to === null
      ? [null]
      : [{ more: Math.max(0, sumInr([to, -from])), both: Math.min(from, to) }]
  })
  const known = replaces.flatMap((replace) => replace ?? [])
  const underWay = known.map(({ both }) => both).toSorted((a, b) => b - a)
  return known.length < replaces.length
    ? null
    : sumIfKnown([...now, ...creates, ...known.map(({ more }) => more), ...underWay.slice(0, atOnce)])
}

/** `atOnce`: how many nodes are replaced at a time. */
export const planPrice = ({ changes }: Plan, prices: PriceList, atOnce = 1): PlanPrice => {
  const each = changes.map((change) => priceOf(change, prices))
  const sum = (key: "pricePerHourInr" | "pricePerMonthInr") => sumIfKnown(each.map((price) => differenceOf(price, key)))
  return {
    now: sumOfPrices(each.flatMap(({ now }) => now ?? [])),
    after: sumOfPrices(each.flatMap(({ after }) => after ?? [])),
    peakPerHourInr: peakOf(changes, each, atOnce),
    differencePerHourInr: sum("pricePerHourInr"),
    differencePerMonthInr: sum("pricePerMonthInr"),
    committedInr: sumIfKnown(each.map(({ committedInr }) => committedInr)),
    minimumInr: sumIfKnown(each.map(({ minimumInr }) => minimumInr))
  }
}
