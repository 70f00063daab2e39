/**
 * Numbers derived from a seed. The same seed and labels give the same number in any order of calls, so a world is reproducible. The numbers
 * are neither random nor cryptographic.
 */

/** A 32-bit unsigned number from the seed and the labels, well mixed (the finaliser of MurmurHash3). */
export const derive = (seed: number, ...labels: ReadonlyArray<number>): number => {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b)
  for (const label of labels) {
    hash ^= Math.imul(label, 0xcc9e2d51)
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return hash >>> 0
}

/** An integer from 0 (inclusive) to `bound` (exclusive). */
export const deriveBelow = (bound: number, seed: number, ...labels: ReadonlyArray<number>): number =>
  derive(seed, ...labels) % bound
