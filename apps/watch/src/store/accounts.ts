/** Accounts in the store: claiming an account, reading it, and the one transaction that changes it. */
import { Clock, Effect, Random, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { daemonAccount } from "../events/DaemonFact.ts"
import { type Event, type EventFact, toEvent, toJson } from "../events/Event.ts"
import type { Owner, Ownership } from "./ownership.ts"
import type { Peers } from "./peers.ts"
import { keptSpendDays } from "./present.ts"
import { forGroups, groupsOf } from "./rows.ts"

/** An account, as its last owner left it. */
interface AccountRow {
  /** The sequence of the account's last event; 0 if there is none. */
  readonly seq: number
  /** The fingerprint of the API key that last read the nodes; null before the first sweep. */
  readonly fingerprint: string | null
  /**
   * The start of the last complete sweep; null before the first. It may be up to a minute too early, because it is not written
   * after each sweep.
   */
  readonly sweptAtMillis: number | null
  /** The account's state apart from its nodes (`Standing`), as JSON; null before the first commit. */
  readonly standing: string | null
  /** The account's troubles, as JSON; null if no owner has stored them yet. */
  readonly condition: string | null
}

/** A node, or the tombstone of a deleted node. */
export interface NodeRow {
  readonly id: number
  /** When the service accepted the node, in seconds since the epoch. */
  readonly incarnation: number
  readonly life: number
  readonly status: string
  readonly changes: number
  /** When the node was reported deleted; null while it exists. */
  readonly goneAtMillis: number | null
  /** The state of the node as JSON; `node` in it is the record. */
  readonly body: string
}

/** The changes of one observation. Omitted parts stay as they are. */
export interface AccountChange {
  /**
   * The changed rows. Each attempt to commit reads them once, in groups, because making all rows of a large account at once
   * would block everything else.
   */
  readonly nodes?: Iterable<NodeRow>
  readonly events?: ReadonlyArray<EventFact>
  readonly standing?: string
  readonly sweptAtMillis?: number
  /** The planned interval between two sweeps. */
  readonly sweepMillis?: number
  readonly fingerprint?: string
  /** The account's images and plans, as JSON. */
  readonly catalogue?: string
  /** The account's reported allowance, as JSON. */
  readonly allowance?: string
  /** The account's spending, as JSON. */
  readonly spend?: string
  /** The changed days of the spending, as JSON. */
  readonly spendDays?: ReadonlyArray<{ readonly day: number; readonly body: string }>
}

/** A stored event. */
export interface StoredEvent {
  readonly account: string
  readonly seq: number
  readonly id: string
  readonly type: string
  /** The id of the event's node; null if the event is about the account as a whole. */
  readonly node: number | null
  readonly atMillis: number
  /** The JSON of the event. */
  readonly body: string
}

const nodeOf = (event: Event): number | null =>
  "subject" in event && event.subject.startsWith("nodes/") ? Number(event.subject.slice("nodes/".length)) : null

const hexDigits = (value: number): string => (value >>> 0).toString(16).padStart(8, "0")

/** 128 random bits. */
const newAccountId = Effect.map(Effect.all([Random.nextInt, Random.nextInt, Random.nextInt, Random.nextInt]), (words) =>
  words.map(hexDigits).join("")
)

function* columnsOf(account: string, rows: Iterable<NodeRow>) {
  for (const { goneAtMillis, ...row } of rows) yield { account, ...row, gone_at: goneAtMillis }
}

export const makeAccounts = (sql: SqlClient.SqlClient, ownership: Ownership, peers: Peers) => {
  /** Creates an account, unless the name exists. */
  const meet = Effect.fnUntraced(function* (account: string) {
    const fresh = { name: account, id: yield* newAccountId, epoch: 0, version: 0, seq: 0 }
    yield* sql`INSERT INTO account ${sql.insert(fresh)} ON CONFLICT (name) DO NOTHING`
  })

  /** Takes over an account, and creates it if the name is new. */
  const claim = Effect.fn("Store.claim")(function* (account: string) {
    yield* meet(account)
    // If this process owned the account before an outage of the server and still owns it, no other process has owned it
    // in between.
    const kept = sql`owner = ${peers.self} AND owned_since IS NOT NULL`
    const [row] = yield* sql<{ id: string; epoch: number } & AccountRow>`UPDATE account SET
       epoch = epoch + 1, owner = ${peers.self},
       former_owner = CASE WHEN ${kept} THEN former_owner ELSE owner END,
       owned_since = CASE WHEN ${kept} THEN owned_since ELSE ${yield* Clock.currentTimeMillis} END
       WHERE name = ${account} RETURNING id, epoch, seq, fingerprint, swept_at AS "sweptAtMillis", standing, condition`
    const { epoch, id, ...known } = row!
    const owner: Owner = { account, accountId: id, epoch }
    ownership.note(owner)
    return { owner, known }
  })

  /** Every account, as its last owner left it. */
  const accounts = sql<
    {
      account: string
      process: string | null
      sinceMillis: number | null
      from: string | null
      sweepMillis: number | null
    } & AccountRow
  >`SELECT name AS account, seq, fingerprint, swept_at AS "sweptAtMillis", standing, condition, sweep_interval AS "sweepMillis",
    owner AS process, owned_since AS "sinceMillis", former_owner AS "from" FROM account ORDER BY name`.pipe(
    Effect.map((rows) =>
      rows.map(({ from, process, sinceMillis, ...row }) => ({
        ...row,
        owner: process === null || sinceMillis === null ? null : { process, sinceMillis, from }
      }))
    )
  )

  /** All nodes and tombstones of an account. */
  const nodes = (account: string): Stream.Stream<NodeRow, SqlError> =>
    sql<NodeRow>`SELECT id, incarnation, life, status, changes, gone_at AS "goneAtMillis", body FROM node
      WHERE account = ${account} ORDER BY id, incarnation`.stream

  const saveNodes = Effect.fnUntraced(function* (account: string, rows: Iterable<NodeRow>) {
    let isFirst = true
    for (const group of groupsOf(columnsOf(account, rows))) {
      // Let other work of the daemon run between two groups, because a large account has many at first.
      if (!isFirst) yield* Effect.yieldNow
      isFirst = false
      yield* sql`INSERT INTO node ${sql.insert(group)} ON CONFLICT (account, id, incarnation) DO UPDATE SET
        life = excluded.life, status = excluded.status, changes = excluded.changes, gone_at = excluded.gone_at,
        body = excluded.body`
    }
  })

  /**
   * Appends events to the log. The row of the log stays locked until the end of the transaction. Positions thus become
   * visible in their order, and a reader at a position misses nothing. Because of the lock, appending is the last step
   * of a transaction.
   */
  const append = Effect.fnUntraced(function* (events: ReadonlyArray<StoredEvent>) {
    if (events.length === 0) return
    const [log] = yield* sql<{ position: number }>`UPDATE log SET position = position + ${events.length}
      RETURNING position`
    const first = log!.position - events.length + 1
    yield* forGroups(
      events.map(({ atMillis, ...event }, index) => ({ ...event, position: first + index, happened_at: atMillis })),
      (group) => sql`INSERT INTO event ${sql.insert(group)}`
    )
    yield* peers.announce
  })

  const saveAccount = (
    account: string,
    { fingerprint, standing, sweepMillis, sweptAtMillis }: AccountChange
  ): Effect.Effect<unknown, SqlError> => {
    const columns = {
      ...(fingerprint === undefined ? {} : { fingerprint }),
      ...(standing === undefined ? {} : { standing }),
      ...(sweptAtMillis === undefined ? {} : { swept_at: sweptAtMillis }),
      ...(sweepMillis === undefined ? {} : { sweep_interval: sweepMillis })
    }
    return Object.keys(columns).length === 0
      ? Effect.void
      : sql`UPDATE account SET ${sql.update(columns)} WHERE name = ${account}`
  }

  const saveValue = (
    table: "catalogue" | "allowance" | "spend",
    account: string,
    body: string | undefined
  ): Effect.Effect<unknown, SqlError> =>
    body === undefined
      ? Effect.void
      : sql`INSERT INTO ${sql(table)} ${sql.insert({ account, body })} ON CONFLICT (account) DO UPDATE SET body = excluded.body`

  const saveSpendDays = Effect.fnUntraced(function* (account: string, days: AccountChange["spendDays"] = []) {
    if (days.length === 0) return
    yield* forGroups(
      days.map((row) => ({ account, ...row })),
      (group) =>
        sql`INSERT INTO spend_day ${sql.insert(group)} ON CONFLICT (account, day) DO UPDATE SET body = excluded.body`
    )
    const oldest = Math.max(...days.map(({ day }) => day)) - keptSpendDays
    yield* sql`DELETE FROM spend_day WHERE account = ${account} AND day < ${oldest}`
  })

  /** Gives new events of an account their sequences. `last`: the sequence of the last one. */
  const numbered = (account: string, accountId: string, last: number, facts: ReadonlyArray<EventFact>) =>
    facts.map((fact, index): StoredEvent => {
      const seq = last - facts.length + 1 + index
      const event = toEvent(fact, account, seq, accountId)
      return {
        account,
        seq,
        id: event.id,
        type: event.type,
        node: nodeOf(event),
        atMillis: fact.atMillis,
        body: toJson(event)
      }
    })

  /** Changes an account and adds its events in one transaction; returns the events as stored. */
  const commit = Effect.fn("Store.commit")(function* (owner: Owner, change: AccountChange) {
    const { account, accountId, epoch } = owner
    const { events: facts = [], nodes = [] } = change
    // A process that was suspended may write too late: each transaction first checks that the process is still the owner.
    const [row] = yield* sql<{ seq: number }>`UPDATE account SET version = version + 1, seq = seq + ${facts.length}
      WHERE name = ${account} AND epoch = ${epoch} RETURNING seq`
    if (row === undefined) return yield* ownership.lose(owner)
    const events = numbered(account, accountId, row.seq, facts)
    yield* saveNodes(account, nodes)
    yield* saveAccount(account, change)
    for (const table of ["catalogue", "allowance", "spend"] as const) yield* saveValue(table, account, change[table])
    yield* saveSpendDays(account, change.spendDays)
    yield* append(events)
    return events
  }, sql.withTransaction)

  /** Adds events of the daemon itself. Any process may add them, because they do not depend on the state of an owner. */
  const commitOfDaemon = Effect.fn("Store.commitOfDaemon")(function* (facts: ReadonlyArray<EventFact>) {
    yield* meet(daemonAccount)
    const [row] = yield* sql<{ id: string; seq: number }>`UPDATE account
            SET version = version + 1, seq = seq + ${facts.length} WHERE name = ${daemonAccount} RETURNING id, seq`
    yield* append(numbered(daemonAccount, row!.id, row!.seq, facts))
  }, sql.withTransaction)

  return { claim, accounts, nodes, commit, commitOfDaemon }
}
