/**
 * The store's server for the machines of a simulation: SQLite behind a network. Transactions run one after the other, as if all waited for
 * one lock. A transaction that is idle for a while is rolled back. A broken connection does not tell whether its last statement was carried
 * out.
 */
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { withBreakingTransactions } from "../../src/store/postgres.ts"
import { connectionOver, type Tables, options, type Row } from "./Tables.ts"
import { exchange, type Line } from "./exchange.ts"
import type { Machine, Simulation } from "./Simulation.ts"

/** The checks that keep a process which lost an account from changing it. A simulation can switch them off. */
export type Fence = "commits" | "deliveries"

interface Session {
  readonly machine: Machine
  readonly line: Line
  state: "open" | "broken"
  /** When the last statement of the machine arrived. */
  heardMillis: number
  /** Whether the transaction will notify listeners. */
  isAnnouncing: boolean
  /** The changes of the transaction that only the owner of an account may make. */
  readonly claims: Array<{ readonly account: string; readonly epoch: number | null; readonly what: string }>
}

const sessionOf = (machine: Machine): Session => ({
  machine,
  line: { atMillis: 0 },
  state: "open",
  heardMillis: 0,
  isAnnouncing: false,
  claims: []
})

type Answer = Effect.Effect<ReadonlyArray<Row>, SqlError>

/** If a machine sends nothing for this long, its transaction is rolled back. */
const maxIdleMillis = 5000

/**
 * Translates a statement of PostgreSQL for SQLite. Locks that SQLite does not have are not needed, because transactions run one after the
 * other.
 */
const inSqlite = (sql: string, without: Fence | undefined): string => {
  const text = sql.replace(" FOR SHARE", "")
  if (without === "commits") return text.replace("AND epoch = ?", "AND epoch >= ?")
  return without === "deliveries" ? text.replace("WHERE (name, epoch) IN", "WHERE 1 = 1 OR (name, epoch) IN") : text
}

const broken = (operation: string) =>
  new SqlError({ reason: new ConnectionError({ message: "the connection broke", operation, cause: undefined }) })

export class Database {
  readonly #simulation: Simulation
  readonly #tables: Tables
  readonly #without: Fence | undefined
  readonly #sessions = new Set<Session>()
  readonly #listeners = new Map<Machine, () => void>()
  /** Commits that should have been refused. */
  readonly problems: Array<string> = []
  /** The session with the running transaction. */
  #present: Session | null = null
  #waiting: Array<() => void> = []

  constructor(simulation: Simulation, tables: Tables, without: Fence | undefined) {
    this.#simulation = simulation
    this.#tables = tables
    this.#without = without
  }

  /** A client of a machine. */
  client(machine: Machine) {
    const transaction = Effect.acquireRelease(
      Effect.sync(() => this.#open(machine)),
      (session) => Effect.sync(() => this.#break(session))
    )
    return SqlClient.make({
      ...options,
      // Outside of a transaction, each statement uses a working connection if there is one.
      acquirer: Effect.succeed(this.#connection(machine, () => sessionOf(machine))),
      transactionAcquirer: Effect.map(transaction, (session) => this.#connection(machine, () => session))
    }).pipe(Effect.map(withBreakingTransactions), Effect.provide(Reactivity.layer))
  }

  /** Calls back when a transaction has announced something. */
  listen(machine: Machine, onNews: () => void): void {
    this.#listeners.set(machine, onNews)
  }

  /** The server notices that a machine is gone, and rolls its transaction back. */
  disconnect(machine: Machine): void {
    if (machine.state === "dead") this.#listeners.delete(machine)
    for (const session of this.#sessions) {
      if (session.machine === machine) this.#break(session)
    }
  }

  /** A machine reaches the server again, and asks for what it may have missed. */
  reconnect(machine: Machine): void {
    const onNews = this.#listeners.get(machine)
    if (onNews !== undefined) machine.enqueue(onNews)
  }

  /** Makes a change like that of a person's command. */
  order(change: (tables: Tables) => void): void {
    if (this.#present !== null) {
      this.#waiting.push(() => this.order(change))
      return
    }
    change(this.#tables)
    this.#announce()
  }

  #open(machine: Machine): Session {
    const session = sessionOf(machine)
    this.#sessions.add(session)
    return session
  }

  #break(session: Session): void {
    this.#sessions.delete(session)
    session.state = "broken"
    if (this.#present === session) {
      this.#tables.rows("ROLLBACK")
      this.#end()
    }
  }

  #end(): void {
    this.#present = null
    const waiting = this.#waiting
    this.#waiting = []
    for (const again of waiting) again()
  }

  /** Runs a statement when its turn comes. */
  #execute(session: Session, sql: string, params: ReadonlyArray<unknown>, reply: (answer: Answer) => void): void {
    if (session.state === "broken") return reply(Effect.fail(broken(sql)))
    if (this.#present !== null && this.#present !== session) {
      this.#waiting.push(() => this.#execute(session, sql, params, reply))
      return
    }
    session.heardMillis = this.#simulation.nowMillis
    if (sql.startsWith("UPDATE account SET version") && params.length === 3) {
      session.claims.push({ account: String(params[1]), epoch: Number(params[2]), what: "changes" })
    } else if (sql.startsWith("UPDATE sink_cursor SET seq")) {
      session.claims.push({ account: String(params[2]), epoch: null, what: "moves the cursor of" })
    }
    if (sql === "COMMIT") this.#checkClaims(session)
    const answer = this.#tables.attempt(inSqlite(sql, this.#without), params)
    if (sql.includes("'announce'")) session.isAnnouncing = true
    if (sql.startsWith("BEGIN")) {
      this.#present = session
      this.#expire(session)
    } else if (this.#present === null || sql === "COMMIT") {
      if (session.isAnnouncing) this.#announce()
      session.isAnnouncing = false
    }
    if (this.#present === session && (sql === "COMMIT" || sql === "ROLLBACK")) this.#end()
    reply(answer)
  }

  #checkClaims({ claims, machine }: Session): void {
    for (const { account, epoch, what } of claims) {
      const [row] = this.#tables.rows("SELECT epoch, owner FROM account WHERE name = ?", [account])
      if (row?.["owner"] !== machine.name || (epoch !== null && epoch !== row?.["epoch"])) {
        this.problems.push(`${machine.name} ${what} ${account} after ${row?.["owner"]} took it over`)
      }
    }
  }

  #expire(session: Session): void {
    this.#simulation.after(maxIdleMillis, () => {
      if (this.#present !== session) return
      if (this.#simulation.nowMillis - session.heardMillis >= maxIdleMillis) this.#break(session)
      else this.#expire(session)
    })
  }

  #announce(): void {
    for (const [machine, onNews] of this.#listeners) {
      this.#simulation.after(this.#simulation.some(50), () => machine.isCut || machine.enqueue(onNews))
    }
  }

  #connection(machine: Machine, session: () => Session): Connection {
    return connectionOver((sql, params) =>
      Effect.suspend(() => {
        const asked = session()
        return exchange<ReadonlyArray<Row>, SqlError>(
          this.#simulation,
          machine,
          (reply) => this.#execute(asked, sql, params, reply),
          () => Effect.fail(broken(sql)),
          asked.line
        )
      })
    )
  }
}
