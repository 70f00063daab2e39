import * as SqliteClient from "@berthkit/sql-sqlite/SqliteClient"
import { Program } from "@berthkit/testing/Program"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beginning } from "../../src/events/Cursor.ts"
import { Store } from "../../src/store/Store.ts"
import { created, row } from "./facts.ts"

const newPath = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-store-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "watch.db")
)

const read = Effect.gen(function* () {
  const { after, nodes } = yield* Store
  return { events: yield* after(beginning, 1_000_000), nodes: yield* Stream.runCollect(nodes("a")) }
})

/** A process that runs `body`, an Effect over a store at `path`, until it is killed. */
const program = (path: string, body: string) =>
  Program.start(() =>
    Program.ofSource(
      `import { Effect } from "effect"
       import { Store } from "./src/store/Store.ts"
       import { created, row } from "./test/store/facts.ts"
       const program = Effect.gen(function* () { ${body} })
       Effect.runPromise(Effect.provide(Effect.scoped(program), Store.layerFile(${JSON.stringify(path)})))`,
      { cwd: join(import.meta.dirname, "../..") }
    )
  )

const committing = `
  const { claim, commit } = yield* Store
  const { known, owner } = yield* claim("a")
  for (let id = known.seq / 2 + 1; ; id++) {
    yield* commit(owner, { nodes: [row(id)], events: [created(id, id), created(id + 1_000_000, id)] })
    process.stdout.write(id + "\\n")
    yield* Effect.promise(() => new Promise(setImmediate))
  }`

