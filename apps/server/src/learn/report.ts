/**
 * What was learned, for people and for programs: the verdicts with what shows them, and the settings that follow.
 */
import type { Profile, VerdictWord } from "../profile/Profile.ts"
import { adviceFrom, type Advice } from "./advice.ts"
import { judge, type Judged, tally } from "./judge.ts"
import type { Evidence } from "./readEvidence.ts"
import { type Shown, showExchange } from "./showExchange.ts"

export interface ReportRow extends Omit<Judged, "exchange"> {
  readonly exchange: Shown | null
}

export interface Report {
  /** Requests that it was learned from, and those that were to other services. */
  readonly exchanges: number
  readonly skipped: number
  readonly verdicts: Record<VerdictWord, number>
  readonly findings: ReadonlyArray<ReportRow>
  readonly settings: ReadonlyArray<Advice>
}

export const reportOf = ({ exchanges, redact, skipped }: Evidence, { behaviour }: Profile): Report => {
  const judged = judge(exchanges)
  return {
    exchanges: exchanges.length,
    skipped,
    verdicts: tally(judged),
    findings: judged.map(({ assumption, claim, exchange, observed, refutedBy, verdict }) => {
      const shown = exchange && showExchange(exchange, redact)
      return { assumption, claim, verdict, observed: redact(observed), refutedBy, exchange: shown }
    }),
    settings: adviceFrom(behaviour)
  }
}

const headline = ({ exchanges, skipped, verdicts }: Report): string => {
  const others = skipped === 0 ? "" : ` (${skipped} to other services left out)`
  return `${verdicts.confirmed} confirmed, ${verdicts.refuted} refuted, ${verdicts.open} open, from ${exchanges} requests${others}.`
}

/** A table for a terminal, then what shows each refutation, then the settings. */
export const tableOf = (report: Report): string => {
  const rows = report.findings.map(
    ({ assumption, claim, observed, verdict }) => [assumption, verdict, claim, observed] as const
  )
  const head = ["", "VERDICT", "CLAIM", "OBSERVED"] as const
  const widths = [0, 1, 2].map((column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)))
  const line = (row: ReadonlyArray<string>) =>
    row
      .map((cell, at) => (at < 3 ? cell.padEnd(widths[at]!) : cell))
      .join("  ")
      .trimEnd()
  const refuted = report.findings.filter(({ verdict }) => verdict === "refuted")
  return [
    headline(report),
    "",
    line(head),
    ...rows.map(line),
    ...(refuted.length === 0 ? [] : ["", "What refutes them:"]),
    ...refuted.flatMap(({ assumption, claim, exchange }) =>
      exchange === null
        ? []
        : ["", `${assumption} ${claim}`, `  ${exchange.request}`, `  ${exchange.status} ${exchange.body}`]
    ),
    ...(report.settings.length === 0 ? [] : ["", "Settings that follow:"]),
    ...report.settings.map(({ because, setting }) => `  ${setting}   (${because})`),
    ""
  ].join("\n")
}
