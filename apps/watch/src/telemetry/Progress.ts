/**
 * How the polling of each account goes at this moment, as the polling itself reports it: for the people and programs that watch
 * the daemon: its state, the sweep under way, the time within which changes are known. None of it is kept; sweeps are counted for the metrics.
 */
import { Clock, Context, Effect, Layer, Metric } from "effect"
import type { Fact } from "../diff/Fact.ts"
import type { SweepCompleted } from "../diff/Observation.ts"
import type { Standing } from "../diff/Snapshot.ts"

export interface AccountProgress {
  /**
   * `degraded`: the service fails. `frozen`: the list is not believed. `paused`: a person wants it not to be polled. `stopped`: nothing polls;
   * this is what was left.
   */
  readonly state: "starting" | "watching" | "degraded" | "frozen" | "paused" | "stopped"
  /** When its watching began, where that was after the process did; null otherwise. */
  readonly begunMillis: number | null
  /** It is one of the table: its credentials are not the business of whoever runs the process. */
  readonly isAdded: boolean
  /** The list cannot be read. */
  readonly outage: {
    readonly message: string
    readonly sinceMillis: number
    /** Because the service refuses the credentials. */
    readonly isRefusal: boolean
  } | null
  /** The list can be read, and is not believed. */
  readonly doubt: {
    readonly message: string
    readonly sinceMillis: number
    /** Because it is another account's. */
    readonly isOther: boolean
  } | null
  readonly lastSweep: {
    readonly endedMillis: number
    /** Null, as `requests` is, of a sweep of another process. */
    readonly durationMillis: number | null
    readonly requests: number | null
  } | null
  /** Records that the last complete sweep could not read, and what is wrong with one; null where there were none. */
  readonly unreadable: { readonly count: number; readonly example: string } | null
  readonly nextSweepMillis: number | null
  /** Planned from one sweep to the next. */
  readonly intervalMillis: number | null
  /** The interval that is set, if the share has no room for it; otherwise null. */
  readonly stretchedMillis: number | null
  /** The share of the rate limit at present, as requests an hour; null before the first sweep. */
  readonly requestsPerHour: number | null
  /** Worst width of `observedBetween` within the last hour. */
  readonly latencyMillis: number | null
  readonly allowance: {
    readonly limit: number
    readonly remaining: number
    readonly resetMillis: number | null
    readonly isLow: boolean
  } | null
  /** Of several processes on one store, the one that has the account; null where there is one process. */
  readonly owner: {
    readonly process: string
    readonly sinceMillis: number
    /** The process that had it before; null where none did. */
    readonly from: string | null
    readonly isHere: boolean
  } | null
}

const unknown: AccountProgress = {
  state: "starting",
  begunMillis: null,
  isAdded: false,
  outage: null,
  doubt: null,
  lastSweep: null,
  unreadable: null,
  nextSweepMillis: null,
  intervalMillis: null,
  stretchedMillis: null,
  requestsPerHour: null,
  latencyMillis: null,
  allowance: null,
  owner: null
}

const sweepDuration = Metric.histogram("berth_sweep_duration_seconds", {
  description: "From the first request of a complete sweep to its last reply.",
  boundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1200]
})

const make = (names: ReadonlyArray<string>) =>
  Effect.sync(() => {
    const accounts = new Map<string, AccountProgress>(names.map((name) => [name, unknown]))
    const removed = new Set<string>()
    return {
      /**
       * Takes in what is new about an account; what is left out stays. Each `lastSweep` is one sweep. One that is paused, or was removed, may
       * still say something as it ends.
       */
      report: Effect.fnUntraced(function* (account: string, news: Partial<AccountProgress>) {
        if (removed.has(account)) return
        const known = accounts.get(account) ?? unknown
        const { doubt: _, outage: __, state: ___, ...rest } = news
        accounts.set(account, { ...known, ...(known.state === "paused" ? rest : news) })
        if (news.lastSweep?.durationMillis == null) return
        const duration = Metric.withAttributes(sweepDuration, { account })
        yield* Metric.update(duration, news.lastSweep.durationMillis / 1000)
      }),
      /** Takes in an account of the table that was there when the process began. */
      meet: (account: string) => Effect.sync(() => void accounts.set(account, { ...unknown, isAdded: true })),
      /** Begins to watch one while the process runs, or anew after a pause. */
      begin: (account: string) =>
        Effect.map(Clock.currentTimeMillis, (begunMillis) => {
          removed.delete(account)
          accounts.set(account, {
            ...unknown,
            owner: accounts.get(account)?.owner ?? null,
            isAdded: true,
            begunMillis
          })
        }),
      pause: (account: string) =>
        Effect.sync(() => {
          removed.delete(account)
          const { lastSweep, owner } = accounts.get(account) ?? unknown
          accounts.set(account, { ...unknown, owner, lastSweep, isAdded: true, state: "paused" })
        }),
      remove: (account: string) =>
        Effect.sync(() => {
          removed.add(account)
          accounts.delete(account)
        }),
      /** By name. */
      accounts: Effect.sync((): ReadonlyMap<string, AccountProgress> => accounts)
    }
  })

