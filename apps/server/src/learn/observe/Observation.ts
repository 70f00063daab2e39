/**
 * Something that evidence shows: a value, and the exchange in which it is to be seen.
 */
import type { Exchange } from "./Exchange.ts"

export type Evidenced = ReadonlyArray<Exchange>

export interface Observation<A> {
  readonly value: A
  /** The value in words, for people. */
  readonly says: string
  readonly exchange: Exchange
}

/** Reads one thing off the evidence; undefined where it does not show. */
export type Observer<A> = (evidence: Evidenced) => Observation<A> | undefined

export const observation = <A>(exchange: Exchange, value: A, says = String(value)): Observation<A> => ({
  value,
  says,
  exchange
})

/** The first exchange of which something can be said. */
export const first = <O extends Observation<unknown>>(
  exchanges: Evidenced,
  read: (exchange: Exchange) => O | undefined
): O | undefined => {
  for (const exchange of exchanges) {
    const found = read(exchange)
    if (found !== undefined) return found
  }
  return undefined
}

/** Of several observations the first that differs from what is expected, or else the first. */
export const worst = <O extends Observation<unknown>>(
  found: ReadonlyArray<O>,
  isExpected: (value: O["value"]) => boolean
): O | undefined => found.find(({ value }) => !isExpected(value)) ?? found[0]
