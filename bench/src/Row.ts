/**
 * A row of the benchmark: two things measured side by side in one run, and the ratio between them. Ratios, because
 * machines differ and drift; pair by pair, because they drift during the run too.
 */

/** What a row measures, and how often. */
export interface Row {
  readonly name: string
  /** What is measured. */
  readonly subject: string
  /** What it is measured against. */
  readonly baseline: string
  readonly unit: "ms" | "µs" | "KiB" | "MiB"
  /** The largest ratio that is good enough, from the specification. */
  readonly target: number
  /** Measures one pair, warm. The harness calls it `pairs` times. */
  readonly measure: () => Promise<Pair> | Pair
  readonly pairs: number
  readonly close?: () => Promise<void>
}

/** One measurement of each side. */
export interface Pair {
  readonly subject: number
  readonly baseline: number
}

/** A row, measured. */
export interface Result {
  readonly name: string
  readonly subject: { readonly what: string; readonly median: number }
  readonly baseline: { readonly what: string; readonly median: number }
  readonly unit: Row["unit"]
  readonly ratio: { readonly min: number; readonly median: number; readonly max: number }
  readonly target: number
  readonly met: boolean
  readonly pairs: number
}

/** The middle value. */
const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Sums up the pairs of a row. */
export const summarise = (row: Row, pairs: ReadonlyArray<Pair>): Result => {
  const ratios = pairs.map(({ baseline, subject }) => subject / baseline)
  const ratio = { min: Math.min(...ratios), median: median(ratios), max: Math.max(...ratios) }
  return {
    name: row.name,
    subject: { what: row.subject, median: median(pairs.map(({ subject }) => subject)) },
    baseline: { what: row.baseline, median: median(pairs.map(({ baseline }) => baseline)) },
    unit: row.unit,
    ratio,
    target: row.target,
    met: ratio.median <= row.target,
    pairs: pairs.length
  }
}
