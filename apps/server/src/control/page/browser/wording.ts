/** How the page writes instants, durations and requests, and which requests match a filter. Pure. */
import { pluralText } from "@berthkit/web/components/text"
import type { JournalEntry } from "./controlPlane.ts"

/** `2026-01-01T00:00:09.000Z` as `2026-01-01 00:00:09`. */
export const readable = (instant: string): string => instant.replace("T", " ").replace(/\.?0*Z$/, "")

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000]
] as const

/** `3600000 millis` as `1 hour`. */
export const durationText = (text: string): string => {
  const millis = Number.parseInt(text, 10)
  const [name, size] = units.find(([, size]) => millis >= size && millis % size === 0) ?? ["milli", 1]
  return pluralText(millis / size, name)
}

const rates: Readonly<Record<string, number>> = { frozen: 0, real: 1 }

/**
 * The time of the clock, in whole seconds. A running clock continues between two replies: `passedMillis` is the real time since the page
 * has read `now`.
 */
export const clockAt = (mode: string, now: string, passedMillis: number): string => {
  const rate = rates[mode] ?? Number(mode.slice(1))
  return rate === 0 ? now : new Date(Math.floor((Date.parse(now) + passedMillis * rate) / 1000) * 1000).toISOString()
}

/** The fields of an armed fault: `status 503 · every 3 · operation nodes.list`. */
export const optionsText = ({ scope, ...options }: Readonly<Record<string, unknown>>): string =>
  Object.entries({ ...options, ...(scope as object | undefined) })
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ")

export const headerText = (headers: JournalEntry["headers"]): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n")

/** The path of a request with its query. */
export const targetText = ({ path, query }: JournalEntry): string => {
  const search = new URLSearchParams(query as Record<string, string>).toString()
  return search === "" ? path : `${path}?${search}`
}

/** The filter of the journal. An empty string matches everything. */
export interface Filter {
  readonly text: string
  readonly operation: string
  readonly status: string
}

export const noFilter: Filter = { text: "", operation: "", status: "" }

export const isFiltering = ({ operation, status, text }: Filter): boolean => `${operation}${status}${text}` !== ""

type Test = (entry: JournalEntry) => boolean

const hasStatus =
  (hundreds: number): Test =>
  ({ status }) =>
    status !== null && Math.floor(status / 100) === hundreds

/** The statuses to filter by, with their labels. */
export const statusFilters: ReadonlyMap<string, { readonly name: string; readonly fits: Test }> = new Map([
  ["2xx", { name: "Successes, 2xx", fits: hasStatus(2) }],
  ["4xx", { name: "Refusals, 4xx", fits: hasStatus(4) }],
  ["5xx", { name: "Failures, 5xx", fits: hasStatus(5) }],
  ["none", { name: "No reply", fits: ({ status }: JournalEntry) => status === null }],
  ["fault", { name: "A fault fired", fits: ({ faults }: JournalEntry) => faults.length > 0 }]
])

/** The text that a search looks through for one request. */
const textOf = (entry: JournalEntry): string =>
  [
    `${entry.method} ${targetText(entry)}`,
    ...Object.entries(entry.query).map(([name, value]) => `${name}=${value}`),
    entry.operation,
    entry.status,
    ...entry.faults,
    headerText(entry.headers),
    entry.body,
    headerText(entry.replyHeaders),
    entry.reply
  ].join("\n")

/**
 * A test whether a request matches the filter. Entries about the world as a whole never match, because they are not
 * requests.
 */
export const letsThrough = ({ operation, status, text }: Filter): Test => {
  const wanted = text.toLowerCase()
  return (entry) =>
    entry.change === undefined &&
    (operation === "" || entry.operation === operation) &&
    (statusFilters.get(status)?.fits(entry) ?? true) &&
    (wanted === "" || textOf(entry).toLowerCase().includes(wanted))
}
