/**
 * Days and months of the bill. They start at midnight in India, because the service bills in Indian time. India Standard Time is
 * UTC+05:30 all year, so plain arithmetic is enough.
 */

export const dayMillis = 86_400_000

/** How far India Standard Time is ahead of UTC. */
const aheadMillis = 5.5 * 3_600_000

/** The number of the day in India; the day of the epoch is 0. */
export const dayOf = (atMillis: number): number => Math.floor((atMillis + aheadMillis) / dayMillis)

/** The start of a day. */
export const dayStart = (day: number): number => day * dayMillis - aheadMillis

/** `2026-11-25`. */
export const dayName = (day: number): string => new Date(day * dayMillis).toISOString().slice(0, 10)

/** A calendar month. */
export interface Month {
  /** `2026-11`. */
  readonly name: string
  readonly fromMillis: number
  readonly toMillis: number
}

const monthFrom = (year: number, index: number): Month => ({
  name: dayName(Date.UTC(year, index, 1) / dayMillis).slice(0, 7),
  fromMillis: dayStart(Date.UTC(year, index, 1) / dayMillis),
  toMillis: dayStart(Date.UTC(year, index + 1, 1) / dayMillis)
})

/** The month of an instant. */
export const monthOf = (atMillis: number): Month => {
  const there = new Date(atMillis + aheadMillis)
  return monthFrom(there.getUTCFullYear(), there.getUTCMonth())
}

/** The month with a name such as `2026-11`; undefined if the name is invalid. */
export const monthNamed = (name: string): Month | undefined => {
  const found = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(name)
  return found === null || Number(found[1]) < 1970 ? undefined : monthFrom(Number(found[1]), Number(found[2]) - 1)
}
