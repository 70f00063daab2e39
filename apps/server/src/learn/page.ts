/**
 * The report as one HTML document that loads nothing. Every text in it is escaped, for much of it was written by a service.
 */
import type { Report, ReportRow } from "./report.ts"

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
