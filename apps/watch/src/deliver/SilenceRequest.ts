/** A request for a silence (a period in which some events are withheld from sinks), and the validation of requests. Pure. */
import { type Silence, silenceState } from "../store/silences.ts"

export interface SilenceRequest extends Omit<Silence, "id" | "fromMillis"> {
  /** Null: now. */
  readonly fromMillis: number | null
}

/** The names that exist, and the current silences. */
export interface Surroundings {
  readonly accounts: ReadonlyArray<string>
  readonly sinks: ReadonlyArray<string>
  readonly silences: ReadonlyArray<Silence>
  readonly nowMillis: number
}

const dayMillis = 86_400_000

/** Maximum number of silences that are not over. */
const maxSilences = 200
const maxLengthDays = 30
/** A silence may start at most this many days from now. */
const maxAheadDays = 365
/** Maximum number of patterns, of accounts and of sinks in one silence. */
const maxEntries = 100
const maxPatternLength = 256
const maxReasonLength = 500

/** A start that is at most this long ago counts as now. */
const maxAgoMillis = 60_000

const unknownName = (kind: string, names: ReadonlyArray<string>, known: ReadonlyArray<string>): string | null => {
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return null
  const there = known.length === 0 ? `No ${kind} exists yet.` : `There is ${known.join(", ")}.`
  return `There is no ${kind} ${unknown}. ${there}`
}

/** What is wrong with a request, in a sentence that says what would be valid; null if it is valid. */
export const silenceProblem = (
  { accounts, fromMillis, nodes, reason, sinks, untilMillis }: SilenceRequest,
  surroundings: Surroundings
): string | null => {
  const { nowMillis, silences } = surroundings
  const from = fromMillis ?? nowMillis
  const text = reason.trim()
  if (nodes.length + accounts.length === 0) {
    return "A silence needs nodes or accounts: the pattern * covers every node."
  }
  if (Math.max(nodes.length, accounts.length, sinks.length) > maxEntries) {
    return `A silence can name at most ${maxEntries} patterns, accounts or sinks.`
  }
  if (nodes.some((pattern) => pattern.trim() === "" || pattern.length > maxPatternLength)) {
    return `A pattern of nodes has 1 to ${maxPatternLength} characters.`
  }
  if (accounts.some((account) => account.startsWith("_"))) return "Events of the daemon itself are never silenced."
  const unknown =
    unknownName("account", accounts, surroundings.accounts) ?? unknownName("sink", sinks, surroundings.sinks)
  if (unknown !== null) return unknown
  if (text === "") return "A silence needs a reason."
  if (text.length > maxReasonLength) return `A reason has at most ${maxReasonLength} characters.`
  if (from < nowMillis - maxAgoMillis) return "A silence cannot begin in the past; without a beginning it begins now."
  if (from > nowMillis + maxAheadDays * dayMillis) return `A silence begins within ${maxAheadDays} days.`
  if (untilMillis <= nowMillis) return "A silence cannot end in the past."
  if (untilMillis <= from) return "A silence has to end after it begins."
  if (untilMillis - from > maxLengthDays * dayMillis) return `A silence lasts at most ${maxLengthDays} days.`
  if (silences.filter((each) => silenceState(each, nowMillis) !== "over").length >= maxSilences) {
    return `There are ${maxSilences} silences already: end one of them first.`
  }
  return null
}

/** The silence for a valid request. It does not cover events from before the request. */
export const toSilence = (
  { fromMillis, reason, ...request }: SilenceRequest,
  id: string,
  nowMillis: number
): Silence => ({
  ...request,
  id,
  reason: reason.trim(),
  fromMillis: Math.max(fromMillis ?? nowMillis, nowMillis)
})
