/**
 * Decides whether nodes of a fleet that are missing from the list are gone, with the same state machine as the daemon (core's
 * `Absence.ts`). Pure: `nextStep` says what to read next, and `take` takes the answer. A node that is seen or cannot be read does not count
 * as gone in this run.
 */
import {
  type Absence,
  absenceQuestion,
  type AbsenceRules,
  afterDenial,
  afterList,
  defaultAbsenceRules,
  type Expectation,
  isDoubted,
  isFrozenAfter
} from "@berthkit/core/absence/Absence"

/** A node of the ledger that may be gone. The expectation `asked` means that its deletion was requested. */
export interface Suspect {
  readonly id: number
  readonly expectation: Expectation
}

/** The nodes that may be gone, and what is known about them so far. All times are from a monotonic clock. */
export interface Missing {
  readonly suspects: ReadonlyMap<number, { readonly expectation: Expectation; readonly absence: Absence | null }>
  /** Whether so many nodes are missing at once that the service is more likely at fault than the nodes are gone. */
  readonly isFrozen: boolean
  /** How many nodes should exist, missing or not. */
  readonly nodes: number
  readonly rules: AbsenceRules
}

export type MissingStep =
  | { readonly _tag: "Read"; readonly ids: ReadonlyArray<number>; readonly notBeforeMillis: number }
  | { readonly _tag: "List"; readonly notBeforeMillis: number }
  | { readonly _tag: "Concluded"; readonly gone: ReadonlySet<number> }

export type MissingEvent =
  | {
      readonly _tag: "Listed"
      readonly ids: ReadonlySet<number>
      readonly isComplete: boolean
      readonly endedMillis: number
    }
  | { readonly _tag: "Denied"; readonly id: number; readonly askedMillis: number; readonly answeredMillis: number }
  | { readonly _tag: "Seen" | "Unread"; readonly id: number }

/** The rules for a given grace. The hold changes in the same proportion as the grace. */
export const rulesWith = (graceMillis: number = defaultAbsenceRules.graceMillis): AbsenceRules => ({
  ...defaultAbsenceRules,
  graceMillis,
  holdMillis: (defaultAbsenceRules.holdMillis / defaultAbsenceRules.graceMillis) * graceMillis
})

/** The initial state after a complete list without these nodes. */
export const suspected = (
  suspects: ReadonlyArray<Suspect>,
  nodes: number,
  endedMillis: number,
  rules: AbsenceRules = rulesWith()
): Missing =>
  take(
    {
      suspects: new Map(suspects.map(({ expectation, id }) => [id, { expectation, absence: null }])),
      isFrozen: false,
      nodes,
      rules
    },
    { _tag: "Listed", ids: new Set(), isComplete: true, endedMillis }
  )

/** The next read. */
export const nextStep = ({ isFrozen, rules, suspects }: Missing): MissingStep => {
  let listMillis: number | null = null
  let notBeforeMillis = Infinity
  let ids: Array<number> = []
  for (const [id, { absence, expectation }] of suspects) {
    const question = absence && absenceQuestion(absence, { expectation, isFrozen, rules })
    // Read one list for all suspects, late enough to count for each of them.
    if (question?._tag === "List") listMillis = Math.max(listMillis ?? -Infinity, question.dueMillis)
    if (question?._tag !== "Read" || question.dueMillis > notBeforeMillis) continue
    if (question.dueMillis < notBeforeMillis) ids = []
    notBeforeMillis = question.dueMillis
    ids.push(id)
  }
  if (ids.length > 0) return { _tag: "Read", ids, notBeforeMillis }
  return listMillis === null
    ? { _tag: "Concluded", gone: new Set(suspects.keys()) }
    : { _tag: "List", notBeforeMillis: listMillis }
}

export const take = (missing: Missing, event: MissingEvent): Missing => {
  const suspects = new Map(missing.suspects)
  switch (event._tag) {
    case "Listed": {
      let doubted = 0
      for (const [id, { absence, expectation }] of suspects) {
        // An incomplete list proves nothing in this run, and is not repeated.
        if (!event.isComplete || event.ids.has(id)) suspects.delete(id)
        else {
          const after = afterList(absence, event.endedMillis)
          suspects.set(id, { expectation, absence: after })
          if (isDoubted(after, expectation)) doubted++
        }
      }
      const isFrozen = isFrozenAfter(missing.isFrozen, { nodes: missing.nodes, missing: doubted, lost: 0 })
      return { ...missing, suspects, isFrozen }
    }
    case "Denied": {
      const suspect = suspects.get(event.id)
      if (suspect !== undefined) suspects.set(event.id, { ...suspect, absence: afterDenial(suspect.absence, event) })
      return { ...missing, suspects }
    }
    case "Seen":
    case "Unread":
      suspects.delete(event.id)
      return { ...missing, suspects }
  }
}
