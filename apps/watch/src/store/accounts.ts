/**
 * Who owns an account, and what is known of it: taking it over, reading all of it once, and the one transaction that changes it.
 */
import { Clock, Effect, Random, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { daemonAccount } from "../events/DaemonFact.ts"
import { type Event, type EventFact, toEvent, toJson } from "../events/Event.ts"
import type { Owner, Ownership } from "./ownership.ts"
import type { Peers } from "./peers.ts"
import { keptSpendDays } from "./present.ts"
import { forGroups, groupsOf } from "./rows.ts"

/** An account as its last owner left it. */
interface AccountRow {
  /** Sequence of its last event. */
  readonly seq: number
  /** Of the key that read it last; null before the first. */
  readonly fingerprint: string | null
  /** When a complete sweep began, the last one or one at most a minute before it; null before the first. */
  readonly sweptAtMillis: number | null
  /** Its state beside its nodes, as JSON; null before the first commit. */
  readonly standing: string | null
  /** What is wrong with it, as JSON; null before its owner said so. */
  readonly condition: string | null
}

/** A node, or the tombstone of one. */
export interface NodeRow {
  readonly id: number
  /** Seconds since the epoch at which the service accepted the node. */
  readonly incarnation: number
  readonly life: number
  readonly status: string
  readonly changes: number
  /** When it was reported deleted; null while it exists. */
  readonly goneAtMillis: number | null
  /** What is known of it, as JSON: its `node` is the record. */
  readonly body: string
}

/** What one observation changes. What is left out stays as it is. */
export interface AccountChange {
  /** Read once for each attempt, a group at a time: making all rows of a large account at once would hold up everything else. */
  readonly nodes?: Iterable<NodeRow>
  readonly events?: ReadonlyArray<EventFact>
  readonly standing?: string
  readonly sweptAtMillis?: number
  /** Planned from one sweep to the next. */
  readonly sweepMillis?: number
  readonly fingerprint?: string
  /** Its images and plans, as JSON. */
  readonly catalogue?: string
  /** What was reported of its allowance, as JSON. */
  readonly allowance?: string
  /** What is known of its spending, as JSON. */
  readonly spend?: string
  /** Days in which its rates changed, as JSON. */
  readonly spendDays?: ReadonlyArray<{ readonly day: number; readonly body: string }>
}

/** An event as it is kept. */
export interface StoredEvent {
  readonly account: string
  readonly seq: number
  readonly id: string
  readonly type: string
  /** The node it is about; null where it is about the account. */
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
  /** Makes an account, unless there is one of that name. */
  const meet = Effect.fnUntraced(function* (account: string) {
    const fresh = { name: account, id: yield* newAccountId, epoch: 0, version: 0, seq: 0 }
    yield* sql`INSERT INTO account ${sql.insert(fresh)} ON CONFLICT (name) DO NOTHING`
  })

  /** Takes an account over, and makes it if there is none of that name. */
  const claim = Effect.fn("Store.claim")(function* (account: string) {
    yield* meet(account)
    // Who claims it again, after its server was away, has had it all the time.
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

  /** Every account as its last owner left it. */
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
      // The first nodes of a large account are many groups: what else the daemon does gets a turn between them.
      if (!isFirst) yield* Effect.yieldNow
      isFirst = false
      yield* sql`INSERT INTO node ${sql.insert(group)} ON CONFLICT (account, id, incarnation) DO UPDATE SET
        life = excluded.life, status = excluded.status, changes = excluded.changes, gone_at = excluded.gone_at,
        body = excluded.body`
    }
  })

  const saveEvents = (events: ReadonlyArray<StoredEvent>): Effect.Effect<unknown, SqlError> =>
    events.length === 0
      ? Effect.void
      : forGroups(
          events.map(({ atMillis, ...event }) => ({ ...event, happened_at: atMillis })),
          (group) => sql`INSERT INTO event ${sql.insert(group)}`
        ).pipe(Effect.andThen(peers.announce))

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

  /** Events behind those that an account has, of which the last gets the sequence `last`. */
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

  /** Changes an account and adds its events, all or nothing; gives the events as they are kept. */
  const commit = Effect.fn("Store.commit")(function* (owner: Owner, change: AccountChange) {
    const { account, accountId, epoch } = owner
    const { events: facts = [], nodes = [] } = change
    // What a process that was stopped for a while writes later is refused: its transaction begins by making sure that it is the owner.
    const [row] = yield* sql<{ seq: number }>`UPDATE account SET version = version + 1, seq = seq + ${facts.length}
      WHERE name = ${account} AND epoch = ${epoch} RETURNING seq`
    if (row === undefined) return yield* ownership.lose(owner)
    const events = numbered(account, accountId, row.seq, facts)
    yield* saveNodes(account, nodes)
    yield* saveEvents(events)
    yield* saveAccount(account, change)
    for (const table of ["catalogue", "allowance", "spend"] as const) yield* saveValue(table, account, change[table])
    yield* saveSpendDays(account, change.spendDays)
    return events
  }, sql.withTransaction)

  /** Adds events of the daemon itself. They follow from nothing that an owner believes, so that any process may add some. */
  const commitOfDaemon = Effect.fn("Store.commitOfDaemon")(function* (facts: ReadonlyArray<EventFact>) {
    yield* meet(daemonAccount)
    const [row] = yield* sql<{ id: string; seq: number }>`UPDATE account
            SET version = version + 1, seq = seq + ${facts.length} WHERE name = ${daemonAccount} RETURNING id, seq`
    yield* saveEvents(numbered(daemonAccount, row!.id, row!.seq, facts))
  }, sql.withTransaction)

  return { claim, accounts, nodes, commit, commitOfDaemon }
}
