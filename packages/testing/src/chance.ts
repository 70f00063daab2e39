/** The chance that tests may take: one seed for all of them, which is the same on every run of `pnpm test`, whatever the environment has. */

/** Whether this is a run of `pnpm soak`. */
export const isSoak = process.env["SOAK"] === "1"

/** `pnpm soak` draws it anew, and prints it; there `SEED` gives another. */
export const seed = isSoak ? Number(process.env["SEED"] ?? 1) : 1

/** Numbers from 0 up to 1 that follow from a seed (mulberry32). */
export const numbersFrom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
