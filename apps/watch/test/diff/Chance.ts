/** Chance that can be repeated: the same seed gives the same draws. */
export interface Chance {
  /** A whole number from 0 up to `below`. */
  readonly below: (below: number) => number
  readonly happens: (probability: number) => boolean
  readonly oneOf: <A>(among: ReadonlyArray<A>) => A
}

export const chanceFrom = (seed: number): Chance => {
  let state = seed | 0
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { below, happens: (probability) => next() < probability, oneOf: (among) => among[below(among.length)]! }
}
