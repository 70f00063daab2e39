/**
 * Decides whether memory grows under a steady load. A process that warms up grows only in the first half of a run, but a leak grows
 * throughout. So the third and the fourth quarter are compared. Medians level out the garbage collections within a quarter.
 */

/** The middle value. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The medians of the third and the fourth quarter of evenly spaced samples. It needs at least four. */
export const lastQuarters = (samples: ReadonlyArray<number>): { readonly third: number; readonly fourth: number } => {
  if (samples.length < 4) throw new Error(`${samples.length} samples have no quarters`)
  const at = (quarter: number) => Math.floor((samples.length * quarter) / 4)
  return { third: median(samples.slice(at(2), at(3))), fourth: median(samples.slice(at(3))) }
}