export class Progress extends Context.Service<Progress, Effect.Success<ReturnType<typeof make>>>()(
  "@berthkit/watch/telemetry/Progress"
) {
  /** Of the accounts with these names, all that there are at the beginning: a part of them would be taken for all. */
  static readonly layer = (names: ReadonlyArray<string>) => Layer.effect(Progress, make(names))
}

/** What this process knows of the troubles of an account beside what the store keeps. */
export interface Words {
  /** Why the last request failed that is a trouble; null where this process met none. */
  readonly outage: { readonly message: string; readonly isRefusal: boolean } | null
  /** Why the list is not believed. */
  readonly doubt: string | null
}

export const noWords: Words = { outage: null, doubt: null }

/** The troubles that the account is in, by what the daemon believes; in the words of this process, where it has met them. */
export const stateOf = (
  { baselineMillis, freeze, outage, settling, stranger }: Standing,
  words: Words
): Pick<AccountProgress, "state" | "outage" | "doubt"> => {
  const doubted = stranger ?? freeze ?? settling ?? null
  const usual = stranger === null ? "It is too short." : "It is that of another account."
  return {
    state:
      outage !== null ? "degraded" : doubted !== null ? "frozen" : baselineMillis === null ? "starting" : "watching",
    outage:
      outage === null
        ? null
        : { ...outage, ...(words.outage ?? { message: "It could not be read for too long.", isRefusal: false }) },
    doubt:
      doubted === null
        ? null
        : { message: words.doubt ?? usual, sinceMillis: doubted.sinceMillis, isOther: stranger !== null }
  }
}

/** What is wrong with an account, as only its owner knows it. */
export type Condition = Pick<AccountProgress, "outage" | "doubt" | "unreadable" | "allowance">

/** Of an allowance, the numbers of the moment in which it became low are kept. */
export const conditionOf = ({ allowance, doubt, outage, unreadable }: AccountProgress): Condition => ({
  outage,
  doubt,
  unreadable,
  allowance: allowance?.isLow === true ? allowance : null
})

export const readCondition = (json: string | null): Condition | null =>
  json === null ? null : (JSON.parse(json) as Condition)

/** An account that another process has, or had: as the store keeps it, in the words of that process. */
export const leftAs = (
  standing: Standing | null,
  condition: Condition | null
): Partial<Pick<AccountProgress, "state"> & Condition> => {
  const shown = standing === null ? {} : stateOf(standing, noWords)
  if (condition === null) return shown
  const state = condition.outage !== null ? "degraded" : condition.doubt !== null ? "frozen" : null
  const believed = standing?.baselineMillis == null ? "starting" : "watching"
  return { ...condition, state: state ?? believed }
}

/** A complete sweep, and when the next one begins. */
export const sweepOf = (
  { answered, asked, requests, unreadable }: SweepCompleted,
  intervalMillis: number
): Pick<AccountProgress, "lastSweep" | "unreadable" | "nextSweepMillis" | "intervalMillis"> => ({
  lastSweep: {
    endedMillis: answered.atMillis,
    durationMillis: answered.monotonicMillis - asked.monotonicMillis,
    requests
  },
  unreadable: unreadable ?? null,
  nextSweepMillis: Math.max(answered.atMillis, asked.atMillis + intervalMillis),
  intervalMillis
})

const hourMillis = 3_600_000

interface Width {
  readonly atMillis: number
  readonly millis: number
}

/** Widths of `observedBetween` that may still be the worst of an hour: each is wider than all after it. */
export type Widths = ReadonlyArray<Width>

const isDetection = ({ type }: Fact): boolean =>
  type === "berth.node.created" || type === "berth.node.status_changed" || type === "berth.node.changed"

/** Adds what happened. A deletion is late by its confirmation, and the baseline was never missed. */
export const addWidths = (widths: Widths, facts: ReadonlyArray<Fact>, nowMillis: number): Widths => {
  let kept = widths.filter(({ atMillis }) => nowMillis - atMillis < hourMillis)
  for (const fact of facts) {
    if (!isDetection(fact) || !("observedBetween" in fact.data)) continue
    const [from, to] = fact.data.observedBetween
    const millis = to.epochMilliseconds - from.epochMilliseconds
    kept = [...kept.filter((width) => width.millis > millis), { atMillis: fact.atMillis, millis }]
  }
  return kept
}
