/**
 * How old the last complete sweep of an account may be before its view of the nodes counts as lost. Pure.
 */

/** A quicker sweep than this is not expected of anything. */
const minMaxAgeMillis = 60_000

/** So many planned sweeps may be missed. */
const maxMissed = 2

/** `intervalMillis`: from one sweep to the next, as planned; null while that is not known. */
export const maxSweepAgeMillis = (intervalMillis: number | null): number =>
  Math.max(minMaxAgeMillis, maxMissed * (intervalMillis ?? 0))

interface Swept {
  readonly intervalMillis: number | null
  readonly lastSweep: { readonly endedMillis: number } | null
}

/**
 * Whether an account was swept completely of late. A store alone tells when a sweep began, a minute late, and not what is planned: by it no
 * sweep is known to be late.
 */
export const isSwept = ({ intervalMillis, lastSweep }: Swept, nowMillis: number): boolean =>
  lastSweep !== null &&
  (intervalMillis === null || nowMillis - lastSweep.endedMillis <= maxSweepAgeMillis(intervalMillis))
