/** `berth-watch status`: the current problems, and the state of accounts and sinks; as text for people, or as JSON. */
import { durationText } from "@berthkit/terminal/duration"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Console, DateTime, Effect, Schema, Struct } from "effect"
import type { Answers } from "../http/Daemon.ts"
import { type AccountStatus, openSilences, type SinkStatus, Status, type Trouble } from "../http/records.ts"
import { Running } from "./asking.ts"
import { silenceLine } from "./silences.ts"

export const formats = ["text", "json"] as const
type Format = (typeof formats)[number]

const Shown = Schema.Struct({
  daemon: Schema.NullOr(Running),
  ...Struct.pick(Status.fields, ["cursor", "troubles", "accounts", "sinks", "silences"])
})
type Shown = typeof Shown.Type

const writeJson = Schema.encodeSync(Schema.toCodecJson(Shown))

const troubleLines = ({ about, message, next, severity, since }: Trouble): ReadonlyArray<string> => [
  `${severity}: ${about.name === null ? "" : `${about.kind} ${about.name}: `}${message}`,
  `  since ${DateTime.formatIso(since)}. ${next}`
]

const ownerText = ({ from, process, since }: NonNullable<AccountStatus["owner"]>): string =>
  `, watched by ${process}` + (from === null ? "" : `, taken over from ${from} at ${DateTime.formatIso(since)}`)

/** The current sweep interval and share, and whether the share is too small for the configured interval. */
const intervalText = ({ requestsPerHour, sweepIntervalMillis, sweepIntervalSetMillis }: AccountStatus): string => {
  if (sweepIntervalMillis === null) return ""
  const apart = durationText(Math.ceil(sweepIntervalMillis / 1000) * 1000)
  const share = requestsPerHour === null ? "" : `, at most ${requestsPerHour} requests an hour`
  const set =
    sweepIntervalSetMillis === undefined ? "" : ` (too few for the interval of ${durationText(sweepIntervalSetMillis)})`
  return `, sweeps ${apart} apart${share}${set}`
}

const accountLine = (status: AccountStatus): string => {
  const { account, lastSweep, nodes, owner, state } = status
  const swept = lastSweep === null ? "no complete sweep yet" : `last sweep ${DateTime.formatIso(lastSweep.endedAt)}`
  return `account ${account}: ${state}, ${nodes} ${nodes === 1 ? "node" : "nodes"}, ${swept}${intervalText(status)}${owner === undefined ? "" : ownerText(owner)}`
}

const sinkLine = ({ deadLetters, kind, lag, message, silenced, sink, state, waiting }: SinkStatus): string =>
  `sink ${sink} (${kind}): ${state}, lag ${lag}, waiting ${waiting}, dead letters ${deadLetters}` +
  (silenced > 0 ? `, held by silences ${silenced}` : "") +
  (message === null ? "" : `; ${message}`)

/** Names the sinks that retry a failed attempt. A retry is not a trouble yet, but `status` should mention such a sink. */
const retryingText = (sinks: ReadonlyArray<SinkStatus>): string | null => {
  const names = sinks.filter(({ state }) => state === "retrying").map(({ sink }) => sink)
  if (names.length === 0) return null
  return `No problem yet, but deliveries to ${names.join(", ")} failed and are retried.`
}

/** An account that has not been read yet has no trouble, but nobody knows its nodes. */
const startingText = (accounts: ReadonlyArray<AccountStatus>): string | null => {
  const { length } = accounts.filter(({ lastSweep, state }) => lastSweep === null && state !== "paused")
  if (length === 0) return null
  const { length: all } = accounts
  const whose = all === 1 ? "" : ` of ${length === all ? "" : `${length} of `}${all} accounts`
  return `Starting. The first sweep${whose} is under way.`
}

const headOf = ({ accounts, daemon, sinks, troubles }: Shown, isAnswered: boolean): string => {
  const { length } = troubles
  const retrying = retryingText(sinks)
  if (length === 0 && retrying !== null && (daemon === null || isAnswered)) {
    return daemon === null ? `No daemon runs. ${retrying}` : retrying
  }
  const starting = startingText(accounts)
  if (length === 0 && starting !== null && isAnswered) return starting
  const well = length === 0 ? "All well." : length === 1 ? "1 problem:" : `${length} problems:`
  if (daemon === null) return `No daemon runs. ${length === 0 ? "The store has no problem." : well}`
  if (isAnswered || length > 0) return well
  // The store cannot show facts that only a running daemon knows, for example whether its clock is right.
  return "No daemon could be reached over HTTP. The store shows no problem."
}

const textOf = (shown: Shown, isAnswered: boolean): string =>
  [
    headOf(shown, isAnswered),
    ...shown.troubles.flatMap(troubleLines),
    "",
    ...shown.accounts.map(accountLine),
    ...shown.sinks.map(sinkLine),
    ...shown.silences.map(silenceLine)
  ]
    .map(escapeControls)
    .join("\n")

/** In the JSON, `daemon` is the running process, even if it cannot be reached over HTTP; null if none is running. */
export const status = (format: Format) =>
  Effect.fn("status")(function* (daemon: Answers, running: Running | null, isAnswered: boolean) {
    const shown: Shown = {
      daemon: running,
      cursor: yield* daemon.cursor,
      troubles: yield* daemon.troubles,
      accounts: yield* daemon.accounts,
      sinks: yield* daemon.sinks,
      silences: openSilences(yield* daemon.silences)
    }
    yield* Console.log(format === "text" ? textOf(shown, isAnswered) : JSON.stringify(writeJson(shown), null, 2))
  })
