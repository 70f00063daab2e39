/**
 * Runs one of several daemon processes ("fleet" here means these processes). Effect Cluster assigns each account to a process;
 * shared work runs in the process that has the daemon's own account. A process that loses an account stops the account's work
 * silently, and resumes it only if the account is assigned to it again.
 */
import type { BerthError } from "@berthkit/core/domain/BerthError"
import { Clock, Effect, type Scope } from "effect"
import { readStanding } from "../account/WatchedAccount.ts"
import { leftAs, Progress, readCondition } from "../telemetry/Progress.ts"
import { daemonAccount } from "../events/DaemonFact.ts"
import { report } from "../process/report.ts"
import type { Sinks } from "../deliver/Sinks.ts"
import { Store } from "../store/Store.ts"
import { fromSqlError, mayPass, StoreFailed } from "../store/StoreFailed.ts"
import { hearSweep, type HeardSweep } from "../telemetry/freshness.ts"
import { Troubles } from "../troubles/Troubles.ts"
import { SharedStore } from "../store/peers.ts"
import { Placement } from "./Placement.ts"

/** Pause before retrying a store that may have recovered. */
const storePause = "1 second"

/**
 * Pause before this process claims an account again that another process took over, although the engine still assigns
 * the account to this process. The engine looks once a second, so a process that is behind learns within the pause that
 * it lost the account, and does not claim it. The pause must not be longer: if the engine has given the account back in
 * the meantime, nobody watches it during the pause.
 */
const lostPause = "3 seconds"

/** Pause before retrying after any other failure; other accounts keep running. */
const failedPause = "1 minute"

/** Maximum time that a new process may take to become visible to the others. */
const maxUnheard = "10 seconds"

/** Maximum age of the data shown about other processes' accounts. */
const otherPause = "2 seconds"

/** A part of the work that runs in one process: an account, or the shared work. An account's part has the name of the account. */
export interface Part {
  readonly name: string
  readonly run: Effect.Effect<unknown, BerthError | StoreFailed, Store | Sinks | Progress | Troubles | Scope.Scope>
  /** Completes when the part must restart in a new form; if absent, it never restarts. */
  readonly changed?: Effect.Effect<void>
}

/** Runs a part while this process holds it, and restarts it after a failure or a change. */
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

/** Only the owner of an account knows these values. They are cleared, because this process may have been the owner before. */
const unknownElsewhere = { nextSweepMillis: null, latencyMillis: null, allowance: null, unreadable: null }

/** Asks the store which process holds each account, and for the state of accounts that others hold. */
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
 * Waits until the other processes see this one. The cluster engine retries the registration indefinitely without reporting why it
 * fails, most likely because the database user does not have the rights.
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
        detail: "cannot register this process in the tables, or use their sequences"
      })
  })
)

/**
 * Until the scope closes, lets the engine assign the parts to processes, and follows what other processes do. Returns a
 * function that adds another part.
 */
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
