/**
 * Whether nodes of a fleet that the list lacks are gone: by the rules of an absence that the daemon has, too (decision 0133). Pure: says
 * what to ask next, and takes in what came of it. A service that only hides a node proves nothing.
 */
import {
  areManyMissing,
  defaultGraceMillis,
  isConfirming,
  minAbsentLists,
  terminatingGraceMillis
} from "@berthkit/core/domain/Absence"

/** More suspects than this are read by sample, which is as large; the others then need one list more. */
const maxRead = 20

interface Suspect {
  readonly id: number
  readonly isRead: boolean
  /** Whether it was seen terminating, or was asked to go. */
  readonly isExpectedToGo: boolean
  readonly lists: number
  /** When the first 404 was answered. */
  readonly firstMissingMillis: number | null
  readonly isConfirmed: boolean
  /** Whether it was seen, or could not be read: then it is not gone for this run. */
  readonly isSpared: boolean
}

export interface Missing {
  readonly suspects: ReadonlyMap<number, Suspect>
  /** Whether so many are missing at once that the service is more likely at fault. */
  readonly areMany: boolean
  readonly graceMillis: number
  readonly isRefuted: boolean
}

export type MissingStep =
  | { readonly _tag: "Read"; readonly ids: ReadonlyArray<number>; readonly notBeforeMillis: number }
  | { readonly _tag: "List" }
  | { readonly _tag: "Concluded"; readonly gone: ReadonlySet<number> }

export type MissingEvent =
  | { readonly _tag: "Listed"; readonly ids: ReadonlySet<number>; readonly isComplete: boolean }
  | { readonly _tag: "Denied"; readonly id: number; readonly askedMillis: number; readonly answeredMillis: number }
  | { readonly _tag: "Seen"; readonly id: number }
  | { readonly _tag: "Unread"; readonly id: number }

/** How long many have to stay missing, in graces: 10 minutes for one of a minute, as with the daemon. */
const holdGraces = 10

/**
 * Suspects that one complete list lacks; `expected` is how many nodes there should be, `draw` puts them into an order that the service
 * does not know.
 */
export const suspected = (
  ids: ReadonlyArray<{ readonly id: number; readonly isExpectedToGo: boolean }>,
  expected: number,
  { draw, graceMillis = defaultGraceMillis }: { readonly draw: (id: number) => number; readonly graceMillis?: number }
): Missing => {
  const read = new Set(
    ids
      .toSorted((a, b) => draw(a.id) - draw(b.id))
      .slice(0, maxRead)
      .map(({ id }) => id)
  )
  const unexpected = ids.filter(({ isExpectedToGo }) => !isExpectedToGo).length
  return {
    suspects: new Map(
      ids.map(({ id, isExpectedToGo }) => [
        id,
        {
          id,
          isRead: read.has(id),
          isExpectedToGo,
          lists: 1,
          firstMissingMillis: null,
          isConfirmed: false,
          isSpared: false
        }
      ])
    ),
    areMany: areManyMissing(unexpected, expected),
    graceMillis,
    isRefuted: false
  }
}

/** How long after its first 404 the second is asked for. */
const waitMillisOf = ({ areMany, graceMillis }: Missing, { isExpectedToGo }: Pick<Suspect, "isExpectedToGo">): number =>
  isExpectedToGo ? Math.min(graceMillis, terminatingGraceMillis) : areMany ? holdGraces * graceMillis : graceMillis

const open = ({ suspects }: Missing) => Array.from(suspects.values()).filter(({ isSpared }) => !isSpared)

const neededLists = ({ isRead }: Suspect): number => (isRead ? minAbsentLists : minAbsentLists + 1)

/** What to ask next. */
export const nextStep = (missing: Missing): MissingStep => {
  const suspects = open(missing)
  const unread = suspects.filter(({ firstMissingMillis, isRead }) => isRead && firstMissingMillis === null)
  if (unread.length > 0) return { _tag: "Read", ids: unread.map(({ id }) => id), notBeforeMillis: 0 }
  const unconfirmed = suspects.filter(({ isConfirmed, isRead }) => isRead && !isConfirmed)
  const due = (suspect: Suspect) => suspect.firstMissingMillis! + waitMillisOf(missing, suspect)
  const [first, ...others] = unconfirmed.toSorted((a, b) => due(a) - due(b))
  if (first !== undefined) {
    const ids = [first, ...others.filter((other) => due(other) === due(first))].map(({ id }) => id)
    return { _tag: "Read", ids, notBeforeMillis: due(first) }
  }
  if (
    missing.isRefuted
      ? suspects.some((each) => each.isRead && each.lists < neededLists(each))
      : suspects.some((each) => each.lists < neededLists(each))
  ) {
    return { _tag: "List" }
  }
  return { _tag: "Concluded", gone: goneOf(missing) }
}

/** Those that are gone: what stood for others proves nothing once one of the sample is there. */
const goneOf = (missing: Missing): ReadonlySet<number> =>
  new Set(
    open(missing)
      .filter((suspect) =>
        suspect.isRead
          ? suspect.isConfirmed && suspect.lists >= minAbsentLists
          : !missing.isRefuted && suspect.lists >= neededLists(suspect)
      )
      .map(({ id }) => id)
  )

const change = (missing: Missing, id: number, to: Partial<Suspect>): Missing => {
  const suspect = missing.suspects.get(id)
  return suspect === undefined
    ? missing
    : { ...missing, suspects: new Map(missing.suspects).set(id, { ...suspect, ...to }) }
}

export const take = (missing: Missing, event: MissingEvent): Missing => {
  switch (event._tag) {
    case "Listed": {
      let next = missing
      for (const { id, lists } of open(missing)) {
        // A list that is not complete proves nothing for this run, and is not read for ever.
        const absent = event.isComplete && !event.ids.has(id)
        next = change(next, id, absent ? { lists: lists + 1 } : { isSpared: true })
      }
      return next
    }
    case "Denied": {
      const suspect = missing.suspects.get(event.id)
      if (suspect === undefined) return missing
      const { firstMissingMillis } = suspect
      if (firstMissingMillis === null) return change(missing, event.id, { firstMissingMillis: event.answeredMillis })
      return isConfirming(firstMissingMillis, event.askedMillis, waitMillisOf(missing, suspect))
        ? change(missing, event.id, { isConfirmed: true })
        : missing
    }
    case "Seen":
      return { ...change(missing, event.id, { isSpared: true }), isRefuted: true }
    case "Unread":
      return { ...change(missing, event.id, { isSpared: true }), isRefuted: true }
  }
}
