/**
 * Tests the alert rules with Prometheus's own rule test. Each alert fires once its trouble has lasted long enough, names its subject, and
 * ends with the trouble. Needs Debian, for its package of Prometheus.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { troubleTable } from "@berthkit/watch/troubles/table"
import { expect, onTestFinished, test } from "vitest"
import { parse, stringify } from "yaml"
import { promtool } from "./promtool.ts"

const fileOf = (name: string) => fileURLToPath(new URL(`../../../apps/watch/operate/${name}`, import.meta.url))
const rulesFile = fileOf("alerts.yml")
const nodeRulesFile = fileOf("alerts-nodes.yml")

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

const rulesIn = (file: string): ReadonlyArray<Rule> => parse(readFileSync(file, "utf8")).groups[0].rules
const rules = rulesIn(rulesFile)

/** How long each trouble lasts, from the first minute on. This is longer than any alert waits. */
const lastingMinutes = 90

const minutesOf = (wait = "0m"): number => Number.parseInt(wait, 10) * (wait.endsWith("h") ? 60 : 1)

type Labels = Readonly<Record<string, string>>

const seriesOf = (name: string, labels: Labels): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(",")}}`

/** Fills in placeholders such as `{{ $labels.account }}`. */
const filled = (template: string, labels: Labels): string =>
  template.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label]!)

/** A test that expects no alert just before the wait is over, the alert after the wait, and none after the trouble. */
const testOf = ({ alert, annotations, for: wait, labels }: Rule, name: string, values: string, its: Labels) => {
  const fired = {
    exp_labels: { ...its, ...labels },
    exp_annotations: Object.fromEntries(
      Object.entries(annotations).map(([annotation, template]) => [annotation, filled(template, its)])
    )
  }
  const after = 1 + minutesOf(wait)
  const at = (minutes: number, exp_alerts: ReadonlyArray<unknown>) => ({
    eval_time: `${minutes}m`,
    alertname: alert,
    exp_alerts
  })
  return {
    interval: "1m",
    input_series: [{ series: seriesOf(name, its), values }],
    alert_rule_test: [at(after - 1, []), at(after, [fired]), at(lastingMinutes, [fired]), at(lastingMinutes + 10, [])]
  }
}

const subjects = { daemon: {}, account: { account: "acme" }, sink: { sink: "ops" } } as const

/** A series that begins in the first minute and ends with the trouble. */
const lasting = `_ 1x${lastingMinutes - 1} stale`

const ruleNamed = (name: string): Rule => rules.find(({ alert }) => alert === name)!

const tests = [
  testOf(ruleNamed("BerthWatchDown"), "up", `1 0x${lastingMinutes - 1} 1x20`, {
    job: "berth-watch",
    instance: "127.0.0.1:9464"
  }),
  ...troubleTable.map(({ about, alert, name, severity }) =>
    testOf(ruleNamed(alert.name), "berth_trouble", lasting, { trouble: name, severity, ...subjects[about] })
  )
]

const check = (all: ReadonlyArray<unknown>, file = rulesFile): string => {
  const folder = mkdtempSync(join(tmpdir(), "berth-rules-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const test = join(folder, "test.yml")
  writeFileSync(test, stringify({ rule_files: [file], evaluation_interval: "1m", tests: all }))
  return execFileSync(promtool(), ["test", "rules", test], { encoding: "utf8", stdio: "pipe" })
}

test("each alert fires when its trouble has lasted long enough, and ends with it", () => {
  expect(tests).toHaveLength(rules.length)
  expect(check(tests)).toContain("SUCCESS")
})

test("no alert fires for a trouble of another name", () => {
  const [, first, second] = tests
  expect(() => check([{ ...first!, input_series: second!.input_series }])).toThrow(/FAILED/)
})

test("a deletion that nobody asked for raises an alert for a quarter of an hour, and one that somebody asked for does not", () => {
  const [rule] = rulesIn(nodeRulesFile)
  const its = { job: "berth-watch", account: "acme", cause: "unknown" }
  const series = (cause: string, values: string) => ({
    series: seriesOf("berth_deletions_total", { ...its, cause, instance: "127.0.0.1:9464" }),
    values
  })
  const fired = {
    exp_labels: { ...its, ...rule!.labels },
    exp_annotations: Object.fromEntries(
      Object.entries(rule!.annotations).map(([annotation, template]) => [annotation, filled(template, its)])
    )
  }
  const at = (minutes: number, exp_alerts: ReadonlyArray<unknown>) => ({
    eval_time: `${minutes}m`,
    alertname: rule!.alert,
    exp_alerts
  })
  const unexpected = {
    interval: "1m",
    // The daemon reports 0 for every cause before the first deletion.
    input_series: [series("unknown", "0x29 1x60"), series("requested", "0x29 5x60")],
    alert_rule_test: [at(29, []), at(31, [fired]), at(40, [fired]), at(50, [])]
  }
  const asked = {
    interval: "1m",
    input_series: [series("unknown", "0x90"), series("requested", "0x29 5x60"), series("lease", "0x29 5x60")],
    alert_rule_test: [at(31, []), at(50, [])]
  }
  expect(check([unexpected, asked], nodeRulesFile)).toContain("SUCCESS")
})

test.each([rulesFile, nodeRulesFile])("Prometheus takes the rules in %s as they are", (file) => {
  expect(execFileSync(promtool(), ["check", "rules", file], { encoding: "utf8" })).toContain("SUCCESS")
})
