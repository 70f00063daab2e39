/**
 * A row of the benchmark: a measurement and its target. Most rows measure a subject side by side with a baseline. Targets are ratios,
 * because machines differ, and both sides are measured pair by pair, because a machine gets faster or slower during a run.
 */
import { median } from "./growth.ts"

/** The subject, the baseline, and the number of pairs. */
export interface Row {
  readonly name: string
  /** What is measured. */
  readonly subject: string
  /** The baseline that the subject is compared with. */
  readonly baseline: string
  readonly unit: "ms" | "µs" | "B" | "KiB" | "MiB" | "MB" | "requests" | "requests/s"
  /** From the specification. */
  readonly targets: ReadonlyArray<Target>
  /** Measures one pair, warm. The harness calls it `pairs` times. */
  readonly measure: () => Promise<Pair> | Pair
  readonly pairs: number
  readonly close?: () => Promise<void>
}

/** A bound on the median ratio, or on the subject's median in the row's unit. */
export interface Target {
  readonly of: "ratio" | "subject"
  readonly bound: "at most" | "at least"
  readonly value: number
}

export const ratioAtMost = (value: number): Target => ({ of: "ratio", bound: "at most", value })
export const ratioAtLeast = (value: number): Target => ({ of: "ratio", bound: "at least", value })
export const subjectAtMost = (value: number): Target => ({ of: "subject", bound: "at most", value })

/** One measurement of each side. */
export interface Pair {
  readonly subject: number
  readonly baseline: number
}

/** A row cannot be measured on this machine; the message is the reason. */
export class Unmeasurable extends Error {}

/** The outcome of a row. */
export interface Result {
  readonly name: string
  readonly subject: { readonly what: string; readonly median: number }
  readonly baseline: { readonly what: string; readonly median: number }
  readonly unit: Row["unit"]
  readonly ratio: { readonly min: number; readonly median: number; readonly max: number }
  readonly targets: ReadonlyArray<Target>
  readonly met: boolean
  readonly pairs: number
}

/** Reduces the pairs of a row to medians and ratios. */
export const summarise = (row: Row, pairs: ReadonlyArray<Pair>): Result => {
  const ratios = pairs.map(({ baseline, subject }) => subject / baseline)
  const ratio = { min: Math.min(...ratios), median: median(ratios), max: Math.max(...ratios) }
  const subject = { what: row.subject, median: median(pairs.map((pair) => pair.subject)) }
  const isMet = ({ bound, of, value }: Target) => {
    const measured = of === "ratio" ? ratio.median : subject.median
    return bound === "at most" ? measured <= value : measured >= value
  }
  return {
    name: row.name,
    subject,
    baseline: { what: row.baseline, median: median(pairs.map(({ baseline }) => baseline)) },
    unit: row.unit,
    ratio,
    targets: row.targets,
    met: row.targets.every(isMet),
    pairs: pairs.length
  }
}
