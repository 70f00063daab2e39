/**
 * Three daemons with different clocks share a store; each is killed, frozen, cut off or ended again and again, and the receiver fails a
 * third of the time. In the end the log of each account is complete, and the receiver has all events, with those of each node in order.
 */
import { fileURLToPath } from "node:url"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { TestServer, type TestWorld } from "@berthkit/server/testing"
import { Postgres, type PostgresOptions } from "@berthkit/testing/Postgres"
import { startStopwatch } from "@berthkit/testing/stopwatch"
import { Store } from "@berthkit/watch/store/Store"
import { expect } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Random, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { inDialect, placeFields } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { folder, receiver, wait } from "./Scene.ts"

/** The difference between the clocks of two processes. */
const aheadMillis = 120_000

const aheadClock = fileURLToPath(new URL("machine/aheadClock.ts", import.meta.url))

const faults = ["kill", "freeze", "end", "cut"] as const
type Fault = (typeof faults)[number]

/** Twice as long as any takeover may take. If one takes longer, something hangs. */
const maxTakeoverMillis = 20_000

interface Owned {
  readonly name: string
  readonly owner: string
  readonly epoch: number
}

export interface LoggedEvent {
  readonly account: string
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly node: number | null
  readonly body: string
}

/** How long other processes took to take over all accounts of a faulty process, and how many accounts it had. */
export interface Takeover {
  readonly fault: Fault
  readonly accounts: number
  readonly millis: number
}

const configOf = (
  worlds: ReadonlyArray<TestWorld>,
  webhooks: Readonly<Record<string, string>>
) => `store: { env: DATABASE_URL }
listen: 127.0.0.1:0
accounts:
${worlds
  .map(
    ({ baseUrl }, index) =>
      `  - { name: a${index}, baseUrl: "${baseUrl}", apiKey: { env: KEY${index} }, accessToken: { env: TOKEN${index} }${placeFields}, interval: 1s, hold: 1s }`
  )
  .join("\n")}
sinks:
${Object.entries(webhooks)
  .map(([name, url]) => `  - { name: ${name}, webhook: { url: "${url}", allowPrivate: true } }`)
  .join("\n")}
`

const environmentOf = (worlds: ReadonlyArray<TestWorld>) =>
  Object.fromEntries(
    worlds.flatMap(({ accessToken, apiKey }, index) => [
      [`KEY${index}`, Redacted.value(apiKey)],
      [`TOKEN${index}`, Redacted.value(accessToken)]
    ])
  )

/** Turns a random node on or off every few milliseconds, without end. Creates and deletes no nodes. */
export const load = (worlds: ReadonlyArray<TestWorld>) =>
  Effect.gen(function* () {
    for (;;) {
      const { control, id: world } = worlds[yield* Random.nextIntBetween(0, worlds.length - 1)]!
      const nodes = yield* Effect.orDie(control.nodes.list({ params: { world }, query: { count: 100 } }))
      const ready = nodes.filter(({ status }) => status === "running" || status === "power-off")
      const node = ready[yield* Random.nextIntBetween(0, Math.max(0, ready.length - 1))]
      if (node !== undefined) {
        const status = node.status === "running" ? "power-off" : "running"
        yield* Effect.orDie(control.nodes.change({ params: { world, id: node.id }, payload: { status } }))
      }
      yield* Effect.sleep("50 millis")
    }
  })

export const grouped = <A>(all: ReadonlyArray<A>, key: (each: A) => string): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const each of all) groups.set(key(each), [...(groups.get(key(each)) ?? []), each])
  return groups
}

/** Checks the log of each account: it has no gap and no event twice, each node's chain of statuses is whole, and nothing was deleted. */
const checkLog = (log: ReadonlyArray<LoggedEvent>) => {
  for (const [account, events] of grouped(log, ({ account }) => account)) {
    expect({ account, seqs: events.map(({ seq }) => seq) }).toEqual({
      account,
      seqs: events.map((_, index) => index + 1)
    })
  }
  expect(new Set(log.map(({ id }) => id)).size).toBe(log.length)
  expect(log.filter(({ type }) => type === "berth.node.deleted")).toEqual([])
  const changes = log.filter(({ type }) => type === "berth.node.status_changed")
  for (const [node, events] of grouped(changes, ({ account, node }) => `${account}/${node}`)) {
    const data = events.map(({ body }) => JSON.parse(body).data)
    expect({ node, from: data.slice(1).map(({ from }) => from) }).toEqual({
      node,
      from: data.slice(0, -1).map(({ to }) => to)
    })
  }
}

