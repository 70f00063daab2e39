/**
 * When a list is too short to be believed, and when it is believed after all. During a freeze no deletion is reported.
 * The reasons and the everyday case of a small account are in `docs/decisions/0031-a-list-too-short-to-believe.md`.
 */
import type { Ending, Trouble } from "./Fact.ts"
import type { Moment } from "./Observation.ts"

export interface Freeze {
  readonly trouble: Exclude<Trouble, "sweep-failed">
  readonly sinceMillis: number
  /** The hold counts from here, on the clock of `Moment.monotonicMillis`: the start, or the last proof of life. */
  readonly heldFromMonotonicMillis: number
  /** Whether so many are missing that a 404 each is not enough. */
  readonly many: boolean
}

/** What a complete sweep found of the nodes that were not seen terminating. */
export interface Census {
  /** Different nodes on the pages, of whatever status. */
  readonly listed: number
  /** Nodes known before the sweep that should have been listed. */
  readonly expected: number
  /** How many of those were not. */
  readonly missing: number
  /** Whether each of the missing had answered 404 twice before the sweep began. */
  readonly missingConfirmed: boolean
}

/** Fewer missing nodes than this are never "many": each can be read by itself. */
const minMany = 3

const areMany = (census: Census) => census.missing >= minMany && census.missing * 2 > census.expected

/** The freeze after a complete sweep, and how it ended where the sweep ended it. */
export interface FreezeStep {
  readonly freeze: Freeze | null
  readonly ended: Ending | null
}

export const stepFreeze = (freeze: Freeze | null, census: Census, now: Moment, holdMillis: number): FreezeStep => {
  const many = areMany(census)
  const empty = census.listed === 0 && census.missing > 0
  if (freeze === null) {
    const trouble = empty ? "list-empty" : many ? "nodes-vanished" : null
    if (trouble === null) return { freeze: null, ended: null }
    return {
      freeze: { trouble, sinceMillis: now.atMillis, heldFromMonotonicMillis: now.monotonicMillis, many },
      ended: null
    }
  }
  if (!many && !empty) return { freeze: null, ended: "plausible" }
  if (!many && census.missingConfirmed) return { freeze: null, ended: "confirmed" }
  if (now.monotonicMillis - freeze.heldFromMonotonicMillis >= holdMillis) return { freeze: null, ended: "persisted" }
  return { freeze: { ...freeze, many }, ended: null }
}
