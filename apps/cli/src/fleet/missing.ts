/**
 * Whether nodes of a fleet that the list lacks are gone: by the same machine as the daemon's, core's `Absence.ts`. Pure: says what to ask next,
 * and takes in what came of it. What is seen, or cannot be read, is not gone for this run.
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

/** A node that the ledger has and the list lacks; `asked` if the ledger says that it was asked to go. */
export interface Suspect {
  readonly id: number
  readonly expectation: Expectation
}

/** Those that may still be gone. All instants are of a clock that never steps. */
export interface Missing {
  readonly suspects: ReadonlyMap<number, { readonly expectation: Expectation; readonly absence: Absence | null }>
  /** Whether so many are missing at once that the service is more likely at fault. */
  readonly isFrozen: boolean
  /** How many nodes should stay, whether or not they are missing. */
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

/** Rules with another grace have a hold as many times as long. */
export const rulesWith = (graceMillis: number = defaultAbsenceRules.graceMillis): AbsenceRules => ({
  ...defaultAbsenceRules,
  graceMillis,
  holdMillis: (defaultAbsenceRules.holdMillis / defaultAbsenceRules.graceMillis) * graceMillis
})

/** What to begin with, after a complete list that ended then and lacked these. */
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

/** What to ask next. */
export const nextStep = ({ isFrozen, rules, suspects }: Missing): MissingStep => {
  let listMillis: number | null = null
  let notBeforeMillis = Infinity
  let ids: Array<number> = []
  for (const [id, { absence, expectation }] of suspects) {
    const question = absence && absenceQuestion(absence, { expectation, isFrozen, rules })
    // One list for all, once it counts for each of them.
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
        // A list that is not complete proves nothing for this run, and is not read for ever.
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