describe("a store in a file", () => {
  it.effect("loses no commit and repeats no id when its process is killed at any instant", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      let reported = 0
      for (const commits of [1, 60, 13, 29]) {
        const writer = yield* program(path, committing)
        yield* Effect.promise(() => writer.printed(new RegExp(`(\\d+\\n){${commits}}`)))
        const { stderr, stdout } = yield* Effect.promise(() => writer.kill())
        expect(stderr).toBe("")
        reported = Math.max(reported, Number(stdout.trim().split("\n").at(-1)))
        // Read the store as the next process does; the lock of the killed process does not stop it.
        const { events, nodes } = yield* Effect.scoped(Effect.provide(read, Store.layerFile(path)))
        expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: nodes.length * 2 }, (_, index) => index + 1))
        expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
        expect(nodes.length).toBeGreaterThanOrEqual(reported)
      }
    })
  )

  it.effect("belongs to one process, which a second one names", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      const first = yield* program(path, `console.log("open"); yield* Effect.sleep('1 hour')`)
      yield* Effect.promise(() => first.printed("open"))
      const failed = yield* Effect.flip(Effect.scoped(Layer.build(Store.layerFile(path))))
      expect(failed.message).toBe(`The store is in use: process ${first.child.pid} runs on ${path}.`)
      expect((yield* Effect.provide(read, Store.layerReader(path))).events).toEqual([])
      yield* Effect.promise(() => first.kill())
      yield* Effect.scoped(Layer.build(Store.layerFile(path)))
    })
  )

  it.effect("on a full disk refuses the whole commit, and continues once there is room", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { claim, commit } = yield* Store
        const { owner } = yield* claim("a")
        yield* commit(owner, { nodes: [row(1)], events: [created(1, 1)] })
        const [{ page_count: pages }] = (yield* sql`PRAGMA page_count`) as [{ page_count: number }]
        yield* sql.unsafe(`PRAGMA max_page_count = ${pages + 5}`)
        const body = JSON.stringify({ node: { name: "x".repeat(100_000) } })
        const refused = yield* Effect.flip(commit(owner, { nodes: [row(2, { body })], events: [created(2, 2)] }))
        expect(refused).toMatchObject({
          fault: "full",
          message: expect.stringMatching(/^The disk of the store is full/)
        })
        expect((yield* read).nodes).toEqual([row(1)])
        yield* sql`PRAGMA max_page_count = 1000000`
        const [event] = yield* commit(owner, { nodes: [row(2, { body })], events: [created(2, 2)] })
        expect(event?.seq).toBe(2)
      }).pipe(Effect.provide(Store.layerFile(path)))
    })
  )

  it.effect("on a full disk is in trouble also where only a change of several things failed", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { atomically, health, meet } = yield* Store
        const [{ page_count: pages }] = (yield* sql`PRAGMA page_count`) as [{ page_count: number }]
        yield* sql.unsafe(`PRAGMA max_page_count = ${pages + 5}`)
        expect((yield* Effect.flip(atomically(meet("x".repeat(100_000))))).fault).toBe("full")
        expect(yield* health).toMatchObject({ failure: { fault: "full" } })
      }).pipe(Effect.provide(Store.layerFile(path)))
    })
  )

  it.effect("that is removed or replaced is no longer written, and is used again once it is back", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      yield* Effect.gen(function* () {
        const { claim, commit, health, probe } = yield* Store
        const { owner } = yield* claim("a")
        yield* commit(owner, { events: [created(1, 1)] })
        renameSync(path, `${path}-away`)
        for (const there of [false, true]) {
          if (there) writeFileSync(path, "")
          expect((yield* Effect.flip(probe)).fault).toBe("moved")
          const refused = yield* Effect.flip(commit(owner, { events: [created(2, 2)] }))
          expect(refused.message).toMatch(/^The file of the store is gone: .*watch.db was removed or replaced/)
          expect(yield* health).toMatchObject({ failure: { fault: "moved" } })
        }
        renameSync(`${path}-away`, path)
        const [event] = yield* commit(owner, { events: [created(2, 2)] })
        expect(event?.seq).toBe(2)
      }).pipe(Effect.provide(Store.layerFile(path)))
    })
  )

  it.effect("has a log that shrinks again", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { claim, commit } = yield* Store
        const { owner } = yield* claim("a")
        const body = JSON.stringify({ node: { name: "x".repeat(1_000_000) } })
        const large = Array.from({ length: 40 }, (_, index) => row(index + 1, { body }))
        yield* commit(owner, { nodes: large, events: [created(1, 1)] })
        expect(statSync(`${path}-wal`).size).toBeGreaterThan(30_000_000)
        yield* sql`PRAGMA wal_checkpoint`
        yield* commit(owner, { events: [created(2, 2)] })
        expect(statSync(`${path}-wal`).size).toBeLessThan(17_000_000)
      }).pipe(Effect.provide(Store.layerFile(path)))
    })
  )

  it.effect("that is damaged is refused and left as it is", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      yield* Effect.gen(function* () {
        const { claim, commit } = yield* Store
        const { owner } = yield* claim("a")
        const ids = Array.from({ length: 500 }, (_, index) => index + 1)
        yield* commit(owner, { nodes: ids.map((id) => row(id)), events: ids.map((id) => created(id, id)) })
      }).pipe(Effect.provide(Store.layerFile(path)), Effect.scoped)
      const spoil = (bytes: number, from: number) => {
        const file = openSync(path, "r+")
        writeSync(file, new Uint8Array(bytes).fill(0xaa), 0, bytes, from)
        closeSync(file)
      }
      const pages = readFileSync(path).length / 4096
      // Damage one page that nothing reads at the start.
      spoil(8, 4096 * Math.floor(pages / 2))
      expect((yield* Effect.flip(Effect.scoped(Layer.build(Store.layerFile(path))))).fault).toBe("damaged")
      spoil(64 * 1024, 4096 * 20)
      const before = readFileSync(path)
      const failed = yield* Effect.flip(Effect.scoped(Layer.build(Store.layerFile(path))))
      expect(failed.fault).toBe("damaged")
      expect(readFileSync(path).equals(before)).toBe(true)

      for (const length of [before.length / 2, 4096, 100, 0]) {
        writeFileSync(path, before.subarray(0, length))
        expect((yield* Effect.flip(Effect.scoped(Layer.build(Store.layerFile(path))))).fault).toBe("damaged")
        expect(readFileSync(path).length).toBe(length)
      }

      writeFileSync(path, "not a database, for once".repeat(1000))
      expect((yield* Effect.flip(Effect.scoped(Layer.build(Store.layerFile(path))))).fault).toBe("damaged")
    })
  )

  it.effect("that cannot be opened is named, and a reader makes none", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      expect((yield* Effect.flip(Effect.scoped(Layer.build(Store.layerFile(join(path, "x")))))).fault).toBe(
        "unreadable"
      )
      expect((yield* Effect.flip(Effect.scoped(Layer.build(Store.layerReader(path))))).fault).toBe("unreadable")
      expect(existsSync(path)).toBe(false)
    })
  )

  it.effect("of another schema is refused, and left as it is", () =>
    Effect.gen(function* () {
      const others = [
        (sql: SqlClient.SqlClient) => sql`UPDATE schema_version SET migration_id = 11, name = 'spend'`,
        (sql: SqlClient.SqlClient) => sql`INSERT INTO schema_version ${sql.insert({ migration_id: 3, name: "later" })}`,
        // The name that the tables of unpublished commits had under the same number.
        (sql: SqlClient.SqlClient) => sql`UPDATE schema_version SET name = 'store'`,
        (sql: SqlClient.SqlClient) => sql`DROP TABLE schema_version`
      ]
      for (const change of others) {
        const path = yield* newPath
        yield* Effect.flatMap(SqlClient.SqlClient, change).pipe(Effect.provide(Store.layerFile(path)), Effect.scoped)
        const before = readFileSync(path)
        for (const layer of [Store.layerFile(path), Store.layerReader(path)]) {
          const failed = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
          expect(failed.fault).toBe("otherSchema")
          expect(failed.message).toMatch(/^The schema of the store is not that of this berth-watch: /)
        }
        expect(readFileSync(path).equals(before)).toBe(true)
      }
    })
  )

  it.effect("of another program is refused", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE mine (n BIGINT)`).pipe(
        Effect.provide(SqliteClient.layer({ filename: path })),
        Effect.scoped
      )
      expect((yield* Effect.flip(Effect.scoped(Layer.build(Store.layerFile(path))))).fault).toBe("otherSchema")
    })
  )
})
