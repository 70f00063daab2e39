/**
 * What a ledger records before the first request of a run: the changes that send nothing, the protection of the file, and which nodes must be
 * seen running before a delete. Pure.
 */
import type { LoadedFleet, LoadedGroup, Plan } from "./Change.ts"
import {
  awaiting,
  committed,
  committing,
  ended,
  type Ledger,
  notDeleted,
  notMade,
  protectedBy,
  released
} from "./Ledger.ts"
import { memberText } from "./Member.ts"
import { awaitedOf } from "./beforeDeletes.ts"

/** The change of the ledger for each kind of `settle`. */
const settledBy = { member: ended, previous: released, restore: notMade, undelete: notDeleted }

/** Records in the ledger the changes that send nothing. */
const settledLedger = (ledger: Ledger, { changes }: Plan): Ledger =>
  changes.reduce((before, change) => {
    const member = memberText(change.member)
    if (change.action === "settle") return settledBy[change.what](before, member)
    // Other machines learn about the purchase from the ledger.
    if (change.action === "unsure" && before.members.get(member)?.committing === undefined)
      return committing(before, member, change.commitment)
    if ((change.action === "unchanged" || change.action === "replace") && change.commitment !== undefined)
      return committed(before, member, change.commitment)
    // If the node of a member is gone, its create is a new one, whose key has the next generation number.
    return change.action === "create" && change.was !== null ? ended(before, member) : before
  }, ledger)

/**
 * Records the file's protection in the ledger, so that it still holds after its line is removed from the file. A destroy removes no
 * protection.
 */
const withProtection = (
  ledger: Ledger,
  { changes }: Plan,
  groups: ReadonlyArray<LoadedGroup>,
  isDestroy: boolean
): Ledger =>
  changes.reduce((before, { member }) => {
    const name = memberText(member)
    const group = groups.find((each) => each.group === member.group)
    const entry = before.members.get(name)
    return group === undefined ||
      entry === undefined ||
      entry.state === "none" ||
      (isDestroy && !group.protect) ||
      (entry.protect === true) === group.protect
      ? before
      : protectedBy(before, name, group.protect)
  }, ledger)

/**
 * Records for each member whether a run must see its node running before the run deletes a node that the member may
 * replace.
 */
const withAwaited = (ledger: Ledger, plan: Plan): Ledger =>
  awaitedOf(plan).reduce((before, [member, isAwaited]) => awaiting(before, memberText(member), isAwaited), ledger)

/** Records everything that is known before the first request. */
export const notedLedger = (ledger: Ledger, plan: Plan, { groups }: LoadedFleet, isDestroy: boolean): Ledger =>
  withAwaited(withProtection(settledLedger(ledger, plan), plan, groups, isDestroy), plan)
