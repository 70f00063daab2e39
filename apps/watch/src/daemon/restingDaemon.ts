/** Answers in place of a daemon that is stopped or cannot be reached over HTTP, from the last state in its store. */
import { Context, Effect, Layer } from "effect"
import { readStanding } from "../account/WatchedAccount.ts"
import type { SinkOptions } from "../deliver/SinkOptions.ts"
import { Sinks } from "../deliver/Sinks.ts"
import { type Answers, Daemon } from "../http/Daemon.ts"
import { storeDaemon } from "../http/storeDaemon.ts"
import { Store } from "../store/Store.ts"
import type { TableAccountRow } from "../store/watchedAccounts.ts"
import { Troubles } from "../troubles/Troubles.ts"
import { leftAs, Progress, readCondition } from "../telemetry/Progress.ts"

const unknown = { state: "starting" } as const

/** The accounts of the table; only a store in PostgreSQL has one. */
const tableOf = ({ isShared, watchedAccounts }: Store["Service"]) =>
  isShared ? watchedAccounts(0) : Effect.succeed<ReadonlyArray<TableAccountRow>>([])

/** Reports each account in the state that its current or last owner has stored. */
const reportAccounts = Effect.fnUntraced(function* (isRunning: boolean) {
  const progress = yield* Progress
  const store = yield* Store
  const states = new Map((yield* tableOf(store)).map(({ name, state }) => [name, state]))
  for (const { account, condition, owner, standing, sweptAtMillis } of yield* store.accounts) {
    if (account.startsWith("_") || states.get(account) === "removed") continue
    const lastSweep =
      sweptAtMillis === null ? null : { endedMillis: sweptAtMillis, durationMillis: null, requests: null }
    const isOwned = store.isShared && isRunning && owner !== null
    const left = leftAs(standing === null ? null : readStanding(standing), readCondition(condition))
    yield* progress.report(account, {
      ...unknown,
      ...left,
      ...(isRunning ? {} : { state: "stopped" }),
      lastSweep,
      owner: isOwned ? { ...owner, isHere: false } : null
    })
    if (isRunning && states.get(account) === "paused") yield* progress.pause(account)
  }
})

/** `options`: the sinks of the config; null if the config is unknown. */
export const restingDaemon = Effect.fnUntraced(function* (
  options: ReadonlyArray<SinkOptions> | null,
  isRunning: boolean
) {
  const progress = Layer.effectDiscard(reportAccounts(isRunning)).pipe(Layer.provideMerge(Progress.layer([])))
  const state = Layer.mergeAll(Sinks.layerAtRest(options), progress)
  const context = yield* Layer.build(
    storeDaemon(options ?? []).pipe(Layer.provide(Troubles.layer(null)), Layer.provide(state))
  )
  return Context.get(context, Daemon) satisfies Answers
})
