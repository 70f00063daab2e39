/**
 * The table of troubles: one entry for each problem that a daemon may have, with its condition, its sentence, the next step, and its
 * alert. Everything that shows troubles (the HTTP interface, metrics, stderr, events, the page, the alert rules,
 * `docs/reference/troubles.md`) is derived from it, so a new trouble needs only one entry. Pure.
 */
import { DateTime } from "effect"
import { isSwept, maxSweepAgeMillis } from "../telemetry/freshness.ts"
import type { AccountProgress } from "../telemetry/Progress.ts"
import { isTemplateFailure } from "../deliver/Health.ts"
import type { SinkState } from "../deliver/Sinks.ts"
import type { DaemonState } from "./DaemonState.ts"

export const subjects = ["daemon", "account", "sink"] as const
type Subject = (typeof subjects)[number]

export const severities = ["critical", "warning"] as const
type Severity = (typeof severities)[number]

/** A trouble that currently holds for a subject. */
interface Found {
  /** The account or sink; null for the daemon. */
  readonly subject: string | null
  /** The details, in one sentence; null if there are none. */
  readonly detail: string | null
  /** What to do, if it depends on the details. */
  readonly next?: string
  /** When the trouble began. If absent or null, it counts from when the daemon first noticed it. */
  readonly sinceMillis?: number | null
}

export interface TroubleEntry {
  readonly name: string
  readonly about: Subject
  readonly severity: Severity
  /** One sentence, the same for all subjects. */
  readonly sentence: string
  /** What to do next, in one sentence; `NAME` is replaced by the account or sink. */
  readonly next: string
  /** When the trouble begins and ends, in words for the documentation. `find` decides. */
  readonly begins: string
  readonly ends: string
  /** Finds the subjects that have the trouble now. */
  readonly find: (state: DaemonState) => ReadonlyArray<Found>
  /** The alert for Prometheus, and how long the trouble must last before it fires. */
  readonly alert: { readonly name: string; readonly wait: string }
  /** Whether `/readyz` fails while the trouble lasts. */
  readonly isUnready: boolean
  /** The type of the event that reports the trouble; null if no event can report it while it lasts. */
  readonly event: string | null
}

type AccountFinder = (account: AccountProgress, state: DaemonState) => Omit<Found, "subject"> | null

/** Applies a finder to all accounts that are polled. */
const ofAccounts =
  (find: AccountFinder) =>
  (state: DaemonState): ReadonlyArray<Found> =>
    Array.from(state.accounts).flatMap(([subject, account]) => {
      const isPolled = account.state !== "stopped" && account.state !== "paused"
      const found = isPolled ? find(account, state) : null
      return found === null ? [] : [{ subject, ...found }]
    })

/** Applies a finder to all sinks of the config. */
const ofSinks =
  (find: (sink: SinkState) => Omit<Found, "subject"> | null) =>
  ({ sinks }: DaemonState): ReadonlyArray<Found> =>
    sinks.flatMap((sink) => {
      const found = sink.state === "removed" ? null : find(sink)
      return found === null ? [] : [{ subject: sink.name, ...found }]
    })

/** A trouble, with the details from the process that saw it. */
const told = (words: string | null, sinceMillis: number | null) => ({ detail: sentenceOf(words), sinceMillis })

/** Finds the sinks in a state. */
const inState = (wanted: SinkState["state"]) =>
  ofSinks(({ changedAtMillis, failingSinceMillis, message, state }) =>
    state === wanted ? told(message, state === "disabled" ? changedAtMillis : failingSinceMillis) : null
  )

/** What to do about a sink whose template fails. Its receiver has got nothing, so it is not at fault. */
const nextForTemplate =
  "Correct the template of the sink in the config, try it with check-config, then run berth-watch sinks retry NAME."

const ofDaemon = (found: Omit<Found, "subject"> | null): ReadonlyArray<Found> =>
  found === null ? [] : [{ subject: null, ...found }]

/** Turns a few words into a sentence. */
const sentenceOf = (words: string | null): string | null =>
  words === null ? null : `${words.charAt(0).toUpperCase()}${words.slice(1).replace(/\.$/, "")}.`

const counts = new Intl.NumberFormat("en")

const instantText = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))

const secondMillis = 1000
const minuteMillis = 60 * secondMillis
const hourMillis = 60 * minuteMillis

