/**
 * Applies the rules of `promtool check metrics` to a scrape in Prometheus's text format. They are about names, units, suffixes and help
 * strings, and forbid that a series appears twice.
 */

/** Units that a metric's name must not have, each with the base unit to use instead. */
const baseUnits: Readonly<Record<string, string>> = {
  milliseconds: "seconds",
  microseconds: "seconds",
  nanoseconds: "seconds",
  minutes: "seconds",
  hours: "seconds",
  days: "seconds",
  weeks: "seconds",
  kilobytes: "bytes",
  megabytes: "bytes",
  gigabytes: "bytes",
  bits: "bytes",
  percent: "ratio",
  fahrenheit: "celsius"
}

const abbreviations = [
  "s",
  "ms",
  "us",
  "ns",
  "sec",
  "secs",
  "millis",
  "min",
  "mins",
  "h",
  "hrs",
  "b",
  "kb",
  "mb",
  "gb",
  "pct"
]

const types = ["counter", "gauge", "histogram", "summary"]

const problemsOfName = (name: string, type: string): ReadonlyArray<string> => {
  const words = name.split("_")
  return [
    ...(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name) ? [] : ["is not in snake_case"]),
    ...words.filter((word) => word in baseUnits).map((word) => `has to use ${baseUnits[word]}, not ${word}`),
    ...words.filter((word) => abbreviations.includes(word)).map((word) => `abbreviates a unit: ${word}`),
    ...words.filter((word) => types.includes(word)).map((word) => `names its type: ${word}`),
    ...(name.endsWith("_total") === (type === "counter")
      ? []
      : ["ends in _total where it is no counter, or not where it is"]),
    ...(/_(count|sum|bucket|info)$/.test(name) && !(name.endsWith("_info") && type === "gauge")
      ? ["has a suffix that is reserved"]
      : [])
  ]
}

/** The problems of a scrape, each with the name of its metric. */
export const metricProblems = (text: string): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const helps = new Map<string, string>()
  const typeOf = new Map<string, string>()
  const series = new Set<string>()
  for (const line of text.split("\n").filter((line) => line !== "")) {
    const [, kind, about = "", rest = ""] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? []
    if (kind === "HELP") helps.set(about, rest)
    else if (kind === "TYPE") {
      if (typeOf.has(about)) problems.push(`${about} comes twice`)
      typeOf.set(about, rest)
    } else {
      const [, sample = "", labels = ""] = /^([a-zA-Z_:][\w:]*)(\{.*\})? \S+$/.exec(line) ?? []
      const name = typeOf.has(sample) ? sample : sample.replace(/_(bucket|sum|count)$/, "")
      if (!typeOf.has(name)) problems.push(`${sample || line} has no type`)
      const key = `${sample}${labels}`
      if (series.has(key)) problems.push(`${key} comes twice`)
      series.add(key)
      for (const [, label = ""] of labels.matchAll(/[{,](\w+)="/g)) {
        if (!/^[a-z][a-z0-9_]*$/.test(label)) problems.push(`${name}: the label ${label} is not in snake_case`)
      }
    }
  }
  for (const [name, type] of typeOf) {
    if (!/\S/.test(helps.get(name) ?? "")) problems.push(`${name} has no help text`)
    problems.push(...problemsOfName(name, type).map((problem) => `${name} ${problem}`))
  }
  return problems
}
