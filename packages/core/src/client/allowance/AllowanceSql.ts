/**
 * Shares the allowance between processes on several machines through a database: PostgreSQL 14 or newer, or SQLite. A
 * process asks for all its accounts at once, usually twice a second and at most five times a second. It asks again at
 * once if a write of its own was refused or an exchange has failed. The content is safe to lose. On PostgreSQL the
 * tables are unlogged: no write waits for a disk, and a crash of the server empties them.
 *
 * All instants in the tables are on the database's clock, so the clocks of the machines do not matter. A process learns
 * the database's clock from the round trips of its statements. It converts the instants in a row only once, when it
 * reads the row. A later step of the database's clock therefore changes none of the instants that the process already
 * knows.
 *
 * | table | a row is | written by | removed |
 * |---|---|---|---|
 * | `shared_allowance` | the knowledge of an account's allowance, with a version | a process that learns more; if the version has changed in the meantime, the write is refused and the process reads again | two days after it was written |
 * | `allowance_member` | a client of a process, for one account | its process, when the client enters or leaves | with its process |
 * | `allowance_process` | a running process, and when it was last seen | itself, at each exchange | a minute after it was last seen |
 *
 * An exchange (`ask`) has two statements: an upsert of the process, which also returns the database's time, and a
 * select of the changes for the process's clients, with the number of other clients of the same accounts. It has more
 * statements if clients have entered or left, if the round trip was too slow to tell the time, or, rarely, if old rows
 * have to be removed. The select looks back a few seconds, because an earlier write may become visible after a later
 * one. Its answer is valid for 200 ms. After a failure, the database is not asked again for two seconds.
 *
 * Another process counts as running if it was seen a few seconds ago, although its row stays longer. If several
 * clients wait to ask the service again, they do so in the order of their ids. `before` is the number of running clients
 * of the same account with a lower id.
 */
