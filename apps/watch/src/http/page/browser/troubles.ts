/**
 * The current problems as lines: the connection, and the troubles that the daemon reports. Also the time up to which nodes are
 * known if they cannot be read. Pure.
 */
import { countText, listText, plain, pluralText } from "@berthkit/web/components/text"
import { instantText } from "@berthkit/web/components/times"
import type { Status, Trouble } from "./watchApi.ts"
import type { AsOf } from "./wording.ts"

/** Leave room for the nodes. */
const maxLines = 8

/** How many accounts with the same trouble are named. */
const maxNamed = 8

export interface Line {
  readonly key: string
  readonly tone: "bad" | "warm"
  /** The accounts or the sink of the trouble; empty for the daemon. */
  readonly who: string
  /** The sink that the reader can jump to. */
  readonly sink: string | null
  readonly what: string
  readonly next: string
  readonly sinceMillis?: number
  /** How many troubles the line combines. */
  readonly count: number
}

/** An interruption of the connection. `refusal`: the daemon's refusal, in its own words. */
export interface Loss {
  readonly sinceMillis: number
  readonly refusal: string | undefined
}

const unreachable = ({ refusal, sinceMillis }: Loss): Line => ({
  key: "daemon",
  tone: "bad",
  who: "",
  sink: null,
  what: refusal ?? "The daemon cannot be reached.",
  next:
    refusal === undefined
      ? "The page shows the last known state. Look at the daemon's log, or start it again with berth-watch run; this page continues by itself."
      : "The page shows the last known state. Daemon and page continue by themselves when this is over.",
  sinceMillis,
  count: 1
})

const namesText = (troubles: ReadonlyArray<Trouble>): string =>
  listText(
    troubles.map(({ about }) => about.name ?? ""),
    maxNamed
  )

const anyInstant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

/** An unreachable service counts as one trouble, however many accounts it has. */
const lineOf = (alike: ReadonlyArray<Trouble>, nowMillis: number): Line => {
  const { about, message, name, next, severity } = alike[0]!
  return {
    key: `${name} ${alike.length === 1 ? about.name : message}`,
    tone: severity === "critical" ? "bad" : "warm",
    who: about.name === null ? "" : `${about.kind === "sink" ? "Sink " : ""}${namesText(alike)}`,
    sink: about.kind === "sink" ? about.name : null,
    // The daemon writes instants for programs, but all other instants on the page are in the reader's time zone.
    what: message.replace(anyInstant, (instant) => instantText(Date.parse(instant), nowMillis)),
    next,
    sinceMillis: Math.min(...alike.map(({ since }) => Date.parse(since))),
    count: alike.length
  }
}

/** Worst first. `account` is empty for all accounts; troubles without an account are always included. */
export const troublesOf = (
  { troubles }: Pick<Status, "troubles">,
  account: string,
  nowMillis: number,
  loss?: Loss
): ReadonlyArray<Line> => {
  const shown = troubles.filter(({ about }) => account === "" || about.kind !== "account" || about.name === account)
  const groups = Map.groupBy(shown, ({ about, message, name }) =>
    about.kind === "account" ? `${name} ${message}` : `${name} ${about.name}`
  )
  return [
    ...(loss === undefined ? [] : [unreachable(loss)]),
    ...Array.from(groups.values(), (alike) => lineOf(alike, nowMillis))
  ]
}

const countOf = (lines: ReadonlyArray<Line>): number => lines.reduce((sum, { count }) => sum + count, 0)

/** A line for each, and one line for those that do not fit. */
export const shownLines = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  if (lines.length <= maxLines) return lines
  const shown = lines.slice(0, maxLines - 1)
  const rest = countOf(lines) - countOf(shown)
  const next = "Run berth-watch status to see all of them."
  return [...shown, { key: "more", tone: "warm", who: "", sink: null, what: `${rest} more`, next, count: rest }]
}

