/** Maximum age of an account's last complete sweep before its nodes count as outdated. Pure. */

/** Sweeps are never expected faster than this. */
const minMaxAgeMillis = 60_000

/** How many planned sweeps may be missed. */
const maxMissed = 2

/** Other processes store the start of a sweep at most this often. */
const writtenLateMillis = 60_000

/**
 * `intervalMillis`: the planned interval between sweeps; null if unknown. `isElsewhere`: another process sweeps, so only the
 * store tells.
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
 * Whether an account had a recent complete sweep. A store alone has only the start of a sweep, up to a minute early, and no
 * plan, so it cannot show that a sweep is late.
 */
export const isSwept = ({ intervalMillis, lastSweep, owner }: Swept, nowMillis: number): boolean =>
  lastSweep !== null &&
  (intervalMillis === null ||
    nowMillis - lastSweep.endedMillis <= maxSweepAgeMillis(intervalMillis, owner?.isHere === false))

/** The last sweep of another process. */
export interface HeardSweep {
  /** By the clock of that process. */
  readonly writtenMillis: number
  /** By this process's clock; null if it cannot be determined. */
  readonly endedMillis: number | null
}

/**
 * The knowledge after the store shows `writtenMillis`. The clocks of two machines may differ by minutes. If they do, a sweep
 * ended when this process heard of it, and a sweep that was there before `known` ended at an unknown time.
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
