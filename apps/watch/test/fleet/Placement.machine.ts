import { Postgres } from "@berthkit/testing/Postgres"
import { TcpProxy } from "@berthkit/testing/TcpProxy"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Placement } from "../../src/fleet/Placement.ts"
import { postgresLayer } from "../../src/store/postgres.ts"

const names = Array.from({ length: 40 }, (_, index) => `part-${index}`)

/** The number of the engine's locks. */
const allLocks = 300

/** How long a statement, and its answer, take on the way. That is far less than the time limit of a statement, but there are hundreds. */
const slowMillis = 10

/** A process that takes part. It counts how often it began each part. */
const join = Effect.fnUntraced(function* (address: Redacted.Redacted) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const placement = Layer.provide(Placement.layer("berth"), postgresLayer(address))
  const { place } = Context.get(yield* Layer.buildWithScope(placement, scope), Placement)
  const begun = new Map(names.map((name) => [name, 0]))
  const running = new Set<string>()
  for (const name of names) {
    const part = Effect.acquireUseRelease(
      Effect.sync(() => {
        running.add(name)
        begun.set(name, begun.get(name)! + 1)
      }),
      () => Effect.never,
      () => Effect.sync(() => running.delete(name))
    )
    yield* Scope.provide(place(name, part), scope)
  }
  return { begun, running, end: Scope.close(scope, Exit.void) }
})

const until = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    while (!(yield* condition)) yield* Effect.sleep("20 millis")
  })

it.live(
  "several processes on a slow server keep what stays theirs as another one begins, and leave all locks at once",
  () =>
    Effect.gen(function* () {
      const postgres = yield* Postgres.scoped()
      const proxy = yield* TcpProxy.scoped(postgres.port)
      const near = Redacted.make(postgres.url())
      const far = new URL(postgres.url())
      far.port = String(proxy.port)
      const sql = Context.get(yield* Layer.build(postgresLayer(near)), SqlClient.SqlClient)
      /** How many of the locks each session has. */
      const locks = Effect.map(
        sql<{ pid: number; held: bigint }>`SELECT pid, count(*) AS held FROM pg_locks
        WHERE locktype = 'advisory' AND granted GROUP BY pid HAVING count(*) > 1`,
        (rows) => new Map(rows.map(({ held, pid }) => [pid, Number(held)]))
      )
      const first = yield* join(Redacted.make(far.href))
      yield* until(Effect.map(locks, (held) => [...held.values()].includes(allLocks)))
      yield* until(Effect.sync(() => first.running.size === names.length))
      const [own] = [...(yield* locks).keys()]
      proxy.delayMillis = slowMillis

      const second = yield* join(near)
      yield* until(
        Effect.map(locks, (held) => {
          const counts = [...held.values()]
          return counts.length === 2 && Math.min(...counts) > allLocks / 3 && counts[0]! + counts[1]! === allLocks
        })
      )
      yield* until(Effect.sync(() => first.running.size + second.running.size === names.length))
      expect(second.running.size).toBeGreaterThan(0)
      for (const name of names) {
        const isMoved = second.running.has(name)
        expect([name, first.begun.get(name), second.begun.get(name)]).toEqual([name, 1, isMoved ? 1 : 0])
      }

      const before = (yield* locks).get(own!)
      const ending = yield* Effect.forkChild(first.end)
      const seen = new Set<number | undefined>()
      yield* until(
        Effect.map(locks, (held) => {
          seen.add(held.get(own!))
          return !held.has(own!)
        })
      )
      expect([...seen].filter((held) => held !== before)).toEqual([undefined])
      yield* Fiber.join(ending)
      yield* until(Effect.sync(() => second.running.size === names.length))
    })
)