/**
 * Checks that the receiver has every event of the log except those about itself, no other events, and each node's events in order. `dead`
 * has the dead letters, to explain a late event.
 */
const checkReceived = (log: ReadonlyArray<LoggedEvent>, ids: ReadonlyArray<string>, dead: ReadonlySet<string>) => {
  const byId = new Map(log.map((event) => [event.id, event]))
  expect(ids.filter((id) => !byId.has(id))).toEqual([])
  const received = new Set(ids)
  const missing = log.filter(({ account, id }) => account !== "_daemon" && !received.has(id))
  expect(missing.map(({ account, seq }) => `${account}/${seq}`)).toEqual([])
  const subject = ({ account, node }: LoggedEvent) => `${account}/${node}`
  const inOrder = grouped(
    log.filter(({ id }) => received.has(id)),
    subject
  )
  for (const [node, events] of grouped(
    ids.map((id) => byId.get(id)!),
    subject
  )) {
    const wereDead = events.filter(({ id }) => dead.has(id)).map(({ seq }) => seq)
    expect({ node, wereDead, seqs: events.map(({ seq }) => seq) }).toEqual({
      node,
      wereDead,
      seqs: inOrder.get(node)!.map(({ seq }) => seq)
    })
  }
}

/** Waits until every event is delivered and nothing new has happened for ten sweeps, checks the log, and returns it. */
export const settledLog = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  meanwhile: Effect.Effect<unknown> = Effect.void
) {
  const left = Effect.map(
    Effect.orDie(sql<{ left: bigint }>`SELECT (SELECT count(*) FROM delivery)
      + (SELECT count(*) FROM sink_cursor JOIN account ON account.name = sink_cursor.account WHERE account.seq > sink_cursor.seq) AS left`),
    ([row]) => Number(row!.left)
  )
  for (let quiet = 0; quiet < 20; yield* Effect.sleep("500 millis")) {
    yield* meanwhile
    quiet = (yield* left) === 0 ? quiet + 1 : 0
  }
  const log = (yield* Effect.orDie(
    sql<{ account: string; seq: bigint; id: string; type: string; node: bigint | null; body: string }>`
      SELECT account, seq, id, type, node, body FROM event ORDER BY account, seq`
  )).map((row): LoggedEvent => ({ ...row, seq: Number(row.seq), node: row.node === null ? null : Number(row.node) }))
  checkLog(log)
  return log
})

/** Waits like `settledLog`, and checks what was received, too. */
export const checkDelivered = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  ids: () => ReadonlyArray<string>,
  meanwhile: Effect.Effect<unknown> = Effect.void
) {
  const dead = yield* Effect.orDie(sql<{ id: string }>`SELECT id FROM dead_letter`)
  const log = yield* settledLog(sql, meanwhile)
  checkReceived(log, ids(), new Set(dead.map(({ id }) => id)))
  return log
})

/** A daemon that can be replaced by another process. `millisAhead`: how far its clock is ahead of the time of day. */
export const makeSlot = Effect.fnUntraced(function* (
  millisAhead: number,
  config: string,
  env: Readonly<Record<string, string>>
) {
  const own = { ...env, CLOCK_AHEAD: String(millisAhead), NODE_OPTIONS: `--import=${aheadClock}` }
  const args = ["run", "--config", config, "--requests-per-hour", "1000000", "--fast-interval", "200ms"]
  const outer = yield* Effect.scope
  const begin = Effect.gen(function* () {
    const scope = yield* Scope.fork(outer)
    const daemon = yield* Scope.provide(Daemon.start(args, own), scope)
    return { daemon, scope }
  })
  let present = yield* begin
  return {
    daemon: () => present.daemon,
    replace: Effect.gen(function* () {
      yield* Scope.close(present.scope, Exit.void)
      present = yield* begin
    })
  }
})

/** Faults in random order, each kind about equally often. */
export const drawFaults = (count: number) =>
  Random.shuffle(Array.from({ length: count }, (_, index) => faults[index % faults.length]!))

