/**
 * Which accounts this process may change. A store in a file belongs to the process that has its lock. In PostgreSQL, each account belongs
 * to the process that claimed it last. Writes of a previous owner are refused, even if that process was suspended for long.
 */
import { Deferred, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { inGroups } from "./rows.ts"
import { StoreFailed } from "./StoreFailed.ts"

/** The right to change an account, until another process takes it over. */
export interface Owner {
  readonly account: string
  /** Identifies the account in the ids of its events. */
  readonly accountId: string
  /** Increases with each owner. A write with an older epoch is refused. */
  readonly epoch: number
}

export interface Ownership {
  /**
   * Notes that this process has claimed an account. If two claims overlap, and the reply to the older one comes last, that
   * reply changes nothing.
   */
  readonly note: (owner: Owner) => void
  /** Gives up an account, unless it was claimed again in between. */
  readonly release: (owner: Owner) => void
  /** Notes that another process owns an account now; returns the failure to report. */
  readonly lose: (owner: Owner) => StoreFailed
  /** Fails once another process owns an account. */
  readonly lost: (account: string) => Effect.Effect<never, StoreFailed>
  /**
   * The epoch in which this process owns an account; null if it does not own it. Always 0 if only one process uses the store.
   */
  readonly epochOf: (account: string) => number | null
  /**
   * The given accounts that this process owns. They stay owned until the transaction ends: another process that claims one of them waits
   * until then.
   */
  readonly stillOwned: (accounts: ReadonlySet<string>) => Effect.Effect<ReadonlySet<string>, SqlError>
}

const lostOf = ({ account, epoch }: Owner) =>
  new StoreFailed({ fault: "lost", detail: `${account} is no longer in epoch ${epoch}` })

/** The ownership in a store that only one process uses at a time. */
export const soleOwnership: Ownership = {
  note: () => {},
  release: () => {},
  lose: lostOf,
  lost: () => Effect.never,
  epochOf: () => 0,
  stillOwned: Effect.succeed
}

export const makeOwnership = (sql: SqlClient.SqlClient): Ownership => {
  const owners = new Map<string, Owner>()
  const losses = new Map<string, Deferred.Deferred<never, StoreFailed>>()

  const epochOf = (account: string) => owners.get(account)?.epoch ?? null

  const lose = (owner: Owner) => {
    const { account, epoch } = owner
    const failed = lostOf(owner)
    if (owners.get(account)?.epoch !== epoch) return failed
    owners.delete(account)
    const loss = losses.get(account)
    losses.delete(account)
    if (loss !== undefined) Deferred.doneUnsafe(loss, Effect.fail(failed))
    return failed
  }

  return {
    note: (owner) => {
      if (owner.epoch > (epochOf(owner.account) ?? -1)) owners.set(owner.account, owner)
    },
    release: ({ account, epoch }) => void (owners.get(account)?.epoch === epoch && owners.delete(account)),
    lose,
    lost: (account) =>
      Effect.suspend(() => {
        const loss = losses.get(account) ?? Deferred.makeUnsafe<never, StoreFailed>()
        losses.set(account, loss)
        return Deferred.await(loss)
      }),
    epochOf,
    stillOwned: Effect.fnUntraced(function* (accounts) {
      const claimed = Array.from(accounts, (account) => owners.get(account)).filter((owner) => owner !== undefined)
      const owned = new Set<string>()
      for (const group of inGroups(claimed)) {
        const rows = group.map(({ account, epoch }) => sql`(${account}, ${epoch})`)
        const found = yield* sql<{ name: string }>`SELECT name FROM account
          WHERE (name, epoch) IN (VALUES ${sql.csv(rows)}) ORDER BY name FOR SHARE`
        for (const { name } of found) owned.add(name)
      }
      for (const owner of claimed) if (!owned.has(owner.account)) lose(owner)
      return owned
    })
  }
}
