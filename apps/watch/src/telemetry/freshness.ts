/**
 * How old the last complete sweep of an account may be before its view of the nodes counts as lost. Pure.
 */

/** A quicker sweep than this is not expected of anything. */
const minMaxAgeMillis = 60_000

/** So many planned sweeps may be missed. */
const maxMissed = 2

/** Another process writes down when a sweep began, and that so often at most. */
const writtenLateMillis = 60_000

/**
 * `intervalMillis`: from one sweep to the next, as planned; null while that is not known. `isElsewhere`: another process sweeps, of which the
 * store alone tells.
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
 * Whether an account was swept completely of late. A store alone tells when a sweep began, a minute late, and not what is planned: by it no
 * sweep is known to be late.
 */
export const isSwept = ({ intervalMillis, lastSweep, owner }: Swept, nowMillis: number): boolean =>
  lastSweep !== null &&
  (intervalMillis === null ||
    nowMillis - lastSweep.endedMillis <= maxSweepAgeMillis(intervalMillis, owner?.isHere === false))

/** The last sweep of another process. */
export interface HeardSweep {
  /** By the clock of that process. */
  readonly writtenMillis: number
  /** By the clock of this one; null where it cannot be told. */
  readonly endedMillis: number | null
}

/**
 * What is known once the store has `writtenMillis`. The clocks of two machines may be minutes apart: where they are, a sweep ended when this
 * process heard of it, and one that was there before `known` ended at a time that is not known.
 */
export const hearSweep = (
  known: HeardSweep | undefined,
  read: {
    readonly writtenMillis: number
    /** From one sweep to the next, as planned; null while that is not known. */
    readonly intervalMillis: number | null
    readonly nowMillis: number
  }
): HeardSweep => {
  const { intervalMillis, nowMillis, writtenMillis } = read
  if (known?.writtenMillis === writtenMillis) return known
  const doClocksAgree = Math.abs(nowMillis - writtenMillis) <= writtenLateMillis + (intervalMillis ?? 0)
  return { writtenMillis, endedMillis: doClocksAgree ? writtenMillis : known === undefined ? null : nowMillis }
}
