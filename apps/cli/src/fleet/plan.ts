/**
 * Plans the changes that make a fleet match its file. Pure: (file, ledger, observed nodes) → plan. The plan never
 * touches a node that the ledger does not have or whose existence is in doubt, and it replaces only members that the
 * user named (`replace`).
 *
 * | the member according to the ledger | the file wants it | the file does not want it |
 * |---|---|---|
 * | has no line | create, unless a node has its name | |
 * | its create is open | the create continues if the order is the same; otherwise refused | refused |
 * | its node is listed and matches the file | unchanged, or commit | delete; kept if it is protected |
 * | its node differs | differs; replace if the user named it and it is not protected | delete; kept if it is protected |
 * | its node is terminating, because this fleet requested it, and no other node of the line may be there | create | nothing |
 * | its node is terminating otherwise | doubted | nothing; doubted if its old node is there |
 * | its node is not listed, and not certainly gone | doubted | doubted |
 * | its node is gone | create; the old node again if it was being replaced | settle: its line is removed |
 * | two nodes of an unfinished replacement | the replacement continues if the user named it, or if the deletion of the old node was requested; otherwise differs | delete both |
 * | the open create is of a replacement that does not continue | refused | refused |
 * | a purchase for its node may have been made, without an outcome | unsure | unsure |
 * | an earlier run has asked for its node's deletion, and the node is there | settle, then as any other node | the same |
 * | an earlier run has asked for its node's deletion, and the node is gone | settle, then create | settle: its line is removed |
 * | its node is gone, and the node that it was to replace is not certainly gone | doubted | doubted |
 *
 * If a group has too many members, those that the user picked go first, then those whose nodes are gone or terminating,
 * then the highest numbers.
 *
 * In addition, the plan shows every node that has a member's name and is in no ledger as doubled, and leaves it alone.
 */
import type { Node } from "@berthkit/core/domain/Node"
import type { Bought, Open } from "../commitmentLog/CommitmentLog.ts"
import type { Change, Conflict, LoadedFleet, LoadedGroup, Plan, PlanOptions } from "./Change.ts"
import { commitmentText, mayHaveBought, parseCommitment } from "./FleetCommitment.ts"
import { type Entry, type Ledger, type Owned, entriesOf, memberOf, ownedIds, restored } from "./Ledger.ts"
import { type Member, memberText } from "./Member.ts"
import { bySpelling } from "./bySpelling.ts"
import { candidatesFor, candidatesText, nodesBesides, unfinishedOf } from "./candidates.ts"
import { differencesOf, isSameOrder } from "./differences.ts"

/** Whether `--replace` names a member. */
const isAskedFor = (replace: PlanOptions["replace"], member: string): boolean =>
  replace === "all" || replace.includes(member)

/**
 * Whether a run goes on with a member's unfinished replacement: the user named the member, or the deletion of the old node was requested
 * already.
 */
const isGoneOn = ({ member, previousAsked }: Entry, replace: PlanOptions["replace"]): boolean =>
  previousAsked === true || isAskedFor(replace, member)

/** Why a member's nodes are protected although neither the file nor the ledger says so; undefined if they are not protected. */
const protectedElse = ({ node, previous }: Entry, protections: World["protections"]): string | undefined =>
  [node, previous].flatMap((owned) => (owned && protections?.get(owned.id)) ?? [])[0]

/**
 * Whether the file, the ledger or another record of this machine protects a member. The ledger counts as well, because
 * removing a group together with its protection must delete nothing.
 */
const isProtected = (
  entry: Entry,
  group: LoadedGroup | undefined,
  { protections }: Pick<World, "protections">
): boolean => entry.protect === true || group?.protect === true || protectedElse(entry, protections) !== undefined

/**
 * Whether the outcome of a pending create must be known before anything is done. True if its member is no longer
 * wanted, if this run does not continue its replacement, or if the file orders something else: a run continues only a
 * create that equals the order in the file, because berth sends only what it has shown.
 */
