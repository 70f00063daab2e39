/**
 * When the clock of the machine was set: then the time of day and the time that passed disagree. Pure.
 */

/** Clocks that are merely adjusted stay within this from one reading to the next. */
const maxDriftMillis = 5000

/** A new time of day is the usual one after this. */
const shownMillis = 600_000

export interface ClockStep {
  /** Forward where positive. */
  readonly byMillis: number
  readonly sinceMillis: number
}

/** What is known of the clock after a reading of it. */
export interface ClockSteps {
  /** The time of day over the time that passed. */
  readonly offsetMillis: number
  readonly step: (ClockStep & { readonly monotonicMillis: number }) | null
}

/** What is known after a reading. `known` is null before the first. A clock that was set back to where it was has not stepped. */
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