const spanText = (millis: number): string => {
  const span = Math.abs(millis)
  if (span >= 2 * hourMillis) return `${Math.round(span / hourMillis)} hours`
  if (span >= 2 * minuteMillis) return `${Math.round(span / minuteMillis)} minutes`
  return `${Math.round(span / secondMillis)} seconds`
}

/** A sink is far behind if it has this many unread events, or half of the number at which it is disabled. */
const maxUnread = 10_000

/** The store counts as over its limit only above this multiple of the limit, because unread events are kept in any case. */
const slack = 1.1

/**
 * An entry, in which `isUnready` and `event` may be omitted. By default the daemon stays ready, and reports the trouble as an
 * event.
 */
type Stated = Omit<TroubleEntry, "isUnready" | "event"> & Partial<TroubleEntry>

const stated: ReadonlyArray<Stated> = [
  {
    name: "account-refused",
    about: "account",
    severity: "critical",
    sentence: "The credentials of the account do not work.",
    next: "Check the API key and the access token of the account, then send SIGHUP, or run berth-watch account add NAME --replace.",
    begins:
      "the service refuses the credentials, and three requests in a row failed or no sweep was complete for a minute (or for the planned time of two sweeps, if that is longer). If the daemon has only just started, one refused request is enough",
    ends: "the list is read again",
    find: ofAccounts(({ outage }) => (outage?.isRefusal === true ? told(outage.message, outage.sinceMillis) : null)),
    alert: { name: "BerthAccountRefused", wait: "1m" }
  },
  {
    name: "service-failing",
    about: "account",
    severity: "warning",
    sentence: "The list of nodes cannot be read.",
    next: "Check the service and the network; the daemon keeps trying.",
    begins:
      "three requests in a row failed, or no sweep was complete for a minute (or for the planned time of two sweeps, if that is longer)",
    ends: "a complete sweep, and a minute without a failure",
    find: ofAccounts(({ outage }) => (outage?.isRefusal === false ? told(outage.message, outage.sinceMillis) : null)),
    alert: { name: "BerthServiceFailing", wait: "5m" },
    event: "berth.watch.degraded"
  },
  {
    name: "list-not-believed",
    about: "account",
    severity: "warning",
    sentence: "The list of nodes cannot be trusted.",
    next: "Check the nodes in the provider's console. If they are gone, the daemon reports that after the hold (--hold, ten minutes by default).",
    begins: "many nodes, or all of them, are missing at once",
    ends: "the nodes have been back for a minute, or the hold is over",
    find: ofAccounts(({ doubt }) => (doubt?.isOther === false ? told(doubt.message, doubt.sinceMillis) : null)),
    alert: { name: "BerthListNotBelieved", wait: "5m" },
    event: "berth.watch.degraded"
  },
  {
    name: "other-account",
    about: "account",
    severity: "critical",
    sentence: "The list belongs to another account.",
    next: "Set the right key, or give this account another name in the config.",
    begins: "with a new key, the list has none of the known nodes",
    ends: "the list has the known nodes again",
    find: ofAccounts(({ doubt }) => (doubt?.isOther === true ? told(doubt.message, doubt.sinceMillis) : null)),
    alert: { name: "BerthOtherAccount", wait: "1m" },
    event: "berth.watch.degraded"
  },
  {
    name: "sweeps-late",
    about: "account",
    severity: "critical",
    sentence: "Too much time has passed without a complete read of the nodes.",
    next: "Look at the other troubles. If there are none, raise share or set a longer interval.",
    begins: "no sweep was complete for more than a minute (or for the planned time of two sweeps, if that is longer)",
    ends: "a complete sweep",
    find: ofAccounts((account, { begunMillis, nowMillis }) => {
      // An account that was added or resumed later gets the same time for its first sweep as an account of the config.
      const begun = account.begunMillis ?? begunMillis
      const isUnswept = account.lastSweep === null || account.lastSweep.endedMillis < (account.begunMillis ?? 0)
      const maxAgeMillis = maxSweepAgeMillis(account.intervalMillis, account.owner?.isHere === false)
      const isFirst = isUnswept && nowMillis - begun <= maxAgeMillis
      if (isFirst || isSwept(account, nowMillis)) return null
      const detail =
        account.lastSweep === null
          ? "No sweep has been complete since watching began."
          : `The last complete sweep ended at ${instantText(account.lastSweep.endedMillis)}.`
      return { detail }
    }),
    alert: { name: "BerthSweepsStopped", wait: "1m" },
    isUnready: true
  },
  {
    name: "records-unreadable",
    about: "account",
    severity: "warning",
    sentence: "Some records of nodes cannot be read, so nothing is reported about those nodes.",
    next: "Compare the example that berth-watch status shows with the API's documentation; a newer berth-watch may be able to read it.",
    begins: "a complete sweep had unreadable records",
    ends: "a complete sweep had no unreadable records",
    find: ofAccounts(({ unreadable }) =>
      unreadable === null
        ? null
        : {
            detail:
              unreadable.count === 1
                ? `There is one: ${unreadable.example}.`
                : `There are ${counts.format(unreadable.count)}, for example ${unreadable.example}.`
          }
    ),
    alert: { name: "BerthRecordsUnreadable", wait: "5m" }
  },
  {
    name: "allowance-low",
    about: "account",
    severity: "warning",
    sentence: "The allowance is low.",
    next: "Find what else uses the key, or lower share.",
    begins: "a tenth of the allowance is left, or less than the daemon needs until the allowance refills",
    ends: "a fifth of the allowance is left, and as much as the daemon needs",
    find: ofAccounts(({ allowance }) =>
      allowance?.isLow === true
        ? {
            detail: `${counts.format(allowance.remaining)} of ${counts.format(allowance.limit)} requests are left.`
          }
        : null
    ),
    alert: { name: "BerthAllowanceLow", wait: "10m" },
    event: "berth.allowance.low"
  },
  {
    name: "store-failing",
    about: "daemon",
    severity: "critical",
    sentence: "The store cannot be written, so polling has stopped.",
    next: "Free space on the store's disk, or stop the program that locks it; the daemon then continues where it stopped.",
    begins: "a write failed, for example because the disk is full",
    ends: "writes succeed, and none failed for eight seconds",
    find: ({ store }) =>
      ofDaemon(store && { detail: store.failure.message, next: store.failure.hint, sinceMillis: store.sinceMillis }),
    alert: { name: "BerthStoreFailing", wait: "0m" },
    isUnready: true,
    event: null
  },
  {
    name: "retention-behind",
    about: "daemon",
    severity: "warning",
    sentence: "The store holds more than retention allows.",
    next: "Look for a sink that is behind, because its events are kept; or raise maxEvents or maxSize.",
    begins: "the store exceeds maxEvents or maxSize by a tenth",
    ends: "the store no longer exceeds either by a tenth",
    find: ({ kept }) => {
      if (kept === null) return []
      const { bytes, events, maxBytes, maxEvents } = kept
      if (events > slack * maxEvents)
        return ofDaemon({
          detail: `It has ${counts.format(events)} events of one account; maxEvents is ${counts.format(maxEvents)}.`
        })
      return bytes > slack * maxBytes
        ? ofDaemon({
            detail: `It takes ${counts.format(bytes)} bytes; maxSize is ${counts.format(maxBytes)}.`
          })
        : []
    },
    alert: { name: "BerthRetentionBehind", wait: "1h" }
  },
  {
    name: "clock-stepped",
    about: "daemon",
    severity: "warning",
    sentence: "The clock of this machine was changed.",
    next: "Check its time synchronisation: times of events and of retries follow the clock.",
    begins: "the time of day jumped by more than five seconds",
    ends: "ten minutes later, or when the change of the clock is undone",
    find: ({ clock }) =>
      ofDaemon(
        clock && {
          detail: `It moved ${clock.byMillis > 0 ? "forward" : "back"} by ${spanText(clock.byMillis)}.`,
          sinceMillis: clock.sinceMillis
        }
      ),
    alert: { name: "BerthClockStepped", wait: "0m" }
  },
  {
    name: "heartbeat-failing",
    about: "daemon",
    severity: "warning",
    sentence: "The monitor does not get the heartbeat.",
    next: "Check the address of heartbeat in the config. Until the monitor gets a heartbeat, it believes that this daemon is dead.",
    begins: "a heartbeat failed",
    ends: "a heartbeat arrived",
    find: ({ heartbeat }) => ofDaemon(heartbeat && told(heartbeat.reason, heartbeat.sinceMillis)),
    alert: { name: "BerthHeartbeatFailing", wait: "5m" }
  },
  {
    name: "sink-failing",
    about: "sink",
    severity: "critical",
    sentence: "Deliveries fail.",
    next: "Correct the address of the sink or repair the receiver, then run berth-watch sinks retry NAME.",
    begins: "the third failure in a row",
    ends: "an event is delivered",
    find: ofSinks(({ failingSinceMillis, message, name, state }) =>
      state !== "failing"
        ? null
        : {
            ...told(message, failingSinceMillis),
            ...(isTemplateFailure(message) && { next: named(nextForTemplate, name) })
          }
    ),
    alert: { name: "BerthSinkFailing", wait: "5m" }
  },
  {
    name: "sink-down",
    about: "sink",
    severity: "warning",
    sentence: "The receiver is down.",
    next: "Start the receiver again: the daemon tries it once a minute, and then delivers all waiting events.",
    begins:
      "the receiver did not answer when the daemon sent it events about three different nodes in a row (or about all nodes, if there are fewer than three)",
    ends: "an event is delivered",
    find: inState("down"),
    alert: { name: "BerthSinkDown", wait: "30m" }
  },
  {
    name: "sink-disabled",
    about: "sink",
    severity: "critical",
    sentence: "The sink is disabled and gets no events.",
    next: "Repair the receiver, then run berth-watch sinks enable NAME.",
    begins:
      "the receiver answered 410 or accepted nothing for five days, or the sink is too far behind, or somebody disabled it",
    ends: "the sink is enabled",
    find: inState("disabled"),
    alert: { name: "BerthSinkDisabled", wait: "0m" },
    event: "berth.sink.disabled"
  },
  {
    name: "sink-behind",
    about: "sink",
    severity: "warning",
    sentence: "The sink is far behind.",
    next: "Make its receiver faster, or select fewer events. If the sink falls further behind than its maxLag, the daemon disables it.",
    begins: "10 000 events are unread, or half of the sink's maxLag",
    ends: "fewer events are unread",
    find: ofSinks(({ maxLag, unread }) =>
      unread > Math.min(maxUnread, (maxLag ?? Infinity) / 2)
        ? { detail: `${counts.format(unread)} events are unread.` }
        : null
    ),
    alert: { name: "BerthSinkLags", wait: "15m" }
  },
  {
    name: "dead-letters",
    about: "sink",
    severity: "warning",
    sentence: "Some events could not be delivered.",
    next: "Correct the receiver or the template of the sink, then run berth-watch sinks retry NAME.",
    begins: "the last attempt of an event failed",
    ends: "no dead letter is left, because all were delivered or removed by age",
    find: ofSinks(({ dead }) =>
      dead > 0
        ? {
            detail: `${counts.format(dead)} ${dead === 1 ? "is a dead letter" : "are dead letters"}.`
          }
        : null
    ),
    alert: { name: "BerthDeadLetters", wait: "0m" }
  }
]