/** The advice without its command, and the command at the end of its sentence, if there is one. */
export const adviceOf = (next: string): { readonly advice: string; readonly command: string | undefined } => {
  const [, advice, command] = /^(.*\brun) (berth-watch .+)\.$/.exec(next) ?? []
  return command === undefined ? { advice: next, command } : { advice: `${advice}:`, command }
}

export interface Summary {
  readonly tone: "good" | "warm" | "bad" | "off"
  readonly text: string
  readonly note: string
}

const sinksSentence = (sinks: Status["sinks"]): string => {
  const { length } = sinks.filter(({ state }) => state !== "removed")
  if (length === 0) return ", but no sink is configured"
  if (length === 1) return ", and the sink takes its events"
  return `, and ${length === 2 ? "both" : `all ${countText(length)}`} sinks take their events`
}

/** The daemon's state in a word or two and a sentence. `account` is empty for all. */
export const summaryOf = (
  lines: ReadonlyArray<Line>,
  account: string,
  { accounts, sinks }: Pick<Status, "accounts" | "sinks">
): Summary => {
  if (lines.length > 0) {
    const critical = countOf(lines.filter(({ tone }) => tone === "bad"))
    return {
      tone: critical > 0 ? "bad" : "warm",
      text: pluralText(countOf(lines), "problem"),
      note: critical > 0 && critical < countOf(lines) ? `${countText(critical)} critical` : ""
    }
  }
  const shown = accounts.filter((each) => account === "" || each.account === account)
  if (shown.length === 0) return { tone: "off", text: "Nothing is watched.", note: "" }
  const { length: unswept } = shown.filter(({ lastSweep, state }) => lastSweep === null && state !== "paused")
  if (unswept > 0) {
    const whose = shown.length === 1 ? "" : ` of ${pluralText(unswept, "account")}`
    return { tone: "off", text: "Starting.", note: `The first sweep${whose} is under way.` }
  }
  const retrying = sinks.filter(({ state }) => state === "retrying").map(({ sink }) => plain(sink))
  const others = sinks.filter(({ state }) => state !== "up" && state !== "removed" && state !== "retrying")
  if (retrying.length > 0 || others.length > 0) {
    const notes = [
      ...(retrying.length > 0 ? [`Deliveries to ${retrying.join(", ")} failed and are retried.`] : []),
      ...others.map(({ sink, state }) => `Sink ${plain(sink)} is ${state}.`)
    ]
    return { tone: "warm", text: "No problem yet.", note: notes.join(" ") }
  }
  const read =
    shown.length === 1
      ? "The account is"
      : shown.length === 2
        ? "Both accounts are"
        : `All ${countText(shown.length)} accounts are`
  return { tone: "good", text: "All well.", note: `${read} read on time${sinksSentence(sinks)}.` }
}

/** Troubles during which nothing new is learned about the nodes, although the daemon answers. */
const blindTroubles: ReadonlySet<string> = new Set([
  "account-refused",
  "service-failing",
  "other-account",
  "sweeps-late",
  "store-failing"
])

/**
 * The accounts whose nodes may have changed unseen, each with the instant of its data. Data from an earlier run is older than
 * the daemon's start. `lostMillis`: since when the daemon cannot be reached.
 */
export const staleAccounts = (
  { accounts, startedAt, troubles }: Pick<Status, "accounts" | "startedAt" | "troubles">,
  lostMillis: number | undefined
): ReadonlyMap<string, AsOf> => {
  const stale = new Map<string, AsOf>()
  for (const { account, lastSweep } of accounts) {
    if (lastSweep === null) {
      stale.set(account, { atMillis: Date.parse(startedAt), isBefore: true })
      continue
    }
    const blind = troubles.filter(
      ({ about, name }) => blindTroubles.has(name) && (about.kind === "daemon" || about.name === account)
    )
    const instants = blind.map(({ since }) => Date.parse(since))
    if (blind.length > 0) instants.push(Date.parse(lastSweep.endedAt))
    if (lostMillis !== undefined) instants.push(lostMillis)
    if (instants.length > 0) stale.set(account, { atMillis: Math.min(...instants), isBefore: false })
  }
  return stale
}
