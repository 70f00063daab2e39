/**
 * Reads the values of reply headers that hold numbers and dates. Garbage reads as undefined.
 */

/** Headers of a reply, names in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

/** A whole number. Fractions are rounded up, so that no wait is cut short. */
export const wholeNumber = (value: string | undefined): number | undefined => {
  const number = value !== undefined && /^\s*\d{1,15}(\.\d+)?\s*$/.test(value) ? Math.ceil(Number(value)) : undefined
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined
}

/** A date in HTTP form, as milliseconds since the epoch. */
export const httpDate = (value: string | undefined): number | undefined => {
  const millis = value === undefined || !/GMT|UTC|Z/.test(value) ? Number.NaN : Date.parse(value)
  return Number.isNaN(millis) ? undefined : millis
}

/** A reset below this is seconds from now and not an epoch (A22). */
export const minEpochSeconds = 1e9
