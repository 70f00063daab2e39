/**
 * Measures real time. Limits on real time hold only on an idle machine, so only `pnpm soak` checks them. It runs every test
 * file that imports this module.
 */
import { isSoak } from "./chance.ts"

export interface Stopwatch {
  /** In `pnpm soak`, throws if at least this much time has passed since the start. */
  readonly expectBelow: (maxMillis: number) => void
  /** Milliseconds since the start, for people to read. */
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
