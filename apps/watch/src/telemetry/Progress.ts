/**
 * The current state of each account's polling, for people and programs that watch the daemon: the account's state, its last and
 * next sweep, and how soon changes are known. The polling itself reports it. Nothing is stored; sweeps are counted for the
 * metrics.
 */
import { Clock, Context, Effect, Layer, Metric } from "effect"
import type { Fact } from "../diff/Fact.ts"
import type { SweepCompleted } from "../diff/Observation.ts"
import type { Standing } from "../diff/Snapshot.ts"

export interface AccountProgress {
  /**
   * `degraded`: the service fails. `frozen`: the list is not believed. `paused`: a person stopped the polling. `stopped`: no
   * process polls, and this is the last state.
   */
  readonly state: "starting" | "watching" | "degraded" | "frozen" | "paused" | "stopped"
  /** When watching the account began, if that was after the process started; otherwise null. */
  readonly begunMillis: number | null
  /**
   * Whether the account comes from the table. If so, the person who runs the process is not responsible for its
   * credentials.
   */
  readonly isAdded: boolean
  /** Set while the list cannot be read. */
  readonly outage: {
    readonly message: string
    readonly sinceMillis: number
    /** Whether the reason is that the service refuses the credentials. */
    readonly isRefusal: boolean
  } | null
  /** Set while the list can be read, but is not believed. */
  readonly doubt: {
    readonly message: string
    readonly sinceMillis: number
    /** Whether the reason is that the list belongs to another account. */
    readonly isOther: boolean
  } | null
  readonly lastSweep: {
    readonly endedMillis: number
    /** Null for a sweep of another process; so is `requests`. */
    readonly durationMillis: number | null
    readonly requests: number | null
  } | null
  /** Records that the last complete sweep could not read, and what is wrong with one of them; null if there were none. */
  readonly unreadable: { readonly count: number; readonly example: string } | null
  readonly nextSweepMillis: number | null
  /** The planned interval between two sweeps. */
  readonly intervalMillis: number | null
  /** The configured interval, if the share is too small for it; otherwise null. */
  readonly stretchedMillis: number | null
  /** The current share of the rate limit, in requests per hour; null before the first sweep. */
  readonly requestsPerHour: number | null
  /** The largest width of `observedBetween` within the last hour. */
  readonly latencyMillis: number | null
  readonly allowance: {
    readonly limit: number
    readonly remaining: number
    readonly resetMillis: number | null
    readonly isLow: boolean
  } | null
  /** If several processes share a store, the process that owns the account; null with a single process. */
  readonly owner: {
    readonly process: string
    readonly sinceMillis: number
    /** The previous owner; null if there was none. */
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
       * Records news about an account; omitted fields stay as they are. Each `lastSweep` counts as one sweep. The polling of an
       * account that was paused or removed may still report while it ends; that does not change its state.
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
      /** Adds an account that was already in the table when the process started. */
      meet: (account: string) => Effect.sync(() => void accounts.set(account, { ...unknown, isAdded: true })),
      /** Starts watching an account while the process runs, or again after a pause. */
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
      /** The accounts by name. */
      accounts: Effect.sync((): ReadonlyMap<string, AccountProgress> => accounts)
    }
  })

export class Progress extends Context.Service<Progress, Effect.Success<ReturnType<typeof make>>>()(
  "@berthkit/watch/telemetry/Progress"
) {
  /** Starts with the accounts of these names. The names must be complete, because readers assume that these are all accounts. */
  static readonly layer = (names: ReadonlyArray<string>) => Layer.effect(Progress, make(names))
}

/** The knowledge of this process about an account's troubles, in addition to the stored knowledge. */
export interface Words {
  /** The last failure that is a trouble; null if this process saw none. */
  readonly outage: { readonly message: string; readonly isRefusal: boolean } | null
  /** Why the list is not believed. */
  readonly doubt: string | null
}

export const noWords: Words = { outage: null, doubt: null }

/**
 * The account's state and troubles, from its stored standing. If this process has seen a trouble, the message is the one of this process.
 */
export const stateOf = (
  { baselineMillis, freeze, outage, settling, stranger }: Standing,
  words: Words
): Pick<AccountProgress, "state" | "outage" | "doubt"> => {
  const doubted = stranger ?? freeze ?? settling
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

/** What is wrong with an account. Only the owner of the account knows it. */
export type Condition = Pick<AccountProgress, "outage" | "doubt" | "unreadable" | "allowance">

/** The condition to store. An allowance is part of it only while it is low. */
export const conditionOf = ({ allowance, doubt, outage, unreadable }: AccountProgress): Condition => ({
  outage,
  doubt,
  unreadable,
  allowance: allowance?.isLow === true ? allowance : null
})

export const readCondition = (json: string | null): Condition | null =>
  json === null ? null : (JSON.parse(json) as Condition)

/** The stored state of an account that another process owns or owned, in the words of that process. */
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

/** A complete sweep, and when the next one starts. */
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

/**
 * The widths of `observedBetween` that are, or may become, the largest of the last hour. Each is larger than all later ones.
 */
export type Widths = ReadonlyArray<Width>

const isDetection = ({ type }: Fact): boolean =>
  type === "berth.node.created" || type === "berth.node.status_changed" || type === "berth.node.changed"

/**
 * Adds the widths of new facts. Deletions and the baseline do not count: a deletion is reported late because it must be confirmed first,
 * and the baseline is not a change.
 */
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
