/**
 * Reads the log of changes, which the client writes.
 */
import { type Change, readChanges, settingIn } from "@berthkit/core/client/state/Change"
import { changeKind } from "@berthkit/core/client/state/noteChanges"
import { RecordStore } from "@berthkit/core/client/state/RecordStore"
import { Effect } from "effect"
import { damagedAt, faultOf, placeIn } from "../state/Kind.ts"

const cannot = "The changes of nodes cannot be read"

const fault = faultOf(cannot)

/** The recorded changes, newest first, and a fault for each change that cannot be read. */
export const log = Effect.gen(function* () {
  const store = yield* RecordStore
  if (store === undefined) return { changes: [], faults: [] }
  const records = yield* Effect.mapError(store.list(changeKind), fault)
  const unreadable = records.filter((record) => readChanges([record]).length === 0)
  const faults = yield* Effect.forEach(unreadable, ({ key }) =>
    Effect.map(Effect.mapError(placeIn(store, changeKind, key), fault), (place) =>
      damagedAt(
        cannot,
        place,
        "The other changes are shown. Remove the record if it is damaged: nothing but this log uses it."
      )
    )
  )
  return { changes: readChanges(records), faults }
})

/** The changes of a node, by its id or by the name with which it was created. */
export const changesOf = (all: ReadonlyArray<Change>, given: string): ReadonlyArray<Change> => {
  const named = new Set(all.flatMap(({ name, node }) => (name === given && node !== null ? [node] : [])))
  return all.filter(
    ({ name, node }) => name === given || (node !== null && (named.has(node) || String(node) === given))
  )
}

/**
 * The causes of changes. A word that is also a cause in the daemon's events selects the changes that explain such a
 * deletion. `fleet` selects a part of `requested`.
 */
export const causes = ["requested", "fleet", "lease", "commitment"] as const

/** Whether a change has a cause. */
export const hasCause = (change: Change, cause: (typeof causes)[number]): boolean => {
  const isTerminating = change.action === "commitment" && settingIn(change) === "auto_terminate"
  switch (cause) {
    case "lease":
      return change.lease !== null
    case "fleet":
      return change.fleet !== null
    case "commitment":
      return isTerminating
    case "requested":
      return change.lease === null && !isTerminating
  }
}
