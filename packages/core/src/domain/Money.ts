/**
 * Arithmetic on rupees. Prices are numbers of rupees, exact to the millionth, as the codec reads them. They are added as whole millionths,
 * so sums are exact in any order; only quotients are rounded.
 */

/** Millionths of a rupee in a rupee. */
const micros = 1_000_000

/** The highest valid price in rupees: its millionths are a safe integer. */
export const maxInr = 1_000_000_000

/** Rupees in whole millionths. */
export const toMicros = (amountInr: number): number => Math.round(amountInr * micros)

/** The sum of amounts. */
export const sumInr = (amounts: Iterable<number>): number => {
  let total = 0n
  for (const amount of amounts) total += BigInt(toMicros(amount))
  return Number(total) / micros
}

/** The sum of amounts; null if one is unknown. */
export const sumIfKnown = (amounts: ReadonlyArray<number | null>): number | null => {
  const known = amounts.filter((amount) => amount !== null)
  return known.length < amounts.length ? null : sumInr(known)
}

/** The price of `count` units; `count` is whole. */
export const timesInr = (amountInr: number, count: number): number =>
  Number(BigInt(toMicros(amountInr)) * BigInt(count)) / micros

/**
 * An amount divided by `parts`, rounded up to the paisa (1/100 rupee), because an amount that is compared with a limit must not be
 * understated.
 */
export const shareInr = (amountInr: number, parts: number): number =>
  Math.ceil(toMicros(amountInr) / (parts * 10_000) - 1e-9) / 100
