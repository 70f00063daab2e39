/**
 * Formats results as a table for people; programs read the JSON.
 */
import type { Result, Target } from "./Row.ts"

const number = (value: number) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2))

const header = ["row", "subject", "baseline", "ratio (min … max)", "target", "result"]

const cells = (result: Result): ReadonlyArray<string> => [
  result.name,
  `${result.subject.what}: ${number(result.subject.median)} ${result.unit}`,
  `${result.baseline.what}: ${number(result.baseline.median)} ${result.unit}`,
  `${number(result.ratio.median)} (${number(result.ratio.min)} … ${number(result.ratio.max)})`,
  result.targets.map((target) => boundText(target, result.unit)).join(", "),
  result.met ? "met" : "MISSED"
]

const boundText = ({ bound, of, value }: Target, unit: string): string =>
  `${bound === "at most" ? "≤" : "≥"} ${value}${of === "ratio" ? " ×" : ` ${unit}`}`

/** One line per result, under a header. */
export const table = (results: ReadonlyArray<Result>): string => {
  const rows = [header, ...results.map(cells)]
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}
