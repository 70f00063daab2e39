/**
 * Follows the accounts in the store's table, in one of several processes. Each account is registered with the cluster once in the lifetime
 * of the process; what the process does for the account follows its row in the table. The table is read again when the store changes, and periodically.
 */
import { Clock, Deferred, Effect, Result, type Scope } from "effect"
import type { AccountOptions } from "../config/Config.ts"
import { surroundings } from "../config/loadConfig.ts"
import { resolveAccount } from "../config/TableAccount.ts"
import type { Part } from "../fleet/runFleet.ts"
import { Store } from "../store/Store.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import type { TableAccountRow } from "../store/watchedAccounts.ts"
import { Progress } from "../telemetry/Progress.ts"

/** Pauses between reads of the table while the store changes, and while it does not. */
const minPause = "500 millis"
const maxPause = "5 seconds"

/** Pause before looking again for missing credentials. */
const missingPause = "1 minute"

interface FollowOptions<R> {
  /** The accounts of the config, which the table cannot change. */
  readonly configured: ReadonlySet<string>
  /** Accounts that are no longer watched; their remaining events are still delivered. */
  readonly left: ReadonlyArray<string>
  /** Owns an account for as long as the scope is open. */
  readonly own: (name: string) => Effect.Effect<unknown, StoreFailed, Scope.Scope>
  readonly watch: (account: AccountOptions) => Part["run"]
  readonly place: (part: Part) => Effect.Effect<void, never, R>
}

/** The new state of an account; null if it should no longer be watched. */
interface Entry {
  readonly row: TableAccountRow | null
  /** Completes when a newer entry for the account replaces this one. */
  readonly changed: Deferred.Deferred<void>
}

/** Shows an account in status and metrics, or updates it there. */
const showAccount = Effect.fnUntraced(function* ({ name, state }: TableAccountRow) {
  const progress = yield* Progress
  const known = (yield* progress.accounts).get(name)
  if (state === "removed") yield* progress.remove(name)
  if (state === "paused") yield* progress.pause(name)
  if (state === "active" && (known === undefined || known.state === "paused")) yield* progress.begin(name)
})

/** Follows the table until the scope closes. */
export const followTable = Effect.fnUntraced(function* <R>(options: FollowOptions<R>) {
  const { configured, left, own, place, watch } = options
  const store = yield* Store
  const progress = yield* Progress
  const entries = new Map<string, Entry>()

  /** Owns an account, and reports it as degraded, until its credentials are found. */
  const waitForCredentials = Effect.fnUntraced(function* (row: TableAccountRow, first: string) {
    yield* own(row.name)
    const sinceMillis = yield* Clock.currentTimeMillis
    for (let message = first; ;) {
      yield* progress.report(row.name, { state: "degraded", outage: { message, sinceMillis, isRefusal: true } })
      yield* Effect.sleep(missingPause)
      const found = resolveAccount(row, surroundings)
      if (Result.isSuccess(found)) return
      message = found.failure
    }
  })

  const runOf = (name: string): Part["run"] => {
    const row = entries.get(name)?.row
    if (row?.state !== "active") return Effect.andThen(own(name), Effect.never)
    return Result.match(resolveAccount(row, surroundings), {
      onSuccess: watch,
      onFailure: (why) => waitForCredentials(row, why)
    })
  }

  const enter = Effect.fnUntraced(function* (name: string, row: TableAccountRow | null) {
    const former = entries.get(name)
    entries.set(name, { row, changed: Deferred.makeUnsafe() })
    if (former !== undefined) {
      yield* Deferred.succeed(former.changed, undefined)
    } else {
      yield* place({
        name,
        run: Effect.suspend(() => runOf(name)),
        changed: Effect.suspend(() => Deferred.await(entries.get(name)!.changed))
      })
    }
  })

  let revision = 0
  const read = Effect.gen(function* () {
    for (const row of yield* store.watchedAccounts(revision)) {
      if (!configured.has(row.name)) {
        yield* showAccount(row)
        // An account that was never watched has no remaining events.
        if (row.state !== "removed" || entries.has(row.name)) yield* enter(row.name, row)
      }
      revision = row.revision
    }
  })

  yield* read
  for (const name of left) if (!entries.has(name)) yield* enter(name, null)
  const follow = Effect.gen(function* () {
    for (let seen = 0; ;) {
      seen = yield* Effect.raceFirst(store.newEvents(seen), Effect.as(Effect.sleep(maxPause), seen))
      yield* Effect.ignore(read)
      yield* Effect.sleep(minPause)
    }
  })
  return yield* Effect.forkScoped(follow)
})