/** A PostgreSQL, a service with some accounts, two receivers, and a config that names them all. `pager` is a sink only on request. */
export const makeFleet = Effect.fnUntraced(function* (
  accounts: number,
  { hasPager = false, ...options }: PostgresOptions & { readonly hasPager?: boolean } = {}
) {
  const postgres = yield* Postgres.scoped({ settings: ["max_connections=200"], ...options })
  const address = Redacted.make(postgres.url())
  const { makeWorld } = yield* TestServer
  const worlds = yield* Effect.forEach(
    Array.from({ length: accounts }, (_, index) => index),
    (seed) => makeWorld(inDialect({ seed, scenario: "small", clock: "real", rateLimit: { limit: 1_000_000 } }))
  )
  const ops = yield* receiver
  const pager = yield* receiver
  const config = join(yield* folder, "watch.yml")
  writeFileSync(config, configOf(worlds, { ops: ops.url, ...(hasPager ? { pager: pager.url } : {}) }))
  const env = { ...environmentOf(worlds), DATABASE_URL: Redacted.value(address) }
  return { postgres, address, worlds, ops, pager, config, env }
})

export const faltering = Effect.fnUntraced(function* (options: {
  readonly accounts: number
  readonly faults: Iterable<Fault>
}) {
  const { address, config, env, ops, worlds } = yield* makeFleet(options.accounts)
  const slots = yield* Effect.forEach([-1, 0, 1], (times) => makeSlot(times * aheadMillis, config, env))
  for (const { daemon } of slots) yield* wait(() => daemon().ready())
  const sql = Context.get(yield* Layer.build(Store.layerServerReader(address)), SqlClient.SqlClient)
  const owned = Effect.map(
    Effect.orDie(sql<{ name: string; owner: string | null; epoch: bigint }>`SELECT name, owner, epoch FROM account`),
    (rows) => rows.map(({ epoch, name, owner }): Owned => ({ name, owner: owner ?? "", epoch: Number(epoch) }))
  )
  const until = <R>(condition: Effect.Effect<boolean, never, R>) =>
    Effect.gen(function* () {
      const stopwatch = startStopwatch()
      while (!(yield* condition)) {
        stopwatch.expectBelow(maxTakeoverMillis)
        yield* Effect.sleep("50 millis")
      }
      return stopwatch.elapsedMillis()
    })
  yield* until(Effect.map(owned, (all) => all.filter(({ epoch }) => epoch > 0).length > options.accounts))

  const chance = yield* Random.Random
  ops.state.answer = () => (chance.nextDoubleUnsafe() < 1 / 3 ? 503 : 204)
  const loading = yield* Effect.forkChild(load(worlds))
  const takeovers: Array<Takeover> = []
  for (const fault of options.faults) {
    const all = yield* owned
    const ofSlot = ({ daemon }: (typeof slots)[number]) =>
      all.filter(({ owner }) => owner.includes(`:${daemon().program.child.pid}:`))
    const candidates = slots.filter((slot) => ofSlot(slot).length > 0)
    const slot = candidates[yield* Random.nextIntBetween(0, candidates.length - 1)]!
    const { program } = slot.daemon()
    const before = new Map(ofSlot(slot).map(({ epoch, name }) => [name, epoch]))
    if (fault === "cut") {
      yield* Effect.orDie(
        sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'berth-watch' AND pid <> pg_backend_pid()`.pipe(Effect.ignore)
      )
    } else {
      program.signal(({ kill: "SIGKILL", freeze: "SIGSTOP", end: "SIGTERM" } as const)[fault])
      const isTaken = Effect.map(owned, (all) =>
        all.every(({ epoch, name }) => !before.has(name) || epoch > before.get(name)!)
      )
      takeovers.push({ fault, accounts: before.size, millis: yield* until(isTaken) })
    }
    if (fault === "freeze") {
      yield* Effect.sleep(yield* Random.nextIntBetween(0, 12_000))
      program.signal("SIGCONT")
    }
    if (fault === "end") expect((yield* wait(() => slot.daemon().finished())).code).toBe(0)
    if (fault === "end" || fault === "kill") yield* slot.replace
    yield* Effect.sleep(yield* Random.nextIntBetween(500, 5000))
  }
  expect(loading.pollUnsafe(), "the load goes on").toBe(undefined)
  yield* Fiber.interrupt(loading)

  ops.state.answer = () => 204
  const retry = Effect.gen(function* () {
    const { http } = yield* wait(() => slots[0]!.daemon().ready())
    const request = { method: "POST", headers: { "content-type": "application/json" } }
    yield* wait(() => fetch(`${http}/api/sinks/ops/retry`, request).then((reply) => reply.text()))
  })
  const log = yield* checkDelivered(sql, ops.idsTaken, retry)
  return { takeovers, events: log.length, taken: ops.taken.length }
})
