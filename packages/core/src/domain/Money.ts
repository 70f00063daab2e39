/**
 * Arithmetic on rupees. Prices are numbers of rupees, exact to the millionth, as the codec reads them. They are added as whole
 * millionths, so that the order and the number of addends change no sum; nothing is rounded but a quotient.
 */

/** Millionths of a rupee in a rupee. */
const micros = 1_000_000

/** The highest price that is one, in rupees: its millionths are a safe integer. */
export const maxInr = 1_000_000_000

/** Rupees in whole millionths. */
export const toMicros = (amountInr: number): number => Math.round(amountInr * micros)

/** The sum of amounts. */
export const sumInr = (amounts: Iterable<number>): number => {
  let total = 0n
  for (const amount of amounts) total += BigInt(toMicros(amount))
  return Number(total) / micros
}

/** The sum of amounts; null where one of them is not known. */
export const sumIfKnown = (amounts: ReadonlyArray<number | null>): number | null => {
  const known = amounts.filter((amount) => amount !== null)
  return known.length < amounts.length ? null : sumInr(known)
}

/** What `count` at this price come to; `count` is whole. */
export const timesInr = (amountInr: number, count: number): number =>
  Number(BigInt(toMicros(amountInr)) * BigInt(count)) / micros

/** A part of an amount, rounded up to the paisa: what is compared with a limit is never understated. */
export const shareInr = (amountInr: number, parts: number): number =>
  Math.ceil(toMicros(amountInr) / (parts * 10_000) - 1e-9) / 100
