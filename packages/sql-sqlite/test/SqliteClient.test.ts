import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql/SqlError"
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Program } from "@berthkit/testing/Program"
import { sqliteFault } from "../src/sqliteFault.ts"
import * as SqliteClient from "../src/SqliteClient.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-sqlite-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const open = (filename: string, options: Partial<SqliteClient.SqliteOptions> = {}) =>
  SqliteClient.make({ filename, ...options }).pipe(Effect.provide(Reactivity.layer))

const faultOf = <R>(effect: Effect.Effect<unknown, SqlError, R>) => Effect.map(Effect.flip(effect), sqliteFault)

describe("a database", () => {
  it.effect("takes and gives back numbers, texts, bytes, booleans as 0 and 1, and undefined as null", () =>
    Effect.gen(function* () {
      const sql = yield* open(":memory:")
      yield* sql`CREATE TABLE t (a INTEGER, b TEXT, c BLOB, d INTEGER, e TEXT)`
      const row = { a: 2 ** 52, b: "ü", c: new Uint8Array([1, 2]), d: true, e: undefined }
      yield* sql`INSERT INTO t ${sql.insert(row)}`
      expect({ ...(yield* sql`SELECT * FROM t`)[0] }).toEqual({ ...row, d: 1, e: null })
      expect(yield* sql`SELECT a, b FROM t`.values).toEqual([[2 ** 52, "ü"]])
      expect(yield* Stream.runCollect(sql<{ b: string }>`SELECT b FROM t`.stream)).toEqual([
        expect.objectContaining({ b: "ü" })
      ])
    })
  )

  it.effect("undoes a transaction that fails, and the part of it that fails", () =>
    Effect.gen(function* () {
      const sql = yield* open(":memory:")
      yield* sql`CREATE TABLE t (a INTEGER)`
      const insert = (a: number) => sql`INSERT INTO t ${sql.insert({ a })}`
      yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(1), Effect.fail("no"))))
      const inner = Effect.exit(sql.withTransaction(Effect.andThen(insert(3), Effect.fail("no"))))
      yield* sql.withTransaction(Effect.andThen(insert(2), inner))
      expect(yield* sql`SELECT a FROM t`.values).toEqual([[2]])
    })
  )

  it.effect("keeps the statements of other fibers out of a transaction", () =>
    Effect.gen(function* () {
      const sql = yield* open(":memory:")
      yield* sql`CREATE TABLE t (a INTEGER)`
      const held = yield* Deferred.make<void>()
      const failing = yield* Effect.forkChild(
        Effect.exit(sql.withTransaction(Effect.andThen(Deferred.await(held), Effect.fail("no")))),
        { startImmediately: true }
      )
      const other = yield* Effect.forkChild(sql`INSERT INTO t ${sql.insert({ a: 1 })}`, { startImmediately: true })
      yield* Deferred.succeed(held, undefined)
      expect(Exit.isFailure(yield* Fiber.join(failing))).toBe(true)
      yield* Fiber.join(other)
      expect(yield* sql`SELECT a FROM t`.values).toEqual([[1]])
    })
  )

  it.effect("can be read by another connection while one writes, without what is not committed", () =>
    Effect.gen(function* () {
      const filename = join(yield* folder, "a.db")
      const writer = yield* open(filename)
      const reader = yield* open(filename, { isReadOnly: true, maxLockWaitMillis: 0 })
      yield* writer`CREATE TABLE t (a INTEGER)`
      const count = reader`SELECT count(*) FROM t`.values
      yield* writer.withTransaction(
        Effect.gen(function* () {
          yield* writer`INSERT INTO t ${writer.insert({ a: 1 })}`
          expect(yield* count).toEqual([[0]])
        })
      )
      expect(yield* count).toEqual([[1]])
      expect(yield* faultOf(reader`DELETE FROM t`)).toBe("unwritable")
    })
  )

  it.effect("reports what is wrong with its file", () =>
    Effect.gen(function* () {
      const path = yield* folder
      writeFileSync(join(path, "not.db"), "This is a text and not a database. ".repeat(100))
      expect(yield* faultOf(open(join(path, "not.db")))).toBe("damaged")
      expect(yield* faultOf(open(join(path, "absent", "a.db")))).toBe("unreadable")

      const sql = yield* open(join(path, "a.db"))
      yield* sql`CREATE TABLE t (a TEXT UNIQUE)`
      const locked = yield* open(join(path, "a.db"), { maxLockWaitMillis: 0 })
      yield* sql.withTransaction(
        Effect.gen(function* () {
          expect(yield* faultOf(locked.withTransaction(Effect.void))).toBe("busy")
        })
      )
      yield* sql`PRAGMA max_page_count = 20`
      const insert = (text: string) => sql`INSERT INTO t ${sql.insert({ a: text })}`
      expect(yield* faultOf(insert("x".repeat(1_000_000)))).toBe("full")
      yield* insert("x")
      const twice = yield* Effect.flip(insert("x"))
      expect(twice.reason._tag).toBe("UniqueViolation")
      expect(sqliteFault(twice)).toBe(null)
    })
  )

  it.effect("keeps everything committed if its process is killed at any instant", () =>
    Effect.gen(function* () {
      const filename = join(yield* folder, "a.db")
      const writer = `
        import { Effect } from "effect"
        import { SqlClient } from "effect/sql"
        import * as SqliteClient from "./src/SqliteClient.ts"
        const program = Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql\`CREATE TABLE IF NOT EXISTS t (a INTEGER PRIMARY KEY, b INTEGER)\`
          for (;;) {
            const [{ n }] = yield* sql\`SELECT count(*) AS n FROM t\`
            yield* sql.withTransaction(Effect.andThen(
              sql\`INSERT INTO t VALUES (\${n}, 1)\`,
              sql\`INSERT INTO t VALUES (\${n + 1}, 2)\`
            ))
            process.stdout.write(n + "\\n")
          }
        })
        Effect.runPromise(Effect.provide(program, SqliteClient.layer({ filename: ${JSON.stringify(filename)} })))`
      let last = -1
      for (const lines of [1, 40, 7]) {
        const program = yield* Program.start(() => Program.ofSource(writer, { cwd: `${import.meta.dirname}/..` }))
        yield* Effect.promise(() => program.printed(new RegExp(`(\\d+\\n){${lines}}`)))
        const { stderr, stdout } = yield* Effect.promise(() => program.kill())
        expect(stderr).toBe("")
        last = Math.max(last, ...stdout.trim().split("\n").map(Number))
      }
      const sql = yield* open(filename)
      const [[count, pairs]] = (yield* sql`SELECT count(*), sum(b) FROM t`.values) as [[number, number]]
      expect(count).toBeGreaterThanOrEqual(last + 2)
      // Each transaction wrote either both of its rows or none.
      expect(pairs).toBe((count / 2) * 3)
    })
  )
})

