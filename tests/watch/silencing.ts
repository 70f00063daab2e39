/**
 * Three daemons share a store. At random, silences begin, end and are dropped, processes are killed, frozen and ended, the store's server
 * is away, and sinks and services fail and recover. In the end each sink has every event that its silences allow, and every process has
 * shown each trouble as long as it lasted.
 */
import type { TestWorld } from "@berthkit/server/testing"
import { Store } from "@berthkit/watch/store/Store"
import { expect } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Random } from "effect"
import { SqlClient } from "effect/sql"
import { load, makeFleet, makeSlot, settledLog } from "./faltering.ts"
import { deliveryComplaints, type Cause, type Sample, type Silenced, troubleComplaints } from "./silencingRules.ts"
import { wait } from "./Scene.ts"

const steps = {
  silence: 6,
  endSilence: 4,
  kill: 3,
  end: 2,
  freeze: 2,
  away: 1,
  fail: 4,
  recover: 3
} as const
type Step = keyof typeof steps

/** The steps in random order, each as often as it should occur. */
export const drawSteps = (count: number) => {
  const all = Object.entries(steps).flatMap(([step, often]) => Array.from({ length: often }, () => step as Step))
  return Random.shuffle(Array.from({ length: count }, (_, index) => all[(index * 7) % all.length]!))
}

const second = 1000

/** A failure lasts longer than any process may take to show it. */
const minCauseMillis = 30 * second

const nowMillis = (): number => Date.now()
const instantAfter = (millis: number): string => new Date(nowMillis() + millis).toISOString()

const pick = <A>(all: ReadonlyArray<A>) => Effect.map(Random.nextIntBetween(0, all.length - 1), (index) => all[index]!)

const post = (url: string, body: unknown) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10 * second)
  })