export const mustBeKnown =
  (
    file: LoadedFleet,
    ledger: Ledger,
    { isDestroy, replace }: Pick<PlanOptions, "isDestroy" | "replace">,
    world: Pick<World, "protections"> = {}
  ) =>
  (entry: Entry): boolean => {
    const { group, n } = memberOf(entry)
    const wanted = file.groups.find((each) => each.group === group)
    const members = entriesOf(ledger).filter((each) => each.state !== "none" && memberOf(each).group === group)
    return (
      isDestroy ||
      wanted === undefined ||
      members.length > wanted.count ||
      (entry.previous !== undefined && (!isGoneOn(entry, replace) || isProtected(entry, wanted, world))) ||
      !isSameOrder(entry, wanted.nameOf(n), wanted)
    )
  }

/** The observed state. */
export interface World {
  /** The nodes by id: those of the list, and nodes of the ledger that only a read by id shows. */
  readonly nodes: ReadonlyMap<number, Node>
  /** Nodes of the ledger that are gone. */
  readonly gone: ReadonlySet<number>
  /** Nodes of other fleets on this machine. */
  readonly elsewhere: ReadonlySet<number>
  /** For each node, the part of its committed period that is lost if the node is deleted, in words. */
  readonly losses: ReadonlyMap<number, string>
  /** For each node, the committed period that any command of this machine has bought for it. Default: none. */
  readonly bought?: ReadonlyMap<number, Pick<Bought, "days" | "setting">>
  /** Nodes that the service deletes at the end of their period, because a command of this machine has set this. Default: none. */
  readonly ending?: ReadonlySet<number>
  /** For each node, a purchase that any command of this machine has sent and whose outcome is unknown. Default: none. */
  readonly opens?: ReadonlyMap<number, Pick<Open, "days" | "setting">>
  /** For each node of the fleet, why it is not deleted although file and ledger do not protect it. Default: none. */
  readonly protections?: ReadonlyMap<number, string>
  /** For each member with an unanswered create, the nodes that this machine recorded as possible results. Default: none. */
  readonly candidates?: ReadonlyMap<string, ReadonlyArray<number>>
}

/** A member in the ledger, with the current state of its node. */
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

/**
 * The order in which members are given up: first the members that the user picked, then members without a node, then the others by
 * descending number.
 */
const givenUpFirst =
  (pick: ReadonlyArray<string>) =>
  (a: Slot, b: Slot): number => {
    const rank = ({ entry, state }: Slot) =>
      pick.includes(entry.member) ? 0 : state === "gone" || state === "terminating" ? 1 : 2
    return rank(a) - rank(b) || b.member.n - a.member.n
  }

/** Whether a change is about the node with this id. */
const isAbout = (change: Change, id: number): boolean =>
  [
    "node" in change ? change.node : null,
    "old" in change ? change.old : null,
    "made" in change ? change.made : null
  ].some((node) => node?.id === id)

/** The end of a commitment that is in the ledger but no longer in the file; undefined if nothing more is paid. */
const endOf = (commitment: string | undefined): string | undefined => {
  if (commitment === undefined || commitment.startsWith("hourly_billing")) return undefined
  const what = commitment.startsWith("auto_renew")
    ? "it is renewed at the end of each period, and paid again"
    : "the service deletes the node at its end"
  return `committed with ${commitment}, which the file no longer names: ${what}`
}

/**
 * The text in the ledger for a purchase without an outcome. If the days are unknown, this text differs from all commitments that a file can
 * state.
 */
export const openText = (open: Pick<Open, "days" | "setting"> | undefined): string | undefined =>
  open && commitmentText({ setting: open.setting, days: open.days ?? null })

/**
 * Whether this machine's log says that exactly the purchase that is open in the ledger was made for the node.
 */
export const isFoundOut = (committing: string, bought: Pick<Bought, "days" | "setting"> | undefined): boolean => {
  const open = parseCommitment(committing)
  return open !== undefined && open.days !== null && bought?.days === open.days && bought.setting === open.setting
}

