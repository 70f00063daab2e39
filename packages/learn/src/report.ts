/**
 * The report for people and programs: the verdicts with the exchanges that show them, and the advised settings. It comes as
 * data, as a table for a terminal, and as an HTML document that loads nothing.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import type { Profile, VerdictWord } from "@berthkit/profile/Profile"
import { type Advice, adviceFrom } from "./advice.ts"
import { judge, type Judged, tally } from "./claims.ts"
import type { Evidence } from "./readEvidence.ts"
import type { Exchange } from "./observe/Exchange.ts"

interface ReportRow extends Omit<Judged, "exchange"> {
  readonly exchange: Shown | null
}

export interface Report {
  /**
   * Number of requests that the report was learned from. `skipped`: number of requests that were left out, because they went
   * to other services or could not be read.
   */
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

/** A table for a terminal, then the evidence of each refutation, then the settings. */
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

interface Shown {
  readonly request: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const shownHeaders = new Set([
  "content-type",
  "date",
  "location",
  "allow",
  "retry-after",
  "www-authenticate",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset"
])

const maxBodyLength = 600

/**
 * An exchange for display: the request without credentials, the relevant reply headers, and the beginning of the body. Every
 * text passes the redactor.
 */
const showExchange = (exchange: Exchange, redact: (text: string) => string): Shown => {
  const { body, headers, method, path, query, status } = exchange
  const search = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString()
  const text =
    body.is === "json"
      ? JSON.stringify(body.value)
      : body.is === "text"
        ? body.text
        : body.is === "empty"
          ? "(no body)"
          : "(the body was not recorded)"
  // Redact before cutting, because the redactor does not recognise half a credential.
  const clean = (given: string) => escapeControls(redact(given))
  const whole = clean(text)
  return {
    request: clean(`${method} ${path}${search === "" ? "" : `?${search}`}`),
    status,
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => (shownHeaders.has(name) ? [[name, clean(value)]] : []))
    ),
    body: whole.length > maxBodyLength ? `${whole.slice(0, maxBodyLength)}…` : whole
  }
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign]!)

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 70rem; padding: 1rem }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .4rem .6rem; text-align: left; vertical-align: top }
td { overflow-wrap: anywhere }
.scroll { overflow-x: auto }
.confirmed { color: light-dark(#006b45, #5fd3a3) } .refuted { color: light-dark(#b80000, #ff8a8a); font-weight: 600 }
pre { background: color-mix(in srgb, currentColor 8%, transparent); overflow-wrap: anywhere; padding: .6rem; white-space: pre-wrap }`

const exchangeOf = ({ exchange, refutedBy }: ReportRow): string => {
  const by = refutedBy === null ? "" : `<p>It would be refuted by: ${escape(refutedBy)}.</p>`
  if (exchange === null) return by === "" ? "" : `<details><summary>What would refute it</summary>${by}</details>`
  const headers = Object.entries(exchange.headers).map(([name, value]) => `${name}: ${value}`)
  const text = [exchange.request, `${exchange.status}`, ...headers, "", exchange.body].join("\n")
  return `<details><summary>The exchange that shows it</summary>${by}<pre>${escape(text)}</pre></details>`
}

const rowOf = (row: ReportRow): string =>
  `<tr><td>${escape(row.assumption)}</td><td>${escape(row.claim)}</td><td class="${row.verdict}">${row.verdict}</td><td>${escape(row.observed)}${exchangeOf(row)}</td></tr>`

/** The report as a page. Every text is escaped, because a service wrote much of it. */
export const pageOf = ({ exchanges, findings, settings, verdicts }: Report): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>What the service does: ${verdicts.confirmed} confirmed, ${verdicts.refuted} refuted, ${verdicts.open} open</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>What the service does</h1>
<p>${verdicts.confirmed} assumptions are confirmed, ${verdicts.refuted} refuted, ${verdicts.open} open. Learned from ${exchanges} requests by <code>berth-server learn</code>.</p>
<h2>Settings that follow</h2>
${settings.length === 0 ? "<p>None.</p>" : `<ul>${settings.map(({ because, setting }) => `<li><code>${escape(setting)}</code>: ${escape(because)}</li>`).join("")}</ul>`}
<h2>Assumptions</h2>
<div class="scroll"><table>
<thead><tr><th scope="col">Assumption</th><th scope="col">Claim</th><th scope="col">Verdict</th><th scope="col">Observed</th></tr></thead>
<tbody>
${findings.map(rowOf).join("\n")}
</tbody>
</table></div>
</main>
</body>
</html>
`
