/**
 * Decides when a missing node is gone. The list may hide nodes, and a read may answer 404 for a node that exists, so
 * complete lists and reads of the node itself must prove each deletion. The daemon uses this state machine to report
 * deletions, and `berth apply` uses it to replace lost members. The functions are pure: they take the known state, an
 * observation and an instant. Decisions 0133 and 0134 have the reasons.
 *
 * | the evidence that a node is gone | needs next | a complete list does not contain it | a read answers 404 | a list or a read shows it |
 * |---|---|---|---|---|
 * | none | nothing | missing from a list | denied | none |
 * | missing from a list | a read, which is a guess until it is missing from two lists | missing from a list | denied | none |
 * | denied by a read | a read, a wait later | denied | proved if the read was sent a wait later, otherwise denied | none |
 * | proved by reads | a list, until two do not contain it and one has ended since the first 404 | gone, if that was the last | proved | none |
 *
 * If the node is already missing from enough lists, the last read completes the proof. The wait is the grace, or 5 s
 * for a node that is expected to go. While the account is frozen, the wait is the hold plus the grace, counted from
 * when both a list and a read have denied the node. A list that freezes the account or ends the freeze therefore
 * changes the wait, and the evidence so far is judged again: a proved node may fall back to denied, and a denied node
 * may now be gone. After the hold, a complete list must end before the next read is sent. If the last read was already
 * sent late enough, that list proves the node gone. A node whose deletion the caller has requested needs only one list
 * and one read.
 *
 * | the account | a complete list shows that |
 * |---|---|
 * | is trusted | many of the nodes that should stay are missing, or were lost lately: it freezes |
 * | is frozen | every node that should stay is back, or is proved gone after the longer wait: it is trusted again |
 */

/** The evidence that a node is gone, collected since the node was last seen. All times are of a monotonic clock. */
export interface Absence {
  /** The number of consecutive complete lists without the node. */
  readonly lists: number
  /** The end of the first of those lists; null if there was none. */
  readonly lackedMillis: number | null
  /** The end of the latest of those lists. */
  readonly listMillis: number | null
  /** The time of the first 404 for the node; null if there was none. */
  readonly deniedMillis: number | null
  /** When the latest read that answered 404 was sent. */
  readonly askedMillis: number | null
  /** Whether a complete list has ended since the first 404. Only such a list shows how many nodes are missing at the same time. */
  readonly isCounted: boolean
}

/** Whether the node should stay, was seen terminating, or is being deleted by the caller. */
export type Expectation = "stays" | "goes" | "asked"

/** The times that the proof needs. */
export interface AbsenceRules {
  /** The minimum time between the two 404s that prove a node gone, for a node that should stay. */
  readonly graceMillis: number
  /** The minimum time between the two 404s for a node that is expected to go. */
  readonly terminatingGraceMillis: number
  /** How long list and reads must agree while many nodes are missing. */
  readonly holdMillis: number
}

export const defaultAbsenceRules: AbsenceRules = {
  graceMillis: 60_000,
  terminatingGraceMillis: 5000,
  holdMillis: 600_000
}

/** The other facts that the proof of a deletion depends on. */
export interface Circumstance {
  readonly expectation: Expectation
  readonly isFrozen: boolean
  readonly rules: AbsenceRules
}

/** The next observation that the proof needs. */
export type AbsenceQuestion =
  /**
   * A read of the node, sent at this time or later. The read is a guess while only one list lacks the node, because the
   * next list may contain the node again.
   */
  | { readonly _tag: "Read"; readonly dueMillis: number; readonly isFirst: boolean; readonly isGuess: boolean }
  /** A complete list that ends at this time or later. */
  | { readonly _tag: "List"; readonly dueMillis: number }

/** A deleted node must be missing from this many complete lists in a row. */
export const minAbsentLists = 2

/** The number of reads that the proof of a deletion takes. */
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

/** Records that the node was missing from a complete list. */
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

/** Records that a read of the node answered 404. */
export const afterDenial = (
  before: Absence | null,
  { answeredMillis, askedMillis }: { readonly askedMillis: number; readonly answeredMillis: number }
): Absence => ({ ...(before ?? none), deniedMillis: before?.deniedMillis ?? answeredMillis, askedMillis })

/** Restarts the hold after a gap without observations. */
export const afterGap = (absence: Absence, nowMillis: number): Absence =>
  absence.lackedMillis === null ? absence : { ...absence, lackedMillis: nowMillis }

/** The time by which both a list and a read had denied the node; `Infinity` if one of them has not. */
const agreedMillis = ({ deniedMillis, lackedMillis }: Absence): number =>
  Math.max(deniedMillis ?? Infinity, lackedMillis ?? Infinity)

/** The next observation that the proof needs; null once the node is proved gone. */
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
    // The node may have come back since the last list, so the hold ends only with the next one.
    if (isFrozen && (listMillis ?? -Infinity) < heldMillis) return { _tag: "List", dueMillis: heldMillis }
    const dueMillis = isFrozen ? heldMillis + rules.graceMillis : deniedMillis + graceOf(expectation, rules)
    if (askedMillis < dueMillis) return { _tag: "Read", dueMillis, isFirst: false, isGuess: false }
  }
  return lists >= needed.lists && (isCounted || needed.reads === 1) ? null : { _tag: "List", dueMillis: -Infinity }
}

const graceOf = (expectation: Expectation, { graceMillis, terminatingGraceMillis }: AbsenceRules): number =>
  expectation === "goes" ? Math.min(graceMillis, terminatingGraceMillis) : graceMillis

/**
 * At least this many missing nodes are "many". Two are enough if the account has no other nodes. If fewer are missing, each is proved gone
 * on its own.
 */
const minMany = 3

/** The missing nodes are "many" only if they are at least this share of all nodes. */
const minManyShare = 0.05

/** Counts of the nodes that should stay: all of them, the missing ones, and those recently reported deleted. */
export interface Count {
  readonly nodes: number
  readonly missing: number
  readonly lost: number
}

/** Whether a missing node counts as one of the "many": it should stay, and it is missing from the list. */
export const isDoubted = ({ lists }: Absence, expectation: Expectation): boolean => lists > 0 && expectation === "stays"

/** Whether the account is frozen after a complete list. Recent deletions count only while a node is missing now. */
export const isFrozenAfter = (isFrozen: boolean, { lost, missing, nodes }: Count): boolean => {
  if (isFrozen || missing <= 0) return missing > 0
  const all = missing + lost
  return (all >= minMany && all >= (nodes + lost) * minManyShare) || (all >= 2 && all === nodes + lost)
}
