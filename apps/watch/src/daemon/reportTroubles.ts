/**
 * Reports troubles (problems of the daemon): a line on stderr when a trouble begins and when it ends, and a general event if
 * the trouble has no event type of its own. Also writes to the store periodically, to find out whether it still accepts writes.
 */
import { Clock, DateTime, Duration, Effect, Schedule } from "effect"
import { ofAccount } from "../diff/Fact.ts"
import { type DaemonFact, daemonAccount, TroubleBegan, TroubleEnded } from "../events/DaemonFact.ts"
import type { EventFact } from "../events/Event.ts"
import { report } from "../process/report.ts"
import { Store } from "../store/Store.ts"
import { keyOf, reportedTroubles, type Trouble } from "../troubles/table.ts"
import { Troubles } from "../troubles/Troubles.ts"

/**
 * The troubles that have a line on stderr, by key. They survive a reload of the config, because an ongoing trouble must not get
 * a second line.
 */
export type Reported = Map<string, Trouble>

const lookPause = "2 seconds"
const probePause = "5 seconds"

/** If the pause between two checks takes this much longer than planned, the process or its machine was suspended. */
const stoodStillMillis = 5000

/** If a trouble was reported before a restart or a reload, it counts as over only if it does not appear again within this time. */
const settlingMillis = 15_000

/** Number of trouble events that are read to find the open troubles; more are never open at once. */
const maxRead = 1000

type Told = Pick<Trouble, "about" | "name" | "sinceMillis">

/**
 * The identity contains the time of the report, not the trouble's `since`: a trouble may return with its old `since`, for
 * example when a sink is retried and still rejects everything.
 */
const factOf = (content: DaemonFact, told: Told, atMillis: number): EventFact => ({
  ...content,
  identity: ofAccount(`${keyOf(told)} ${atMillis}`),
  atMillis
})

const began = (trouble: Trouble, atMillis: number): EventFact => {
  const { about, message, name, next, severity, sinceMillis } = trouble
  const data = { trouble: name, about, severity, message, next, since: DateTime.makeUnsafe(sinceMillis) }
  return factOf({ type: TroubleBegan.fields.type.literal, data }, trouble, atMillis)
}

const ended = (told: Told, atMillis: number): EventFact => {
  const data = { trouble: told.name, about: told.about, since: DateTime.makeUnsafe(told.sinceMillis) }
  return factOf({ type: TroubleEnded.fields.type.literal, data }, told, atMillis)
}

/** The troubles that have a begin event and no end event in the log. */
const openInLog = Effect.gen(function* () {
  const { latest } = yield* Store
  const open = new Map<string, Told>()
  const events = yield* latest(maxRead, { account: daemonAccount, type: "berth.watch.trouble*" })
  for (const { body, type } of events) {
    const { about, since, trouble } = JSON.parse(body).data
    const told: Told = { name: trouble, about, sinceMillis: Date.parse(since) }
    if (type === TroubleBegan.fields.type.literal) open.set(keyOf(told), told)
    else open.delete(keyOf(told))
  }
  return open
})

const reportLines = Effect.fnUntraced(function* (
  troubles: ReadonlyMap<string, Trouble>,
  reported: Reported,
  isSettled: boolean,
  isOwn: (trouble: Trouble) => boolean
) {
  // Only the process that has an account can know whether its trouble goes on.
  for (const [key, trouble] of reported) if (!isOwn(trouble)) reported.delete(key)
  for (const [key, trouble] of troubles) {
    if (reported.has(key) || !isOwn(trouble)) continue
    reported.set(key, trouble)
    yield* report(`berth-watch: ${key}: ${trouble.message} ${trouble.next}`)
  }
  for (const [key, { sinceMillis }] of reported) {
    if (troubles.has(key) || !isSettled) continue
    reported.delete(key)
    yield* report(`berth-watch: ${key} is over; it began at ${DateTime.formatIso(DateTime.makeUnsafe(sinceMillis))}.`)
  }
})

/** Checks the troubles until interrupted. */
export const reportTroubles = Effect.fnUntraced(function* (reported: Reported) {
  const store = yield* Store
  const { commitOfDaemon, epochOf, probe } = store
  const { current, remember } = yield* Troubles
  const begunMillis = yield* Clock.currentTimeMillis
  /**
   * The open troubles in the log, and the epoch of the daemon's own account in which this process began to report events for
   * all processes.
   */
  let open = new Map<string, Told>()
  let openEpoch: number | null = null

  const logged = Effect.provideService(openInLog, Store, store)
  const readOpen = Effect.gen(function* () {
    const epoch = epochOf(daemonAccount)
    if (epoch === openEpoch) return
    open = yield* Effect.orElseSucceed(logged, () => new Map<string, Told>())
    openEpoch = epoch
    yield* remember(new Map(Array.from(open, ([key, { sinceMillis }]) => [key, sinceMillis])))
  })
  yield* readOpen

  /** Reports events; if the store rejects them, the next check tries again. */
  const reportEvents = Effect.fnUntraced(function* (
    troubles: ReadonlyMap<string, Trouble>,
    isSettled: boolean,
    now: number
  ) {
    // If several processes share the store, one of them reports the events for all.
    yield* readOpen
    if (openEpoch === null) return
    const begin = Array.from(troubles.values()).filter(
      (each) => reportedTroubles.has(each.name) && !open.has(keyOf(each))
    )
    const end = isSettled ? Array.from(open.values()).filter((each) => !troubles.has(keyOf(each))) : []
    if (begin.length + end.length === 0) return
    yield* Effect.tapError(
      commitOfDaemon([...end.map((each) => ended(each, now)), ...begin.map((each) => began(each, now))]),
      // The commit may have succeeded anyway, so the log is read again.
      () => Effect.sync(() => (openEpoch = null))
    )
    for (const each of end) open.delete(keyOf(each))
    for (const each of begin) open.set(keyOf(each), each)
  })

  // Every process reports late sweeps, because the account may have no owner.
  const isOwn = ({ about: { kind, name }, name: trouble }: Trouble) =>
    kind !== "account" || name === null || epochOf(name) !== null || trouble === "sweeps-late"

  let lookedMillis = begunMillis
  const look = Effect.gen(function* () {
    // After a suspension everything looks late. Skip this check; by the next one the work has caught up.
    const stoodStill = (yield* Clock.currentTimeMillis) - lookedMillis > Duration.toMillis(lookPause) + stoodStillMillis
    if (stoodStill) return
    const troubles = new Map((yield* current).map((trouble) => [keyOf(trouble), trouble]))
    const now = yield* Clock.currentTimeMillis
    const isSettled = Math.abs(now - begunMillis) > settlingMillis
    yield* reportLines(troubles, reported, isSettled, isOwn)
    yield* reportEvents(troubles, isSettled, now)
  }).pipe(
    Effect.ensuring(
      Effect.map(Clock.currentTimeMillis, (now) => {
        lookedMillis = now
      })
    )
  )
  const forEver = (effect: Effect.Effect<void, unknown>, pause: typeof lookPause | typeof probePause) =>
    Effect.repeat(Effect.ignore(effect), Schedule.spaced(pause))
  return yield* Effect.all([forEver(look, lookPause), forEver(probe, probePause)], {
    concurrency: "unbounded",
    discard: true
  })
})
