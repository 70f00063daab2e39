/**
 * When a node that is missing is gone. The list may hide nodes, and a read may answer 404 for a node that exists, so each deletion is proved by
 * complete lists and by reads of that very node. The daemon reports deletions by this machine, and `berth apply` replaces lost members by it.
 * Pure: functions of what is known, of what comes, and of an instant. The reasons are in decisions 0133 and 0134.
 *
 * | the evidence against a node | asks for | a complete list lacks it | a read answers 404 | a list or a read shows it |
 * |---|---|---|---|---|
 * | none | nothing | lacked | denied | none |
 * | lacked by a list | a read, which is a guess until two lists lack it | lacked | denied | none |
 * | denied by a read | a read, a wait later | denied | proved if it was asked for a wait later, else denied | none |
 * | proved by reads | a list, until two lack it and one has ended since the first 404 | gone, if that was the last | proved | none |
 *
 * A node that is proved by reads is gone at once if the lists have agreed already: then the fact is reported. The wait is the grace, or 5 s for
 * a node that is expected to go. While the account is frozen it is the hold and a grace, counted from when both list and read deny the node, and
 * a list that ends after the hold comes before the read. A node that the one who asks has asked to go takes one list and one read.
 *
 * | the account | a complete list shows that |
 * |---|---|
 * | is trusted | of the nodes that should stay many are missing, or were lost lately: it freezes |
 * | is frozen | each node that should stay is back, or is gone by the longer wait: it is trusted again |
 */

/** The evidence that a node is gone, since it was last seen. All instants are of a clock that never steps. */
export interface Absence {
  /** How many complete lists in a row lacked it. */
  readonly lists: number
  /** Since when lists lack it: the end of the first of those. Null when none did. */
  readonly lackedMillis: number | null
  /** The end of the newest of those. */
  readonly listMillis: number | null
  /** Since when reads deny it: the answer of the first 404. Null when none did. */
  readonly deniedMillis: number | null
  /** When the newest read that answered 404 was asked for. */
  readonly askedMillis: number | null
  /** Whether a complete list has ended since the first 404: only that shows how many are missing together with it. */
  readonly isCounted: boolean
}

/** Whether it should stay, is expected to go because it was seen terminating, or was asked to go by whoever asks now. */
export type Expectation = "stays" | "goes" | "asked"

/** How careful the proof is. */
export interface AbsenceRules {
  /** How far two reads have to be apart that deny a node which should stay. */
  readonly graceMillis: number
  /** The same for one that is expected to go. */
  readonly terminatingGraceMillis: number
  /** How long list and reads have to deny a node while many are missing. */
  readonly holdMillis: number
}

export const defaultAbsenceRules: AbsenceRules = {
  graceMillis: 60_000,
  terminatingGraceMillis: 5000,
  holdMillis: 600_000
}

/** What the proof of one node depends on beside its evidence. */
export interface Circumstance {
  readonly expectation: Expectation
  readonly isFrozen: boolean
  readonly rules: AbsenceRules
}

/** What would take the proof further. */
export type AbsenceQuestion =
  /** A read of the node, which counts if it is asked for then or later. A guess: one list alone lacks it, and the next one may well have it. */
  | { readonly _tag: "Read"; readonly dueMillis: number; readonly isFirst: boolean; readonly isGuess: boolean }
  /** A complete list, which counts if it ends then or later. */
  | { readonly _tag: "List"; readonly dueMillis: number }

/** So many complete lists in a row lack a node that is gone. */
export const minAbsentLists = 2

/** So many reads of each node does its deletion take. */
export const readsPerDeletion = 2

const needs = (expectation: Expectation) =>
  expectation === "asked" ? { lists: 1, reads: 1 } : { lists: minAbsentLists, reads: readsPerDeletion }

const none: Absence = {
  lists: 0,
  lackedMillis: null,
  listMillis: null,
  deniedMillis: null,
  askedMillis: null,
  isCounted: false
}

/** A complete list lacked the node. */
export const afterList = (before: Absence | null, endedMillis: number): Absence => {
  const { deniedMillis, lackedMillis, lists } = before ?? none
  return {
    ...(before ?? none),
    lists: lists + 1,
    lackedMillis: lackedMillis ?? endedMillis,
    listMillis: endedMillis,
    isCounted: deniedMillis !== null
  }
}

/** A read of the node answered 404. */
export const afterDenial = (
  before: Absence | null,
  { answeredMillis, askedMillis }: { readonly askedMillis: number; readonly answeredMillis: number }
): Absence => ({ ...(before ?? none), deniedMillis: before?.deniedMillis ?? answeredMillis, askedMillis })

/** Nothing was observed for a while: what lists showed counts anew for the hold. */
export const afterGap = (absence: Absence, nowMillis: number): Absence =>
  absence.lackedMillis === null ? absence : { ...absence, lackedMillis: nowMillis }

/** Since when list and reads agree about it; `Infinity` while one of them does not deny it. */
const agreedMillis = ({ deniedMillis, lackedMillis }: Absence): number =>
  Math.max(deniedMillis ?? Infinity, lackedMillis ?? Infinity)

/** What would take the proof further; null once the node is gone. */
export const absenceQuestion = (
  absence: Absence,
  { expectation, isFrozen, rules }: Circumstance
): AbsenceQuestion | null => {
  const { askedMillis, deniedMillis, isCounted, listMillis, lists } = absence
  const needed = needs(expectation)
  if (deniedMillis === null || askedMillis === null) {
    return { _tag: "Read", dueMillis: -Infinity, isFirst: true, isGuess: lists < needed.lists }
  }
  if (needed.reads > 1) {
    const heldMillis = agreedMillis(absence) + rules.holdMillis
    // While no list was read the node may have been back: only the next one shows that the hold is over.
    if (isFrozen && (listMillis ?? -Infinity) < heldMillis) return { _tag: "List", dueMillis: heldMillis }
    const dueMillis = isFrozen ? heldMillis + rules.graceMillis : deniedMillis + graceOf(expectation, rules)
    if (askedMillis < dueMillis) return { _tag: "Read", dueMillis, isFirst: false, isGuess: false }
  }
  return lists >= needed.lists && (isCounted || needed.reads === 1) ? null : { _tag: "List", dueMillis: -Infinity }
}

const graceOf = (expectation: Expectation, { graceMillis, terminatingGraceMillis }: AbsenceRules): number =>
  expectation === "goes" ? Math.min(graceMillis, terminatingGraceMillis) : graceMillis

/** Fewer missing nodes than this are never many: each is proved gone by itself. */
const minMany = 3

/** Nor is a smaller share of all. */
const minManyShare = 0.05

/** Of the nodes that should stay: how many there are, how many of them are missing, and how many were reported deleted lately. */
export interface Count {
  readonly nodes: number
  readonly missing: number
  readonly lost: number
}

/** Whether a missing node counts among the many: it should stay, and the list lacks it. */
export const isDoubted = ({ lists }: Absence, expectation: Expectation): boolean => lists > 0 && expectation === "stays"

/** Whether the account is frozen after a complete list. What was lost lately freezes nothing while no node is missing. */
export const isFrozenAfter = (isFrozen: boolean, { lost, missing, nodes }: Count): boolean => {
  if (isFrozen || missing <= 0) return missing > 0
  const all = missing + lost
  return (all >= minMany && all >= (nodes + lost) * minManyShare) || (all >= 2 && all === nodes + lost)
}