/** The hint if it is unknown whether a create made a node. */
export const laterOr = (member: string): string =>
  `Run the same command again in eleven minutes: the service may carry out the create until then. If the outcome is still unknown, look at the nodes of that name. If one is ${member}'s: berth fleet adopt ID --as ${member}; if none is: berth fleet forget ${member}`

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
    for (const { entry, node, own } of nodesBesides(entries, this.#world.nodes, this.#world.elsewhere)) {
      this.#double(entry, node, own, false, groups)
    }
    for (const name of new Set([...groups.keys(), ...slots.keys()])) {
      this.#group(groups.get(name), slots.get(name) ?? [], isDestroy)
    }
    const { gone, nodes } = this.#world
    for (const { entry, node, own } of unfinishedOf(entries, nodes, (id) => gone.has(id))) {
      if (this.changes.some((change) => isAbout(change, node.id))) continue
      this.#double(entry, node, own, true, groups)
    }
    for (const member of [...pick, ...(replace === "all" ? [] : replace)]) {
      if (!entries.some((entry) => entry.member === member && entry.state !== "none")) {
        this.#refuse(`The fleet ${this.#ledger.fleet} has no member ${member}.`, "List its members: berth diff", {
          kind: "usage"
        })
      }
    }
    for (const member of pick) {
      if (this.#picked.has(member) || this.conflicts.length > 0) continue
      this.#refuse(
        `--pick ${member} deletes nothing: its group does not have too many members.`,
        "Lower the count of the group, or leave out --pick.",
        { kind: "usage" }
      )
    }
    return { changes: this.changes, conflicts: this.conflicts }
  }

  #double(entry: Entry, node: Node, own: Owned, isReplaced: boolean, groups: ReadonlyMap<string, LoadedGroup>) {
    const member = memberOf(entry)
    const isKept = isProtected(entry, groups.get(member.group), this.#world)
    this.changes.push({ action: "doubled", member, node, own, isReplaced, isProtected: isKept })
  }

  #refuse(message: string, hint: string, more: Partial<Pick<Conflict, "kind" | "taken">> = {}) {
    this.conflicts.push({ message, hint, kind: "conflict", ...more })
  }

  /** The slot of a ledger entry, after settling whatever an earlier run has left unfinished. Empty if the member has no node. */
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
    if (entry.state !== "deleting") return [slot]
    if (slot.state === "there") settle("undelete")
    if (previous !== undefined || slot.state === "there" || slot.state === "doubted") return [slot]
    // The node is gone, or is terminating because this fleet requested it. A new node may be made, and the ledger keeps the terminating one.
    if (slot.state === "gone") settle("member")
    return []
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
      const mayGo =
        !isProtected(slot.entry, group, this.#world) || ["gone", "terminating", "pending"].includes(slot.state)
      ;(mayGo ? removed : kept).add(slot)
    }
    for (const slot of slots) {
      if (this.#isUnsure(slot, isDestroy ? undefined : group)) continue
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

  /** The unanswered purchase for a node, if there is one. It is in the ledger, or only in this machine's log. */
  #committing({ commitment, committing }: Entry, { id }: Node): string | undefined {
    const shown = committing === undefined ? undefined : parseCommitment(committing)
    const sent = this.#world.opens?.get(id)
    // The log may not know the days. An entry without days may therefore be the same purchase as in the ledger.
    const isOfLedger = sent !== undefined && sent.days === undefined && sent.setting === shown?.setting
    const open = openText(sent)
    if (open !== undefined && open !== commitment && !isOfLedger) return open
    const bought = sent === undefined ? this.#world.bought?.get(id) : undefined
    return committing !== undefined && isFoundOut(committing, bought) ? undefined : committing
  }

  /** Whether the outcome of a purchase for a member's node is unknown. If so, adds a change that says so. */
  #isUnsure({ entry, member, node, state }: Slot, group: LoadedGroup | undefined): boolean {
    if (state !== "there" || node === null) return false
    const committing = this.#committing(entry, node)
    if (committing === undefined) return false
    const isWanted =
      group === undefined || (group.commitment !== null && commitmentText(group.commitment) === committing)
    // Nothing was bought, so the setting can be sent again, or the node deleted.
    if (!mayHaveBought(committing) && isWanted) return false
    this.changes.push({ action: "unsure", member, node, commitment: committing })
    return true
  }

  #remove({ entry, member, node, state }: Slot, why: Extract<Change, { readonly action: "delete" }>["why"]) {
    if (state === "gone") {
      const { previous } = entry
      // The new node is gone. The old one is not listed, but it is not certain that it is gone.
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

  /** Shows which commitment is lost with a deleted node. If another machine bought the commitment, it is only in the ledger. */
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
    // A destroy ends no protection.
    const isReleased = group?.protect === false && !this.#options.isDestroy
    const why = protectedElse(entry, this.#world.protections)
    if (node !== null) this.changes.push({ action: "kept", member, node, isReleased, why })
    else if (state === "doubted") this.#doubt(member, entry.node!, false)
  }

  #doubt(member: Member, owned: Owned, isWanted: boolean, why: "missing" | "terminating" = "missing") {
    this.changes.push({ action: "doubted", member, owned, why, isWanted })
  }

  /** Plans a member that the file wants and the ledger has. */
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
      // The old node is being deleted, so the replacement is finished.
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
      // Request the deletion of the old node again only if an earlier run has requested it. Otherwise the old node may
      // be the only one that does the member's work.
      if (!isGoneOn(entry, this.#options.replace) || isProtected(slot.entry, group, this.#world)) {
        const what = isBack
          ? [`node ${old.id} matches the file, and node ${node.id}, its unfinished replacement, does not`]
          : [...differences, `replaces node ${old.id}, which is still there`]
        return this.#differs(slot, group, node, old, what, "goOn")
      }
      return isBack
        ? this.#replaceOn(slot, group, node.name, { old: node, made: old, isTakenBack: true })
        : this.#replaceOn(slot, group, node.name, { old, made: node, isTakenBack: false }, differences)
    }
    const differences = differencesOf(entry, node, group, group.nameOf(member.n))
    if (differences.length === 0) return this.#unchanged(slot, group, node)
    if (!this.#isToReplace(entry) || isProtected(slot.entry, group, this.#world)) {
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
    const isKept = isProtected(slot.entry, group, this.#world)
    const why = protectedElse(slot.entry, this.#world.protections)
    const isReleased = group.protect !== true && why === undefined
    const kept = isReleased ? "releasedReplace" : "protected"
    this.changes.push({ action: "differs", member, node, old, differences, remedy: isKept ? kept : remedy, why })
  }

  #isToReplace({ member }: Entry): boolean {
    return isAskedFor(this.#options.replace, member)
  }

  #unchanged({ entry, member }: Slot, group: LoadedGroup, node: Node) {
    const { commitment } = group
    if (commitment?.setting === "auto_terminate" && isProtected(entry, group, this.#world)) {
      const what = "auto_terminate lets the service delete it"
      const why = protectedElse(entry, this.#world.protections)
      const remedy = why === undefined ? "released" : "protected"
      return this.changes.push({ action: "differs", member, node, old: null, differences: [what], remedy, why })
    }
    if (commitment !== null && entry.commitment !== commitmentText(commitment)) {
      const bought = this.#boughtFor(node, group)
      if (bought === undefined) return this.changes.push({ action: "commit", member, node, group })
      if (bought.setting !== null && bought.days !== null) {
        return this.changes.push({ action: "unchanged", member, node, commitment: commitmentText(commitment) })
      }
      const what =
        bought.days === null
          ? `${bought.setting} was set for a period that Berth does not know`
          : `its create has bought a period of ${bought.days} days, and ${commitment.setting} is not set`
      return this.changes.push({ action: "differs", member, node, old: null, differences: [what], remedy: "bought" })
    }
    const isEnding = this.#world.ending?.has(node.id) === true && isProtected(entry, group, this.#world)
    const left = isEnding
      ? "auto_terminate was set for it, so the service deletes the node at its end"
      : commitment === null
        ? endOf(entry.commitment)
        : undefined
    return left === undefined
      ? this.changes.push({ action: "unchanged", member, node })
      : this.changes.push({ action: "differs", member, node, old: null, differences: [left], remedy: "commitment" })
  }

  /** An earlier purchase for the node, if it may be the purchase that the group wants. It is then not repeated. */
  #boughtFor(node: Node, { commitment }: LoadedGroup) {
    const bought = this.#world.bought?.get(node.id)
    if (bought === undefined || commitment === null || commitment.days === null) return undefined
    const isSetting = bought.setting === null || bought.setting === commitment.setting
    return isSetting && (bought.days === null || bought.days === commitment.days) ? bought : undefined
  }

  /** Adds the commitment for the node that the preceding change creates. */
  #commitWith(member: Member, group: LoadedGroup) {
    if (group.commitment !== null) this.changes.push({ action: "commit", member, node: null, group })
  }

  /** Continues a replacement that an earlier run began. If the new node no longer matches the file, it gets no commitment. */
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
    const bought = nodes.made === null ? undefined : this.#boughtFor(nodes.made, group)
    const isFoundOut = entry.committing !== undefined && bought !== undefined
    this.changes.push({
      action: "replace",
      isResumed: true,
      member,
      group,
      name,
      reasons,
      ...nodes,
      ...(isFoundOut && group.commitment !== null && { commitment: commitmentText(group.commitment) })
    })
    this.#forfeit(entry, nodes.old)
    const isOpen = nodes.made === null || (entry.commitment === undefined && bought === undefined)
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
    if (old === undefined || old.status === "terminate") {
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
    const isKept = isProtected(entry, group, this.#world)
    if (!isGoneOn(entry, this.#options.replace) || isKept) {
      return this.#refuse(
        `It is not known yet whether the node that replaces ${old.id} (${entry.member}) was created${this.#candidatesText(entry)}.`,
        isKept
          ? laterOr(entry.member)
          : `Run the same command again in eleven minutes, or continue the replacement: --replace ${entry.member}`
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

  /** Nodes that a member's unanswered create may have made. */
  #candidates(entry: Entry): ReadonlyArray<number> {
    const { candidates, elsewhere, nodes } = this.#world
    const isTaken = (id: number) => this.#owned.has(id) || elsewhere.has(id)
    return candidatesFor(entry, nodes.values(), isTaken, candidates?.get(entry.member))
  }

  #candidatesText(entry: Entry): string {
    return candidatesText(this.#candidates(entry))
  }

  /**
   * Whether a node outside the fleet has the name in some spelling. If so, refuses: that node is not changed, and no second node of its
   * name is created.
   */
  #isTaken(name: string, member: Member): boolean {
    const others = this.#named(name).filter(({ id, status }) => !this.#owned.has(id) && status !== "terminate")
    const [first] = others
    if (first === undefined) return false
    const ids = others.map(({ id }) => id).join(", ")
    const what = first.name === name ? name : `${first.name}, which may be ${name} as the service spells it,`
    this.#refuse(
      `${what} exists (${others.length === 1 ? "id" : "ids"} ${ids}) and is not in the ledger: \`berth fleet adopt ${first.id} --as ${memberText(member)}\`, or choose another name.`,
      `To make it a member: berth fleet adopt ${first.id} --as ${memberText(member)}`,
      { taken: first.id }
    )
    return true
  }
}

/** Makes the plan. */
export const planOf = (file: LoadedFleet, ledger: Ledger, world: World, options: PlanOptions): Plan =>
  new Planner(file, ledger, world, options).plan()
