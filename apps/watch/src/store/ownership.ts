/**
 * Which accounts this process may write for. A store in a file belongs to one process, by its lock. On a server each account belongs to the
 * process that claimed it last: what another one writes for it is refused, however long it was stopped meanwhile.
 */
import { Deferred, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { inGroups } from "./rows.ts"
import { StoreFailed } from "./StoreFailed.ts"

/** The right to change an account, until another process takes it over. */
export interface Owner {
  readonly account: string
  /** What the ids of its events are made from. */
  readonly accountId: string
  /** One more with each owner: an older one changes nothing any more. */
  readonly epoch: number
}

export interface Ownership {
  /** This process has claimed an account. Of two claims under way the reply to the older one may come last: it changes nothing. */
  readonly note: (owner: Owner) => void
  /** Gives an account up, unless it was claimed again meanwhile. */
  readonly release: (owner: Owner) => void
  /** Another process has an account now. */
  readonly lose: (owner: Owner) => StoreFailed
  /** Fails when it turns out that another process has an account now. */
  readonly lost: (account: string) => Effect.Effect<never, StoreFailed>
  /** The epoch in which this process owns an account, 0 where nobody else can; null where it does not. */
  readonly epochOf: (account: string) => number | null
  /**
   * Of these accounts, those that this process owns: it stays so until the transaction ends, because another process that claims one of
   * them waits for that.
   */
  readonly stillOwned: (accounts: ReadonlySet<string>) => Effect.Effect<ReadonlySet<string>, SqlError>
}

const lostOf = ({ account, epoch }: Owner) =>
  new StoreFailed({ fault: "lost", detail: `${account} is no longer in epoch ${epoch}` })

/** Of a store that one process has at a time. */
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
