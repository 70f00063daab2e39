/**
 * Keeps the intents of an account in a database, so that the processes of several machines create exactly one node for each key. The
 * rules are those of `CreateMachine.ts`. A database differs from the folder (`IntentFolder.ts`) in two ways:
 *
 * - A lease shows whether a process on another machine runs. A process that lost the lock of its key writes nothing more, except a node
 *   that it knows.
 * - The rows may come from an older backup and not contain all creates. So before each new create, Berth records listed nodes that it has
 *   not seen before and that no intent explains: they are strangers. If a stranger has the requested name, the key may already have made it, so
 *   nothing is sent. Creates that were under way during a restore show in the list only later, so unknown keys wait for them.
 */
import { Effect, Option } from "effect"
import { OutcomeUnknown } from "../../domain/ErrorReason.ts"
import { NodeId } from "../../domain/Node.ts"
import { bootClock } from "../files/Boot.ts"
import { stampNow } from "../files/Stamp.ts"
import { type OwnedIntent, parseIntent } from "../creation/IntentFile.ts"
import {
  drawnKeyPrefix,
  endedMillis,
  type Intent,
  type IntentStore,
  IntentStoreFailed,
  isSent,
  keptMillis,
  makeTurns,
  mayBeAnswered,
  unanswered
} from "../creation/IntentStore.ts"
import { isRunning, self } from "../creation/KeyLock.ts"
import { isSpelling, quietMillis, spellingGroup } from "../creation/Ownership.ts"
import { createFailure, unusable } from "../creation/Reconciliation.ts"
import type { StateFailed } from "./RecordStore.ts"
import type { HeldLock, StateAccount, StateDatabase } from "./StateSql.ts"

/** Keeps these locks apart from the locks of records. */
const lockPrefix = "create/"

/** Maximum number of intents that one create removes. */
const maxRemoved = 64

/** For this long after a restore, creates that are not in the rows may be under way. */
const maxUnderWayMillis = quietMillis + 30_000

/** A process that lost its key waits at most this long for the key, to write a node that it knows. */
const maxLateMillis = 10_000

/** Maximum time to wait for another create of the same name that may have made a stranger, and the interval at which to look. */
const maxWaitMillis = 20_000
const lookMillis = 200

const hasEnded = ({ fate, nodeId }: Intent) => nodeId !== null || fate === "reported"

const failed = ({ detail, path }: StateFailed) => new IntentStoreFailed({ detail, code: null, path })

interface Row {
  readonly key: string
  readonly value: string
  /** Whether the process that wrote it has a lease. */
  readonly alive: boolean
}

interface Stranger {
  readonly node: number
  readonly name: string
}