import { Array as Arr, Clock, Deferred, Effect, Layer, Option, Predicate, Random, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { parseJson } from "../../api/parseJson.ts"
import { accountIds } from "../files/accountId.ts"
import { type ClientOptions, type InvalidOption, settingsFrom } from "../options/Settings.ts"
import { sleepInBackground } from "../time/Background.ts"
import { monotonicMillis, monotonicMillisUnsafe } from "../time/Monotonic.ts"
import {
  AllowanceStore,
  AllowanceStoreFailed,
  onClockAhead,
  type OwnProcesses,
  type SharedAllowance
} from "./AllowanceStore.ts"
import { allowanceTablesIn, makeAllowanceTables } from "./AllowanceTables.ts"
import { observe, type ServiceClock } from "./ServiceClock.ts"

/** How long an answer is valid. */
const freshMillis = 200

/** Longest time that the database may take for an answer. */
const maxAnswerMillis = 1000

/** How long after a failure the database is not asked again. */
const restMillis = 2000

/** A transaction may become visible this long after its write. */
const maxCommitMillis = 5000

/** If the database's clock is known less exactly than this, the process asks for its time again. */
const maxDoubtMillis = 10

/**
 * The rows of a process stay for `goneMillis` after it was last seen, and the knowledge about an account stays for
 * `forgottenMillis`, because clients do not believe older knowledge.
 */
const goneMillis = 60_000
const forgottenMillis = 2 * 86_400_000

/** Options of `layer`. All may be left out. */
export interface AllowanceSqlOptions {
  /** The schema of the tables, on PostgreSQL. Default: `berth`. */
  readonly schema?: string | undefined
  /** The database's name in warnings, which must not contain a password. Default: `the database`. */
  readonly name?: string | undefined
}

/** What this process knows of an account's allowance, with all instants on the process's monotonic clock. */
interface Kept {
  readonly version: number
  readonly content: Option.Option<SharedAllowance> | "later"
}

/** A client of this process. */
interface Member {
  readonly id: string
  readonly account: string
  isEntered: boolean
  others: OwnProcesses
}

interface Row {
  readonly member: string
  readonly account: string
  readonly version: number | null
  readonly content: string | null
  readonly count: number | bigint | null
  readonly before: number | bigint | null
}

const alone: OwnProcesses = { count: 0, before: 0 }

/** Widens the bounds on instants by the possible error of the conversion between the clocks. */
const cautious = (shared: SharedAllowance, millis: number): SharedAllowance => ({
  ...shared,
  ...(shared.clock && {
    clock: {
      minAheadMillis: shared.clock.minAheadMillis - millis,
      maxAheadMillis: shared.clock.maxAheadMillis + millis
    }
  }),
  ...(shared.report && {
    report: {
      ...shared.report,
      resetBy: shared.report.resetBy + millis,
      sentAt: shared.report.sentAt - millis
    }
  })
})

/** Returns a function that opens the store of an account for this process, by the account's fingerprint. */
export const make = Effect.fnUntraced(function* ({
  name = "the database",
  schema = "berth"
}: AllowanceSqlOptions = {}): Effect.fn.Return<
  (fingerprint: string) => Effect.Effect<AllowanceStore>,
  never,
  SqlClient.SqlClient
> {
  const sql = yield* SqlClient.SqlClient
  const clock = yield* Clock.Clock
  const lock = Semaphore.makeUnsafe(1)
  const random = Effect.map(Random.nextIntBetween(0, 0xffffffff), (number) => number.toString(36))
  const self = `${globalThis.process?.pid ?? 0}-${yield* random}${yield* random}`

  const { contents, isServer, memberships, processes } = allowanceTablesIn(sql, schema)
  const now = sql.literal(
    isServer
      ? "extract(epoch FROM clock_timestamp())::double precision * 1000"
      : "(julianday('now') - 2440587.5) * 86400000.0"
  )
  const instant = () => monotonicMillisUnsafe(clock)

  const members = new Map<string, Member>()
  /** Members that have left, until an exchange of this process has removed them. */
  const leaving = new Set<string>()
  const known = new Map<string, Kept>()
  let ahead: ServiceClock | undefined
  /** When the last exchange began, and the database's time then. */
  let askedAt = Number.NEGATIVE_INFINITY
  let askedThere = 0
  /** Whether the answer of the last exchange is known to be outdated. */
  let isStale = false
  let prunedAt = Number.NEGATIVE_INFINITY
  let withinMillis = 4000
  let failure: { readonly at: number; readonly detail: string } | undefined
  let isReported = false

  const aheadMillis = () => (ahead === undefined ? 0 : (ahead.minAheadMillis + ahead.maxAheadMillis) / 2)
  const doubtMillis = () => (ahead === undefined ? 0 : (ahead.maxAheadMillis - ahead.minAheadMillis) / 2)

  /** Learns from a round trip what the database's clock shows. */
  const note = (sentAt: number, date: number) => {
    ahead = observe(ahead, { sentAt, receivedAt: instant(), date }, 1)
  }

  const makeTables = Effect.provideService(makeAllowanceTables(schema), SqlClient.SqlClient, sql)

  const areThere = Effect.isSuccess(sql`SELECT 1 FROM ${processes} WHERE 1 = 0`)

  /** Runs the statements. If they fail, makes missing tables and runs them again. */
  const withTables = <A>(statements: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    Effect.catch(statements, (error) =>
      Effect.gen(function* () {
        if (error.reason._tag === "ConnectionError") return yield* error
        // Another process may have made the tables in the meantime, or may be making them now. If two processes do so at once, one of them
        // fails.
        if (!(yield* areThere)) {
          yield* Effect.catch(makeTables, (error) =>
            Effect.flatMap(areThere, (areMade) => (areMade ? Effect.void : Effect.fail(error)))
          )
        }
        return yield* statements
      })
    )

  /** Removes the rows of processes that are gone, and old content. */
  const prune = Effect.gen(function* () {
    const before = askedThere - goneMillis
    yield* sql`DELETE FROM ${processes} WHERE seen_at < ${before}`
    yield* sql`DELETE FROM ${memberships} WHERE process NOT IN (SELECT process FROM ${processes})`
    yield* sql`DELETE FROM ${contents} WHERE written_at < ${askedThere - forgottenMillis}`
  }).pipe(Effect.ignore)

  const keptOf = (content: string): Kept["content"] => {
    const value = parseJson(content)
    const version = Predicate.isObject(value) ? value["version"] : undefined
    if (version === 1) {
      return Option.some(cautious(onClockAhead(value as unknown as SharedAllowance, -aheadMillis()), doubtMillis()))
    }
    return Number.isSafeInteger(version) ? "later" : Option.none()
  }

  /** Shows that this process is running, and reads what is new. */
  const ask = Effect.gen(function* () {
    const sentAt = instant()
    const [seen] = yield* sql<{ readonly beats: number; readonly seen_at: number }>`
      INSERT INTO ${processes} AS running (process, beats, seen_at) VALUES (${self}, 1, ${now})
      ON CONFLICT (process) DO UPDATE SET beats = running.beats + 1, seen_at = excluded.seen_at RETURNING beats, seen_at`
    const { beats, seen_at: there } = seen!
    note(sentAt, there)
    // The first statement waits for the connection, which makes its round trip long.
    if (doubtMillis() > maxDoubtMillis) {
      const againAt = instant()
      const [again] = yield* sql<{ readonly now: number }>`SELECT ${now} AS now`
      note(againAt, again!.now)
    }
    const asked = Array.from(members.values())
    const left = Array.from(leaving)
    // Remove these members before they enter again, because only new members read what was written in between.
    if (left.length > 0) {
      yield* sql`DELETE FROM ${memberships} WHERE process = ${self} AND ${sql.in("member", left)}`
      for (const id of left) leaving.delete(id)
    }
    // The rows of this process may be gone, because the server crashed or the process counted as ended. All its members then enter again.
    const isPruning = sentAt - prunedAt >= goneMillis
    const entering = asked.filter(({ isEntered }) => !isEntered || beats === 1 || isPruning)
    if (Arr.isReadonlyArrayNonEmpty(entering)) {
      const rows = Arr.map(entering, ({ account, id }) => ({ account, member: id, process: self, joined_at: there }))
      yield* sql`INSERT INTO ${memberships} ${sql.insert(rows)} ON CONFLICT (account, member) DO NOTHING`
    }
    const since = Math.min(askedThere, there) - maxCommitMillis
    const rows =
      yield* sql<Row>`SELECT mine.member, mine.account, kept.version, kept.content, others.count, others.before
      FROM ${memberships} mine
      LEFT JOIN ${contents} kept ON kept.account = mine.account AND (kept.written_at > ${since} OR mine.joined_at > ${since})
      LEFT JOIN (
        SELECT own.member, count(*) AS count, sum(CASE WHEN other.member < own.member THEN 1 ELSE 0 END) AS before
        FROM ${memberships} own
        JOIN ${memberships} other ON other.account = own.account AND other.member <> own.member
        JOIN ${processes} running ON running.process = other.process
          AND running.seen_at > ${there - withinMillis} AND running.seen_at < ${there + withinMillis}
        WHERE own.process = ${self} GROUP BY own.member
      ) others ON others.member = mine.member
      WHERE mine.process = ${self} AND (kept.account IS NOT NULL OR others.member IS NOT NULL)`
    const found = new Map(rows.map((row) => [row.member, row]))
    for (const member of asked) {
      const { before = null, content = null, count = null, version = null } = found.get(member.id) ?? {}
      member.isEntered = true
      member.others = count === null ? alone : { count: Number(count), before: Number(before) }
      if (content === null || version === null || version === known.get(member.account)?.version) continue
      known.set(member.account, { version, content: keptOf(content) })
    }
    askedAt = sentAt
    askedThere = there
    isStale = false
    if (!isPruning) return
    prunedAt = sentAt
    yield* Effect.forkDetach(prune)
  })

  const fail = (detail: string) =>
    Effect.suspend(() => {
      const failed = new AllowanceStoreFailed({ detail, isReported })
      isReported = true
      return Effect.fail(failed)
    })

  /** Runs statements within a time limit, and not again soon after a failure. */
  const run = <A>(statements: Effect.Effect<A, SqlError>): Effect.Effect<A, AllowanceStoreFailed> =>
    Effect.gen(function* () {
      if (failure !== undefined && instant() - failure.at < restMillis) return yield* fail(failure.detail)
      const answer = Deferred.makeUnsafe<A, string>()
      // Bounds the wait for an answer, even if the caller cannot be interrupted.
      const asking = yield* statements.pipe(
        Effect.mapError(({ message, reason: { cause } }) => (cause instanceof Error && cause.message) || message),
        Deferred.into(answer),
        Effect.interruptible,
        Effect.withTracerEnabled(false),
        Effect.forkDetach({ startImmediately: true })
      )
      const bound = yield* sleepInBackground(maxAnswerMillis).pipe(
        Effect.andThen(Deferred.fail(answer, `no answer within ${maxAnswerMillis} ms`)),
        Effect.interruptible,
        Effect.forkDetach
      )
      return yield* Deferred.await(answer).pipe(
        Effect.ensuring(Effect.sync(() => [asking, bound].forEach((fiber) => fiber.interruptUnsafe()))),
        Effect.tap(Effect.sync(() => void (failure = undefined))),
        Effect.catch((detail) => {
          failure = { at: instant(), detail }
          isStale = true
          return fail(detail)
        })
      )
    })
  const inTurn = lock.withPermit

  /** Ensures that the last answer is still valid. */
  const renew = (member: Member): Effect.Effect<void, AllowanceStoreFailed> =>
    Effect.suspend(() => {
      // One exchange enters all waiting members, so a process with many accounts sends no more statements than one with few.
      members.set(member.id, member)
      const waitMillis = isStale ? 0 : askedAt + freshMillis - instant()
      const once = inTurn(
        Effect.suspend(() =>
          member.isEntered && !isStale && instant() - askedAt < freshMillis ? Effect.void : run(withTables(ask))
        )
      )
      return member.isEntered || waitMillis <= 0 ? once : Effect.andThen(sleepInBackground(waitMillis), once)
    })

  return (fingerprint) =>
    Effect.map(random, (number): AllowanceStore => {
      const member: Member = { id: `${self}-${number}`, account: fingerprint, isEntered: false, others: alone }
      let basis = 0
      return {
        name,
        now: monotonicMillis,
        read: Effect.flatMap(renew(member), () => {
          const kept = known.get(fingerprint)
          if (kept?.content === "later") return fail("a later version of Berth wrote it")
          basis = kept?.version ?? 0
          return Effect.succeed(kept?.content ?? Option.none())
        }),
        write: (shared) =>
          inTurn(
            Effect.suspend(() => {
              const content = JSON.stringify(onClockAhead(cautious(shared, doubtMillis()), aheadMillis()))
              const version = basis + 1
              return Effect.map(
                run(sql`INSERT INTO ${contents} AS kept (account, version, written_at, content)
                  VALUES (${fingerprint}, ${version}, ${now}, ${content})
                  ON CONFLICT (account) DO UPDATE SET version = excluded.version, written_at = excluded.written_at,
                    content = excluded.content WHERE kept.version = ${basis} RETURNING version`),
                (written) => {
                  if (written.length === 0) {
                    isStale = true
                    return false
                  }
                  basis = version
                  known.set(fingerprint, { version, content: Option.some(shared) })
                  return true
                }
              )
            })
          ),
        meet: (within) =>
          Effect.suspend(() => {
            withinMillis = within
            return Effect.map(renew(member), () => member.others)
          }),
        leave: inTurn(
          Effect.suspend(() => {
            members.delete(member.id)
            // The member may enter again, and then reads what others wrote in the meantime.
            if (member.isEntered) leaving.add(member.id)
            member.isEntered = false
            if (!Array.from(members.values()).some(({ account }) => account === fingerprint)) known.delete(fingerprint)
            if (members.size > 0) return Effect.void
            leaving.clear()
            const left = sql`DELETE FROM ${memberships} WHERE process = ${self}`
            return Effect.ignore(run(Effect.andThen(left, sql`DELETE FROM ${processes} WHERE process = ${self}`)))
          })
        )
      }
    })
})

/** Identifies the account of these options in the tables, by a hash that reveals neither its key nor its service. */
export const fingerprintOf = Effect.fnUntraced(function* (
  options: Pick<ClientOptions, "baseUrl" | "credentials">
): Effect.fn.Return<string, InvalidOption> {
  const settings = yield* Effect.fromResult(settingsFrom(options))
  // This fails only without Node's modules, and a program that uses a database has them.
  return (yield* Effect.orDie(accountIds(settings))).ofKey
})

/** Shares the allowance of the client with these options: `Layer.provide(Berth.layer(options), AllowanceSql.layer(options))`. */
export const layer = (
  options: Pick<ClientOptions, "baseUrl" | "credentials">,
  where?: AllowanceSqlOptions
): Layer.Layer<never, InvalidOption, SqlClient.SqlClient> =>
  Layer.effect(
    AllowanceStore,
    Effect.gen(function* () {
      const fingerprint = yield* fingerprintOf(options)
      return (yield* make(where))(fingerprint)
    })
  )