describe("the files of a database", () => {
  const modesIn = (path: string) =>
    Object.fromEntries(readdirSync(path).map((name) => [name, (statSync(join(path, name)).mode & 0o777).toString(8)]))

  const withUmask = (mask: number) =>
    Effect.acquireRelease(
      Effect.sync(() => process.umask(mask)),
      (before) => Effect.sync(() => process.umask(before))
    )

  const fill = Effect.fnUntraced(function* (path: string) {
    const sql = yield* open(join(path, "t.db"))
    yield* sql`CREATE TABLE IF NOT EXISTS t (a INTEGER)`
    yield* sql`INSERT INTO t ${sql.insert({ a: 1 })}`
    return modesIn(path)
  })

  it.effect("are for their user alone, under a umask that lets everyone read and write", () =>
    Effect.gen(function* () {
      const path = yield* folder
      yield* withUmask(0)
      expect(yield* fill(path)).toEqual({ "t.db": "600", "t.db-wal": "600", "t.db-shm": "600" })
    })
  )

  it.effect("that others could read are taken from them when the database is opened", () =>
    Effect.gen(function* () {
      const path = yield* folder
      yield* Effect.scoped(fill(path))
      // The files that a killed process leaves.
      writeFileSync(join(path, "t.db-wal"), "")
      for (const name of ["t.db", "t.db-wal"]) chmodSync(join(path, name), 0o644)
      expect(yield* fill(path)).toEqual({ "t.db": "600", "t.db-wal": "600", "t.db-shm": "600" })
    })
  )
})
