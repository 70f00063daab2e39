/**
 * How long something takes in real time. A bound on it holds only where nothing else keeps the machine busy, so it is asserted in `pnpm soak`,
 * which runs every file of tests that imports this.
 */
import { isSoak } from "./chance.ts"

export interface Stopwatch {
  /** Throws in `pnpm soak` where more than this has passed since the start. */
  readonly expectBelow: (maxMillis: number) => void
  /** For people to read. */
  readonly elapsedMillis: () => number
}

export const startStopwatch = (): Stopwatch => {
  const startedAt = performance.now()
  return {
    elapsedMillis: () => performance.now() - startedAt,
    expectBelow: (maxMillis) => {
      const tookMillis = performance.now() - startedAt
      if (isSoak && tookMillis >= maxMillis) throw new Error(`It took ${tookMillis} ms, and may take ${maxMillis} ms.`)
    }
  }
}
