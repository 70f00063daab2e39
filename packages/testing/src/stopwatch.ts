/**
 * Measures real time. A limit on it holds only on an idle machine, so it is asserted only in `pnpm soak`, which runs every test
 * file that imports this.
 */
import { isSoak } from "./chance.ts"

export interface Stopwatch {
  /** Throws in `pnpm soak` if more time has passed since the start. */
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