export const silencing = Effect.fnUntraced(function* (options: {
  readonly accounts: number
  readonly steps: Iterable<Step>
}) {
  const { address, config, env, ops, pager, postgres, worlds } = yield* makeFleet(options.accounts, { hasPager: true })
  const receivers = { ops, pager }
  const names = worlds.map((_, index) => `a${index}`)
  const slots = yield* Effect.forEach([0, 0, 0], (millisAhead) =>
    Effect.map(makeSlot(millisAhead, config, env), (slot) => ({
      ...slot,
      http: null as string | null,
      /** Since when the process could know everything; null while it cannot. */
      wellSinceMillis: null as number | null
    }))
  )
  type Slot = (typeof slots)[number]
  /** Waits until a process is ready. If it has ended because its store was away, starts it again, like a supervisor. */
  const begun = Effect.fnUntraced(function* (slot: Slot) {
    for (;;) {
      const ready = yield* wait(() => {
        const daemon = slot.daemon()
        return Promise.race([daemon.ready(), daemon.finished().then(() => null)]).catch(() => null)
      })
      if (ready !== null) {
        slot.http = ready.http
        slot.wellSinceMillis = nowMillis()
        return
      }
      yield* slot.replace
    }
  })
  yield* Effect.forEach(slots, begun, { discard: true })
  const sql = Context.get(yield* Layer.build(Store.layerServerReader(address)), SqlClient.SqlClient)
  const unread = Effect.map(
    Effect.orDie(sql<{ count: bigint }>`SELECT count(*) AS count FROM account WHERE seq > 0 AND name <> '_daemon'`),
    ([row]) => Number(row!.count) < options.accounts
  )
  while (yield* unread) yield* Effect.sleep("100 millis")

  const samples: Array<Sample> = []
  const sample = Effect.gen(function* () {
    for (;;) {
      yield* Effect.forEach(
        slots,
        (slot, index) =>
          wait(async () => {
            const { http, wellSinceMillis } = slot
            if (http === null || wellSinceMillis === null) return
            const askedMillis = nowMillis()
            const reply = await fetch(`${http}/api/status`, { signal: AbortSignal.timeout(5 * second) }).catch(
              () => null
            )
            const status: any = reply?.ok === true ? await reply.json().catch(() => null) : null
            if (status === null || slot.wellSinceMillis !== wellSinceMillis) return
            const troubles = status.troubles.map(({ about, name }: any) => `${name} ${about.name}`)
            samples.push({ slot: index, askedMillis, answeredMillis: nowMillis(), wellSinceMillis, troubles })
          }),
        { concurrency: "unbounded", discard: true }
      )
      yield* Effect.sleep("1 second")
    }
  })

  /** Asks some healthy process, until one answers. */
  const ask = Effect.fnUntraced(function* (path: string, body: unknown) {
    for (;;) {
      const { http } = yield* pick(slots.filter(({ wellSinceMillis }) => wellSinceMillis !== null))
      const reply = yield* wait(() => post(`${http}${path}`, body).catch(() => null))
      if (reply?.ok === true) return yield* wait(() => reply.json() as Promise<any>)
      // The silence may have ended in the meantime.
      if (reply?.status === 422 || reply?.status === 400) return null
      yield* Effect.sleep("200 millis")
    }
  })

  const open = new Set<string>()
  const causes: Array<Cause> = []
  const ended = new Map<string, Effect.Effect<unknown>>()
  const begin = (key: string, names: ReadonlyArray<string>, undo: Effect.Effect<unknown>) => {
    const cause: Cause = { key, names, fromMillis: nowMillis(), toMillis: Infinity }
    causes.push(cause)
    ended.set(
      key,
      Effect.suspend(() => {
        cause.toMillis = nowMillis()
        ended.delete(key)
        return undo
      })
    )
  }

  const failSink = Effect.fnUntraced(function* (name: "ops" | "pager") {
    const { state } = receivers[name]
    const status = (yield* Random.next) < 0.7 ? 503 : 404
    const undo = Effect.suspend(() => {
      state.answer = () => 204
      return ask(`/api/sinks/${name}/retry`, {})
    })
    begin(name, ["sink-down", "sink-failing"], undo)
    state.answer = () => status
  })

  const failService = Effect.fnUntraced(function* (index: number) {
    const { arm } = worlds[index]! as TestWorld
    const status = (yield* Random.next) < 0.5 ? 503 : 401
    begin(names[index]!, [status === 503 ? "service-failing" : "account-refused"], arm([]))
    yield* arm([{ fault: "status", status }])
  })

  /** Takes a healthy process out of service, unless it is the last one. */
  const takeOut = Effect.gen(function* () {
    const well = slots.filter(({ wellSinceMillis }) => wellSinceMillis !== null)
    if (well.length < 2) return null
    const slot = yield* pick(well)
    slot.wellSinceMillis = null
    return slot
  })

  const back = (slot: Slot) => Effect.andThen(slot.replace, begun(slot))

  const take: Readonly<Record<Step, Effect.Effect<unknown, never, any>>> = {
    silence: Effect.gen(function* () {
      const some = (yield* Random.shuffle(names)).slice(0, yield* Random.nextIntBetween(1, 4))
      const lasting = (yield* Random.next) < 0.5 ? 3600 : yield* Random.nextIntBetween(2, 15)
      const sinks = (yield* Random.next) < 0.5 ? [] : [yield* pick(["ops", "pager"])]
      const made = yield* ask("/api/silences", {
        accounts: (yield* Random.next) < 0.3 ? names : some,
        sinks,
        until: instantAfter(lasting * second),
        reason: "work",
        then: (yield* Random.next) < 0.6 ? "deliver" : "drop"
      })
      if (lasting === 3600 && made !== null) open.add(made.id)
    }),
    endSilence: Effect.gen(function* () {
      if (open.size === 0) return
      const id = yield* pick(Array.from(open))
      open.delete(id)
      const draw = yield* Random.next
      yield* ask(`/api/silences/${id}/end`, draw < 0.4 ? {} : { then: draw < 0.7 ? "deliver" : "drop" })
    }),
    kill: Effect.gen(function* () {
      const slot = yield* takeOut
      if (slot === null) return
      yield* wait(() => slot.daemon().program.kill("SIGKILL"))
      yield* Effect.forkChild(Effect.andThen(Effect.sleep((yield* Random.nextIntBetween(0, 10)) * second), back(slot)))
    }),
    end: Effect.gen(function* () {
      const slot = yield* takeOut
      if (slot === null) return
      const { code } = yield* wait(() => slot.daemon().program.kill("SIGTERM"))
      expect(code).toBe(0)
      yield* back(slot)
    }),
    freeze: Effect.gen(function* () {
      const slot = yield* takeOut
      if (slot === null) return
      const { program } = slot.daemon()
      program.signal("SIGSTOP")
      const thaw = Effect.sync(() => {
        program.signal("SIGCONT")
        slot.wellSinceMillis = nowMillis()
      })
      yield* Effect.forkChild(Effect.andThen(Effect.sleep((yield* Random.nextIntBetween(1, 14)) * second), thaw))
    }),
    away: Effect.gen(function* () {
      const well = slots.filter(({ wellSinceMillis }) => wellSinceMillis !== null)
      for (const slot of slots) slot.wellSinceMillis = null
      yield* wait(() => postgres.stop("SIGQUIT"))
      yield* Effect.sleep((yield* Random.nextIntBetween(1, 8)) * second)
      yield* wait(() => postgres.start())
      for (const slot of well) slot.wellSinceMillis = nowMillis()
    }),
    fail: Effect.gen(function* () {
      const draw = yield* Random.next
      if (draw < 0.4) {
        const name = yield* pick(["ops", "pager"] as const)
        if (!ended.has(name)) yield* failSink(name)
      } else {
        const index = yield* Random.nextIntBetween(0, names.length - 1)
        if (!ended.has(names[index]!)) yield* failService(index)
      }
    }),
    recover: Effect.suspend(() => {
      const lasting = causes.filter(
        ({ fromMillis, toMillis }) => toMillis === Infinity && nowMillis() - fromMillis > minCauseMillis
      )
      return lasting.length === 0 ? Effect.void : Effect.flatMap(pick(lasting), ({ key }) => ended.get(key)!)
    })
  }

  const loading = yield* Effect.forkChild(load(worlds))
  const sampling = yield* Effect.forkChild(sample)
  for (const step of options.steps) {
    yield* take[step]
    yield* Effect.sleep(yield* Random.nextIntBetween(200, 3000))
  }
  expect(loading.pollUnsafe(), "the load goes on").toBe(undefined)
  yield* Fiber.interrupt(loading)

  while (slots.some(({ wellSinceMillis }) => wellSinceMillis === null)) yield* Effect.sleep("100 millis")
  for (const undo of Array.from(ended.values())) yield* undo
  const listed = yield* wait(() => fetch(`${slots[0]!.http}/api/silences`).then((reply) => reply.json() as any))
  for (const { id, state } of listed.silences) if (state !== "over") yield* ask(`/api/silences/${id}/end`, {})
  const retry = Effect.andThen(ask("/api/sinks/ops/retry", {}), ask("/api/sinks/pager/retry", {}))
  const log = yield* settledLog(sql, retry)
  yield* Fiber.interrupt(sampling)

  const silences = (yield* Effect.orDie(
    sql<any>`SELECT id, accounts, sinks, from_at, until_at, at_end FROM silence`
  )).map((row): Silenced => ({
    id: row.id,
    accounts: JSON.parse(row.accounts),
    sinks: JSON.parse(row.sinks),
    fromMillis: Number(row.from_at),
    untilMillis: Number(row.until_at),
    isDropped: row.at_end === "drop"
  }))
  const received = Object.entries(receivers).map(([sink, { takenAtMillis }]) => {
    const { complaints, dropped, held } = deliveryComplaints({ sink, log, silences, takenAtMillis })
    expect({ sink, complaints }).toEqual({ sink, complaints: [] })
    return { dropped, held }
  })
  const { complaints, judged, shown } = troubleComplaints({ causes, samples, log })
  expect(complaints).toEqual([])
  return {
    events: log.length,
    held: received.reduce((sum, { held }) => sum + held, 0),
    dropped: received.reduce((sum, { dropped }) => sum + dropped, 0),
    silences: silences.length,
    causes: causes.length,
    shown,
    /** How many times a process was checked that should have shown a trouble that another process had shown. */
    judged
  }
})
