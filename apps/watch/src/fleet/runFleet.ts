/**
 * What one of several processes runs: each account wherever the engine places it, and the work of the whole fleet where the daemon's own
 * account is placed. A process that lost an account ends with it quietly, and takes it up again only where it has to.
 */
import type { BerthError } from "@berthkit/core/domain/BerthError"
import { Clock, Duration, Effect, type Scope } from "effect"
import { readStanding } from "../account/WatchedAccount.ts"
import { leftAs, Progress, readCondition } from "../telemetry/Progress.ts"
import { daemonAccount } from "../events/DaemonFact.ts"
import { report } from "../process/report.ts"
import type { Sinks } from "../deliver/Sinks.ts"
import { Store } from "../store/Store.ts"
import { fromSqlError, mayPass, StoreFailed } from "../store/StoreFailed.ts"
import { hearSweep, type HeardSweep } from "../telemetry/freshness.ts"
import { Troubles } from "../troubles/Troubles.ts"
import { processExpirySeconds } from "../store/postgres.ts"
import { SharedStore } from "../store/peers.ts"
import { Placement } from "./Placement.ts"

/** Before a store that may work again is asked again. */
const storePause = "1 second"

/** After this an account that was lost is nobody's, or another process has it for good and this one was told so. */
const lostPause = Duration.seconds(2 * processExpirySeconds)

/** Before what failed for any other reason is tried again: other accounts go on meanwhile. */
const failedPause = "1 minute"

/** For how long a process may be unknown to the others. */
const maxUnheard = "10 seconds"

/** How old what is shown of other processes' accounts may be. */
const otherPause = "2 seconds"

/** A part of the work, by its name: that of an account, or of the fleet. */
export interface Part {
  readonly name: string
  readonly run: Effect.Effect<unknown, BerthError | StoreFailed, Store | Sinks | Progress | Troubles | Scope.Scope>
  /** Ends when it has to begin anew, as something else; without it, it never has to. */
  readonly changed?: Effect.Effect<void>
}

/** Runs something for as long as this process has it; again when it failed, or is to be something else. */
const held = ({ changed = Effect.never, name, run }: Part, lost: Effect.Effect<never, StoreFailed>) => {
  const again = Effect.forever(
    Effect.catch(Effect.raceFirst(Effect.scoped(run), lost), (failure) => {
      if (failure instanceof StoreFailed && failure.fault === "lost") return Effect.sleep(lostPause)
      if (failure instanceof StoreFailed && mayPass(failure)) return Effect.sleep(storePause)
      return Effect.andThen(report(`berth-watch: account ${name}: ${failure.message}`), Effect.sleep(failedPause))
    })
  )
  return Effect.forever(Effect.raceFirst(again, changed))
}

/** What only the owner of an account knows. This process may have known it before. */
const unknownElsewhere = { nextSweepMillis: null, latencyMillis: null, allowance: null, unreadable: null }

/** Has the store say who has each account, and how those are that other processes have. */
const followOthers = Effect.fnUntraced(function* (sweeps: Map<string, HeardSweep>) {
  const store = yield* Store
  const progress = yield* Progress
  for (const { account, condition, owner, standing, sweepMillis, sweptAtMillis } of yield* store.accounts) {
    const isHere = store.epochOf(account) !== null
    if (account === daemonAccount && !isHere && condition !== null) {
      yield* (yield* Troubles).hearHeartbeat(JSON.parse(condition).heartbeat)
    }
    if (!(yield* progress.accounts).has(account)) continue
    yield* progress.report(account, { owner: owner && { ...owner, isHere } })
    if (isHere) continue
    if (sweptAtMillis !== null) {
      const nowMillis = yield* Clock.currentTimeMillis
      const read = { writtenMillis: sweptAtMillis, intervalMillis: sweepMillis, nowMillis }
      sweeps.set(account, hearSweep(sweeps.get(account), read))
    }
    const endedMillis = sweeps.get(account)?.endedMillis ?? null
    const lastSweep = endedMillis === null ? null : { endedMillis, durationMillis: null, requests: null }
    yield* progress.report(account, {
      lastSweep,
      intervalMillis: sweepMillis,
      ...unknownElsewhere,
      ...leftAs(standing === null ? null : readStanding(standing), readCondition(condition))
    })
  }
})

/**
 * Waits until the others hear of this process. The engine tries for ever to be known, and keeps to itself why it is not: a user of the
 * database who may not do it, most likely.
 */
const heard = Effect.gen(function* () {
  const { processes, self } = yield* SharedStore
  while (!(yield* Effect.mapError(processes, fromSqlError)).includes(self)) yield* Effect.sleep("100 millis")
}).pipe(
  Effect.timeoutOrElse({
    duration: maxUnheard,
    orElse: () =>
      new StoreFailed({
        fault: "denied",
        detail: "the process cannot be entered in the tables, or use their sequences"
      })
  })
)

/** Places the parts, and follows what other processes do, until the scope closes; gives what places another part. */
export const runFleet = Effect.fnUntraced(function* (parts: ReadonlyArray<Part>) {
  const { lost } = yield* Store
  const { place } = yield* Placement
  yield* heard
  const placePart = (part: Part) => place(part.name, held(part, lost(part.name)))
  for (const part of parts) yield* placePart(part)
  const follow = Effect.ignore(followOthers(new Map()))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(follow, Effect.sleep(otherPause))))
  return placePart
})
