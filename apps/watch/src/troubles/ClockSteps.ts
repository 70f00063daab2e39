/** Detects that the machine's clock was changed, by comparing wall time with elapsed time. Pure. */

/** If the clock is only adjusted gradually, the difference between two readings stays below this. */
const maxDriftMillis = 5000

/** How long a clock change is reported. */
const shownMillis = 600_000

export interface ClockStep {
  /** By how much the clock was changed; positive if it was set forward. */
  readonly byMillis: number
  readonly sinceMillis: number
}

/** The knowledge about the clock after a reading. */
export interface ClockSteps {
  /** Wall clock minus monotonic clock, in milliseconds. */
  readonly offsetMillis: number
  readonly step: (ClockStep & { readonly monotonicMillis: number }) | null
}

/**
 * The knowledge after a reading. `known` is null before the first. A clock that was set back to its old time counts as
 * unchanged.
 */
export const afterReading = (
  known: ClockSteps | null,
  { atMillis, monotonicMillis }: { readonly atMillis: number; readonly monotonicMillis: number }
): ClockSteps => {
  const offsetMillis = atMillis - monotonicMillis
  if (known === null) return { offsetMillis, step: null }
  const { step } = known
  const movedMillis = offsetMillis - known.offsetMillis
  if (Math.abs(movedMillis) > maxDriftMillis) {
    const byMillis = (step?.byMillis ?? 0) + movedMillis
    const isBack = Math.abs(byMillis) <= maxDriftMillis
    return { offsetMillis, step: isBack ? null : { byMillis, sinceMillis: atMillis, monotonicMillis } }
  }
  const isOld = step !== null && monotonicMillis - step.monotonicMillis > shownMillis
  return { offsetMillis, step: isOld ? null : step }
}
