import { numbersFrom } from "@berthkit/testing/chance"

/** Repeatable randomness: the same seed gives the same draws. */
export interface Chance {
  /** A whole number from 0 up to `below`. */
  readonly below: (below: number) => number
  readonly happens: (probability: number) => boolean
  readonly oneOf: <A>(among: ReadonlyArray<A>) => A
}

export const chanceFrom = (seed: number): Chance => {
  const next = numbersFrom(seed)
  const below = (limit: number) => Math.floor(next() * limit)
  return { below, happens: (probability) => next() < probability, oneOf: (among) => among[below(among.length)]! }
}