export const troubleTable: ReadonlyArray<TroubleEntry> = stated.map((entry) => ({
  isUnready: false,
  event: "berth.watch.trouble",
  ...entry
}))

/** A trouble that currently holds. */
export interface Trouble {
  readonly name: string
  readonly about: { readonly kind: Subject; readonly name: string | null }
  readonly severity: Severity
  readonly message: string
  readonly next: string
  readonly sinceMillis: number
}

const namesWhere = (condition: (entry: TroubleEntry) => boolean): ReadonlySet<string> =>
  new Set(troubleTable.filter(condition).map(({ name }) => name))

/** Names of the troubles during which the daemon is not ready. */
export const unreadyTroubles = namesWhere(({ isUnready }) => isUnready)

/** Names of the troubles that `berth.watch.trouble` reports. */
export const reportedTroubles = namesWhere(({ event }) => event === "berth.watch.trouble")

/** What to do, with the name of the account or sink. */
export const named = (next: string, subject: string | null): string =>
  subject === null ? next : next.replace("NAME", () => subject)

/** Identifies a trouble; the key stays the same for as long as the trouble lasts. */
export const keyOf = ({ about, name }: Pick<Trouble, "about" | "name">): string =>
  about.name === null ? name : `${name} (${about.name})`

/**
 * The current troubles, worst first, then in the order of the table. `known`: the start times of troubles, by key. They are
 * used for troubles whose start time is not in the state.
 */
export const troublesOf = (state: DaemonState, known: ReadonlyMap<string, number>): ReadonlyArray<Trouble> =>
  troubleTable
    .flatMap(({ about, find, name, next, sentence, severity }) =>
      find(state).map((found): Trouble => {
        const of = { name, about: { kind: about, name: found.subject } }
        return {
          ...of,
          severity,
          message: found.detail === null ? sentence : `${sentence} ${found.detail}`,
          next: found.next ?? named(next, found.subject),
          sinceMillis: found.sinceMillis ?? known.get(keyOf(of)) ?? state.nowMillis
        }
      })
    )
    .toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
