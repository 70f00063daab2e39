/** How old an account's last complete sweep may be before the account's nodes count as outdated. Pure. */

/** The maximum age is at least this. */
const minMaxAgeMillis = 60_000

/** The maximum age is this many planned intervals. */
const maxMissed = 2

/** A process stores the start of a sweep at most this often, so other processes see it late. */
const writtenLateMillis = 60_000

/**
 * The maximum age. `intervalMillis`: the planned interval between sweeps; null if unknown. `isElsewhere`: another process
 * sweeps, and this one sees only what the store has.
 */
export const maxSweepAgeMillis = (intervalMillis: number | null, isElsewhere = false): number =>
  Math.max(minMaxAgeMillis, maxMissed * (intervalMillis ?? 0)) +
  (isElsewhere ? writtenLateMillis + (intervalMillis ?? 0) : 0)

interface Swept {
  readonly intervalMillis: number | null
  readonly lastSweep: { readonly endedMillis: number } | null
  readonly owner: { readonly isHere: boolean } | null
}

/**
 * Whether an account had a recent complete sweep. If the planned interval is unknown, any sweep counts, because nothing shows
 * that the next one is late.
 */
export const isSwept = ({ intervalMillis, lastSweep, owner }: Swept, nowMillis: number): boolean =>
  lastSweep !== null &&
  (intervalMillis === null ||
    nowMillis - lastSweep.endedMillis <= maxSweepAgeMillis(intervalMillis, owner?.isHere === false))

/** The last sweep of another process, according to the store. */
export interface HeardSweep {
  /** The stored time, by the clock of that process. */
  readonly writtenMillis: number
  /** When the sweep ended, by this process's clock; null if unknown. */
  readonly endedMillis: number | null
}

/**
 * The knowledge about the last sweep after the store shows the time `writtenMillis`. If the clocks of two machines
 * differ by minutes, a new sweep counts as ended when this process learned of it. The end of the first sweep that this
 * process learns of is unknown.
 */
export const hearSweep = (
  known: HeardSweep | undefined,
  read: {
    readonly writtenMillis: number
    /** The planned interval between two sweeps; null if unknown. */
    readonly intervalMillis: number | null
    readonly nowMillis: number
  }
): HeardSweep => {
  const { intervalMillis, nowMillis, writtenMillis } = read
  if (known?.writtenMillis === writtenMillis) return known
  const doClocksAgree = Math.abs(nowMillis - writtenMillis) <= writtenLateMillis + (intervalMillis ?? 0)
  return { writtenMillis, endedMillis: doClocksAgree ? writtenMillis : known === undefined ? null : nowMillis }
}
