/** The seed of all random values in tests. It is the same on every run of `pnpm test`, whatever the environment contains. */

/** Whether this is a run of `pnpm soak`. */
export const isSoak = process.env["SOAK"] === "1"

/** The seed. `pnpm soak` draws a new one and prints it, unless `SEED` sets it. */
export const seed = isSoak ? Number(process.env["SEED"] ?? 1) : 1

/** Numbers from 0 (inclusive) to 1 (exclusive), derived from a seed (mulberry32). */
export const numbersFrom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