/** The intents of an account. */
export const makeIntents = (database: StateDatabase, account: StateAccount): IntentStore => {
  const { leased, name: place, now, onForgotten, process, run, sql, tables, tx } = database
  const { accounts, intents, processes, strangers } = tables
  const rows = database.accountOf(account)
  const turnOf = makeTurns()
  const held = new Map<string, HeldLock>()
  /** The intents that this process has sent and not settled. */
  const open = new Map<string, Intent>()

  const inRows = <A>(use: (root: string) => Effect.Effect<A, StateFailed>) => Effect.flatMap(rows.root, use)

  const inAccount = <A>(use: (root: string) => Effect.Effect<A, StateFailed>): Effect.Effect<A, IntentStoreFailed> =>
    Effect.mapError(inRows(use), failed)

  const warned = new Set<string>()
  const unreadable = (key: string, why: string) => `the intent of ${key} in ${place} ${why}`
  const readOrWarn = ({ key, value }: Row) => {
    const intent = parseIntent(value)
    if (typeof intent !== "string") return Effect.succeed(intent)
    if (warned.has(key)) return Effect.undefined
    warned.add(key)
    return Effect.as(Effect.logWarning(`${unreadable(key, intent)}: it is left alone.`), undefined)
  }

  /** Whether the process of an intent runs: it has a lease and, if it is on this machine, was not seen to have ended. */
  const isAlive = (intent: OwnedIntent, { alive }: Row) =>
    alive ? Effect.map(isRunning(intent.owner), (running) => running !== false) : Effect.succeed(false)

  const withFate = (intent: OwnedIntent, row: Row) =>
    mayBeAnswered(intent)
      ? Effect.map(isAlive(intent, row), (alive): Intent => (alive ? intent : unanswered(intent)))
      : Effect.succeed<Intent>(intent)

  const rowsOf = (root: string, which: ReturnType<typeof sql.literal>) =>
    run(sql<Row>`SELECT i.key, i.value, p.id IS NOT NULL AS alive FROM ${intents} i
      LEFT JOIN ${processes} p ON p.id = i.process AND p.lease_until > ${now}
      WHERE i.account = ${root} AND ${which}`)

  const rowOf = (key: string) => inRows((root) => Effect.map(rowsOf(root, sql`i.key = ${key}`), ([row]) => row))

  const writeRow = Effect.fnUntraced(function* (intent: Intent, lock: HeldLock | undefined) {
    const { key, nodeId } = intent
    const value = JSON.stringify({ ...intent, owner: yield* self } satisfies OwnedIntent)
    yield* rows.write(lock, (root) => {
      const ok = sql`EXISTS (SELECT 1 FROM ok)`
      const saved = sql`saved AS (INSERT INTO ${intents} AS i (account, key, node, process, changed_at, value)
        SELECT ${root}::text, ${key}::text, ${nodeId}::double precision, ${process}::text, ${now}, ${value}::text FROM ok
        ON CONFLICT (account, key) DO UPDATE SET node = excluded.node, process = excluded.process,
          changed_at = excluded.changed_at, value = excluded.value
        WHERE i.node IS NULL OR i.node = excluded.node)`
      return nodeId === null
        ? saved
        : sql`${saved},
          newest AS (UPDATE ${accounts} SET newest = ${nodeId}::double precision, tx = ${tx}
            WHERE id = ${root} AND newest < ${nodeId}::double precision AND ${ok}),
          explained AS (DELETE FROM ${strangers} WHERE account = ${root} AND node = ${nodeId}::double precision AND ${ok})`
    })
  })

  /**
   * Writes the node that a process knows although another process has taken over its key. Takes the lock again first,
   * because without the lock this process could replace the record of a later request.
   */
  const writeLate = (intent: Intent) =>
    rows.withLock(`${lockPrefix}${intent.key}`)((lock) =>
      Effect.gen(function* () {
        const row = yield* rowOf(intent.key)
        const known = row === undefined ? undefined : parseIntent(row.value)
        if (typeof known !== "object") return yield* writeRow(intent, lock)
        if (known.nodeId !== null || (intent.nodeId === null && known.told !== undefined)) return
        const added = intent.nodeId === null && isSent(known) ? { ...unanswered(known), told: intent.told } : intent
        yield* writeRow(added, lock)
      })
    )

  const write = Effect.fnUntraced(function* (intent: Intent) {
    const { key, nodeId, told } = intent
    yield* leased
    if (isSent(intent) && !hasEnded(intent)) open.set(key, intent)
    else open.delete(key)
    const written = writeRow(intent, held.get(key))
    if (nodeId === null && told === undefined) return yield* written
    yield* Effect.catchIf(
      written,
      ({ isLockLost }) => isLockLost,
      (lost) =>
        Effect.timeoutOrElse(Effect.interruptible(writeLate(intent)), {
          duration: maxLateMillis,
          orElse: () => Effect.fail(lost)
        })
    )
  })

  /**
   * Removes some intents that are too old by every clock. An intent with a node goes only once the list was read beyond that node, which
   * would otherwise become a stranger.
   */
  const prune = (root: string, serviceMillis: number, wallMillis: number) =>
    run(sql`DELETE FROM ${intents} WHERE account = ${root} AND key IN (SELECT i.key FROM ${intents} i
      JOIN ${accounts} a ON a.id = i.account WHERE i.account = ${root}
      AND i.changed_at < least(${now}, ${serviceMillis}::double precision, ${wallMillis}::double precision) - ${keptMillis}::double precision
      AND (i.node <= a.seen OR i.node IS NULL AND i.value::json ->> 'sentAt' IS NULL
        OR i.node IS NULL AND i.value::json ->> 'fate' IN ('refused', 'reported'))
      LIMIT ${maxRemoved})`)

  const save = (intent: Intent) =>
    Effect.gen(function* () {
      yield* write(intent)
      const { nodeId, sentAt } = intent
      if (nodeId === null || sentAt === null || sentAt.serviceMillis === 0) return
      const { wallMillis } = yield* stampNow(null)
      yield* Effect.ignore(Effect.flatMap(rows.root, (root) => prune(root, sentAt.serviceMillis, wallMillis)))
    }).pipe(Effect.mapError(failed))

  // If the database was restored to a time before this process began, it does not have the intents of the process.
  onForgotten(Effect.suspend(() => Effect.forEach(Array.from(open.values()), (intent) => Effect.ignore(write(intent)))))

  const readUnsettled = inAccount((root) =>
    Effect.gen(function* () {
      const found = yield* rowsOf(
        root,
        sql`(i.node IS NULL OR left(i.key, 1) = ${drawnKeyPrefix} AND i.changed_at > ${now} - ${endedMillis}::double precision)`
      )
      const all = yield* Effect.forEach(found, (row) =>
        Effect.flatMap(readOrWarn(row), (intent) => (intent === undefined ? Effect.undefined : withFate(intent, row)))
      )
      return all.filter((intent) => intent !== undefined)
    })
  )

  /** The strangers that may have this name, without those that an intent explains by now. */
  const strangersOf = (root: string, name: string) =>
    Effect.map(
      run(sql<Stranger>`SELECT s.node, s.name FROM ${strangers} s WHERE s.account = ${root}
        AND s.spelling = ${spellingGroup(name)} AND NOT EXISTS
        (SELECT 1 FROM ${intents} i WHERE i.account = s.account AND i.node = s.node) ORDER BY s.node`),
      (found) => found.filter((each) => isSpelling(each.name, name) || isSpelling(name, each.name))
    )

  /** Records the nodes that no intent explains, and how far the list was read, so that each node is judged once. */
  const note = (nodes: ReadonlyArray<Stranger & { readonly spelling: string }>, highest: number) =>
    rows.write(
      undefined,
      (root) => sql`listed AS (SELECT node, name, spelling FROM
          json_to_recordset(${JSON.stringify(nodes)}::text::json) AS l(node double precision, name text, spelling text)),
        noted AS (INSERT INTO ${strangers} (account, node, name, spelling)
          SELECT ${root}::text, l.node, l.name, l.spelling FROM listed l, ok WHERE NOT EXISTS
            (SELECT 1 FROM ${intents} i WHERE i.account = ${root} AND i.node = l.node) ON CONFLICT DO NOTHING),
        looked AS (UPDATE ${accounts} SET seen = ${highest}::double precision, tx = ${tx}
          WHERE id = ${root} AND seen < ${highest}::double precision AND EXISTS (SELECT 1 FROM ok))`
    )

  /** Whether another create of the name is not settled, so that a stranger may be its node. */
  const isBeside = ({ key, name }: Pick<Intent, "key" | "name">) =>
    Effect.map(readUnsettled, (found) =>
      found.some(
        (other) =>
          other.key !== key && isSent(other) && !hasEnded(other) && spellingGroup(other.name) === spellingGroup(name)
      )
    )

  const highestId: IntentStore["highestId"] = (create, listedHighest, above) =>
    Effect.gen(function* () {
      const root = yield* rows.root
      const [known] = yield* run(sql<{ readonly seen: number; readonly restoredMillis: number | null }>`
        SELECT seen, ${now} - restored_at AS "restoredMillis" FROM ${accounts} WHERE id = ${root}`)
      const { restoredMillis = null, seen = 0 } = known ?? {}
      if (restoredMillis !== null && restoredMillis < maxUnderWayMillis) {
        const left = Math.ceil((maxUnderWayMillis - restoredMillis) / 60_000)
        return yield* new IntentStoreFailed({
          detail: `${place} was restored from a backup, so creates that it does not know may still be under way. It does not know the key ${create.key}: try again in ${left} min`,
          code: null,
          path: place
        })
      }
      const { nodes: newer } = yield* above(seen)
      const highest = newer.reduce((most, { id }) => Math.max(most, id), 0)
      if (highest > seen) {
        yield* note(
          newer
            .filter(({ id }) => id > seen)
            .map(({ id, name }) => ({ node: id, name, spelling: spellingGroup(name) })),
          highest
        )
      }
      let found = yield* strangersOf(root, create.name)
      for (
        let waited = 0;
        found.length > 0 && waited < maxWaitMillis && (yield* isBeside(create));
        waited += lookMillis
      ) {
        yield* Effect.sleep(lookMillis)
        found = yield* strangersOf(root, create.name)
      }
      if (found.length > 0) {
        // If a stranger is no longer listed, a create with its name makes no second node.
        const { isWhole, nodes } = yield* above(found[0]!.node - 1)
        const listed = new Set(nodes.map(({ id }) => Number(id)))
        const left = isWhole ? found.filter(({ node }) => listed.has(node)) : found
        if (left.length > 0) {
          return yield* createFailure(
            new OutcomeUnknown({
              nodeName: create.name,
              candidates: left.map(({ node }) => NodeId.make(node)),
              toldId: null,
              difference: null,
              listRead: true,
              listFault: null,
              because: "StateUnavailable",
              detail: `${place} does not know what made them. If it was restored from a backup, the key may have made them. Otherwise, accept them: berth state accept`,
              keyed: true
            })
          )
        }
      }
      return highest > seen ? highest : yield* listedHighest
    }).pipe(
      Effect.catchTag("StateFailed", (error) => Effect.fail(unusable(failed(error)))),
      Effect.catchTag("IntentStoreFailed", (error) => Effect.fail(unusable(error)))
    )

  return {
    now: Effect.flatMap(bootClock, stampNow),
    unsettled: readUnsettled,
    find: Effect.fnUntraced(function* (key) {
      const row = yield* Effect.mapError(rowOf(key), failed)
      if (row === undefined) return Option.none()
      const intent = parseIntent(row.value)
      if (typeof intent === "string") {
        return yield* new IntentStoreFailed({ detail: unreadable(key, intent), code: null, path: place })
      }
      if (intent.nodeId === null) return Option.some(yield* withFate(intent, row))
      // Keep the intent longer, because it was asked for.
      yield* Effect.ignore(
        inAccount((root) =>
          run(sql`UPDATE ${intents} SET changed_at = ${now} WHERE account = ${root} AND key = ${key}
            AND changed_at < ${now} - 86400000::double precision`)
        )
      )
      return Option.some(intent)
    }),
    save,
    remove: (key) =>
      Effect.suspend(() => {
        open.delete(key)
        return Effect.mapError(
          rows.write(
            held.get(key),
            (root) => sql`gone AS (DELETE FROM ${intents} WHERE account = ${root} AND key = ${key} AND node IS NULL
              AND EXISTS (SELECT 1 FROM ok))`
          ),
          failed
        )
      }),
    ownersOf: (ids) =>
      ids.length === 0
        ? Effect.succeed(new Map())
        : inAccount((root) =>
            Effect.map(
              run(sql<{ readonly node: number; readonly key: string }>`SELECT node, key FROM ${intents}
                WHERE account = ${root} AND node IN (SELECT value::double precision FROM
                json_array_elements_text(${JSON.stringify(ids)}::text::json))`),
              (found) => new Map(found.map(({ key, node }) => [NodeId.make(node), key]))
            )
          ),
    newestNode: inAccount((root) =>
      Effect.map(
        run(sql<{ readonly newest: number }>`SELECT newest FROM ${accounts} WHERE id = ${root}`),
        ([row]) => row?.newest ?? 0
      )
    ),
    highestId,
    withKeyLock: (key) => (use) =>
      turnOf(key)(
        Effect.flatten(
          Effect.mapError(
            rows.withLock(`${lockPrefix}${key}`)((lock) =>
              Effect.suspend(() => {
                held.set(key, lock)
                // Returns an exit, so that a failure of `use` is not mistaken for a failure of the lock.
                return Effect.exit(use({ confirm: Effect.mapError(rows.confirm(lock), failed) }))
              }).pipe(Effect.ensuring(Effect.sync(() => held.delete(key))))
            ),
            failed
          )
        )
      ),
    takeAbandoned: inAccount((root) =>
      Effect.gen(function* () {
        const found = yield* rowsOf(root, sql`i.node IS NULL AND left(i.key, 1) = ${drawnKeyPrefix}`)
        const abandoned: Array<Intent> = []
        for (const row of found) {
          const intent = yield* readOrWarn(row)
          if (intent === undefined || hasEnded(intent) || (yield* isAlive(intent, row))) continue
          const reported = JSON.stringify({ ...intent, fate: "reported" })
          // Only the process that changes the row first returns it.
          const taken = yield* run(
            isSent(intent)
              ? sql`UPDATE ${intents} SET value = ${reported}::text, changed_at = ${now} WHERE account = ${root}
                  AND key = ${row.key} AND value = ${row.value} RETURNING 1`
              : sql`DELETE FROM ${intents} WHERE account = ${root} AND key = ${row.key} AND value = ${row.value} RETURNING 1`
          )
          if (isSent(intent) && taken.length > 0) abandoned.push(intent)
        }
        return abandoned
      })
    )
  }
}

/** Forgets all strangers, after the user has said that no forgotten key made them. Returns their ids and names. */
export const acceptStrangers = Effect.fnUntraced(function* (
  { accountOf, run, sql, tables: { strangers } }: StateDatabase,
  account: StateAccount
) {
  const root = yield* accountOf(account).root
  const found = yield* run(sql<Stranger>`DELETE FROM ${strangers} WHERE account = ${root} RETURNING node, name`)
  return found.toSorted((a, b) => a.node - b.node)
})
