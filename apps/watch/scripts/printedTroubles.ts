// The text that is generated from the table of troubles: the alert rules for Prometheus, and the table of
// `docs/reference/troubles.md`. A trouble is something that is wrong with the daemon now.
import { readFileSync } from "node:fs"
import { named, type TroubleEntry, troubleTable } from "../src/troubles/table.ts"

export const alertsFile = new URL("../operate/alerts.yml", import.meta.url)
export const docsFile = new URL("../../../docs/reference/troubles.md", import.meta.url)

/** The subject in front of a summary. */
const subjects = { daemon: "", account: "{{ $labels.account }}: ", sink: "Sink {{ $labels.sink }}: " } as const

const summaryOf = ({ about, sentence }: TroubleEntry): string => `${subjects[about]}${sentence}`

const rule = (name: string, expr: string, wait: string, severity: string, summary: string, description: string) =>
  [
    `      - alert: ${name}`,
    `        expr: ${expr}`,
    ...(wait === "0m" ? [] : [`        for: ${wait}`]),
    `        labels: { severity: ${severity} }`,
    "        annotations:",
    `          summary: ${JSON.stringify(summary)}`,
    `          description: ${JSON.stringify(description)}`
  ].join("\n")

const ruleOf = (entry: TroubleEntry): string =>
  rule(
    entry.alert.name,
    `berth_trouble{trouble="${entry.name}"} == 1`,
    entry.alert.wait,
    entry.severity,
    summaryOf(entry),
    named(entry.next, `{{ $labels.${entry.about} }}`)
  )

/** A daemon that does not run cannot report this trouble itself. */
const downRule = rule(
  "BerthWatchDown",
  `up{job="berth-watch"} == 0`,
  "2m",
  "critical",
  "berth-watch does not answer at {{ $labels.instance }}.",
  "Look at its log, and start it again."
)

export const printedAlerts = (): string =>
  `# Rules for Prometheus about the daemon itself. What happens to nodes is in its events. Printed from the table of troubles.
groups:
  - name: berth-watch
    rules:
${[downRule, ...troubleTable.map(ruleOf)].join("\n")}
`

const begin = "<!-- troubles: printed -->"
const end = "<!-- end of troubles -->"

const rowOf = ({ about, alert, begins, ends, event, name, next, sentence, severity }: TroubleEntry): string => {
  const after = alert.wait === "0m" ? "" : ` after ${alert.wait}`
  const reported = event === null ? "none" : `\`${event}\``
  return `| \`${name}\` | ${about}, ${severity} | ${sentence} ${next} | ${begins} | ${ends} | \`${alert.name}\`${after} | ${reported} |`
}

const printedTable = (): string =>
  [
    "| trouble | about, severity | what is wrong, and what to do | begins | ends | alert | event |",
    "|---|---|---|---|---|---|---|",
    ...troubleTable.map(rowOf)
  ].join("\n")

/** The page with its current table. */
export const printedDocs = (): string => {
  const page = readFileSync(docsFile, "utf8")
  const [before, rest = ""] = page.split(begin)
  const [, after = ""] = rest.split(end)
  return `${before}${begin}\n${printedTable()}\n${end}${after}`
}
