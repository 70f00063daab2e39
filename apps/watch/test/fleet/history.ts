/**
 * Three daemons on one store. They are killed, frozen, cut off, ended and started again, and accounts are given to two of them at once. One
 * seed decides everything.
 */
import * as Berth from "@berthkit/core/client/Berth"
import { Nodes } from "@berthkit/core/client/Nodes"
import {
  Cause,
  Clock,
  Console,
  Context,
  Effect,
  Exit,
  type Fiber,
  Layer,
  Random,
  Redacted,
  References,
  Scheduler,
  type Scope
} from "effect"
import { SqlClient } from "effect/sql"
import { openAccount } from "../../src/account/WatchedAccount.ts"
import { keepConditions } from "../../src/daemon/keepConditions.ts"
import { MakeAttempt, Sinks } from "../../src/deliver/Sinks.ts"
import { Stdout } from "../../src/deliver/Stdout.ts"
import { defaultRules } from "../../src/diff/Snapshot.ts"
import { type Part, runFleet } from "../../src/fleet/runFleet.ts"
import { makeMoments } from "../../src/observe/Moments.ts"
import { hourly } from "../../src/observe/RequestShare.ts"
import { makePoller } from "../../src/observe/Poller.ts"
import { SharedStore } from "../../src/store/peers.ts"
import { stdoutSink } from "../../src/settings/storeSettings.ts"
import { Store } from "../../src/store/Store.ts"
import { mayPass, StoreFailed } from "../../src/store/StoreFailed.ts"
import { Progress } from "../../src/telemetry/Progress.ts"
import { Troubles } from "../../src/troubles/Troubles.ts"
import { chanceFrom } from "../diff/Chance.ts"
import { Cloud, Recipient } from "./Cloud.ts"
import { Database, type Fence } from "./Database.ts"
import type { Tables } from "./Tables.ts"
import { problemsOf } from "./problemsOf.ts"
import { Engine } from "./Engine.ts"
import { beganMillis, Machine, Simulation } from "./Simulation.ts"

/** Every other history has two accounts. */
const namesOf = (seed: number): ReadonlyArray<string> => (seed % 2 === 0 ? ["eu", "us"] : ["eu"])
const hosts = ["one", "two", "three"]
const maxAheadMillis = 240_000

/** How long faults happen, and the maximum time after that until everything is reported and delivered. */
const faultyMillis = 18_000
const stepMillis = 3000
const maxSettlingMillis = 120_000

const rules = { ...defaultRules, graceMillis: 2000, terminatingGraceMillis: 1000, holdMillis: 2000 }

const sink = { ...stdoutSink, name: "ops", maxLag: 100_000 }

const credentials = { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }

/** The time from the death of a process until the server of the store notices it. */
const noticedMillis = 100

/** The maximum time between two silences, and the maximum duration of a silence. */
const maxSilencePauseMillis = 6000
const maxSilenceMillis = 8000

/** Makes all deliveries due at once, as a person can. */
const retry = (tables: Tables) => {
  tables.rows("UPDATE delivery SET attempt = 0, due = 0 WHERE attempt > 0")
  tables.rows("UPDATE sink SET orders = orders + 1")
}

/** A process that was asked to end is killed after this time. */
const maxEndMillis = 5000

/** Nobody reads what the daemons report. */
const silent = Object.assign(Object.create(console), { error: () => {} })

/** A daemon may end if it was asked to, or if it cannot reach its store when it starts. */
const isExpected = (exit: Exit.Exit<never, StoreFailed>): boolean => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return true
  const failure = Cause.squash(exit.cause)
  return failure instanceof StoreFailed && mayPass(failure)
}

export interface HistoryOptions {
  readonly seed: number
  /** A fence to take out. Default: none. */
  readonly without?: Fence
}

/** Plays one history; returns what is wrong at its end. */
export const livedThrough = (tables: Tables, { seed, without }: HistoryOptions) => {
  tables.clear()
  const names = namesOf(seed)
  const chance = chanceFrom(seed)
  const simulation = new Simulation(chance)
  const database = new Database(simulation, tables, without)
  const clouds = new Map(names.map((name) => [name, new Cloud(simulation)]))
  const recipient = new Recipient(simulation)
  const engine = new Engine(simulation)
  const problems: Array<string> = []
  let isCalm = false

  /** Polls an account for as long as its machine has it. */
  const watch = (machine: Machine, name: string): Part => ({
    name,
    run: Effect.gen(function* () {
      const options = { baseUrl: "https://cloud.test", credentials }
      const client = yield* Layer.build(
        Layer.orDie(Berth.layerOver(options, clouds.get(name)!.transport(machine), Layer.empty))
      )
      const moments = yield* makeMoments
      const watched = yield* openAccount({ name, fingerprint: name, begun: yield* moments.now })
      const poller = yield* makePoller({
        nodes: Context.get(client, Nodes),
        moments,
        watch: watched,
        rules,
        intervalMillis: 1500,
        fastIntervalMillis: 500,
        budget: Effect.succeed(hourly(20_000)),
        areCredentialsNew: false
      })
      return yield* poller.run
    })
  })

  const daemon = (machine: Machine): Effect.Effect<never, StoreFailed, Scope.Scope> => {
    const shared = Layer.effect(
      SharedStore,
      Effect.map(SqlClient.SqlClient, (sql) => ({
        self: machine.name,
        announce: sql`SELECT 'announce' AS announced`,
        renew: Effect.void,
        listen: (onNews: () => void) =>
          Effect.andThen(
            Effect.sync(() => database.listen(machine, onNews)),
            Effect.never
          ),
        join: () => Effect.void,
        processes: Effect.succeed([machine.name])
      }))
    )
    const layers = Troubles.layer(null).pipe(
      Layer.provideMerge(Sinks.layer([sink], names)),
      Layer.provideMerge(Layer.mergeAll(Store.layerShared, Progress.layer(names))),
      Layer.provideMerge(shared),
      Layer.provideMerge(Layer.effect(SqlClient.SqlClient, database.client(machine))),
      Layer.provideMerge(engine.layer(machine)),
      Layer.provide(Layer.succeed(Stdout, { write: () => Effect.void }))
    )
    return Effect.gen(function* () {
      const { run } = yield* Sinks
      yield* runFleet(names.map((name) => watch(machine, name)))
      if (seed % 8 === 2) yield* Effect.forkScoped(keepConditions)
      return yield* Effect.orDie(run)
    }).pipe(Effect.provide(layers))
  }

  /** Starts a process on a host, and starts it again whenever it has ended. */
  const start = (host: string): void => {
    const aheadMillis = chance.below(2 * maxAheadMillis) - maxAheadMillis
    const machine = new Machine(simulation, `${host}:${simulation.nowMillis}`, aheadMillis)
    const numbers = chanceFrom(chance.below(2 ** 31))
    const random = {
      nextDoubleUnsafe: () => numbers.below(2 ** 31) / 2 ** 31,
      nextIntUnsafe: () => numbers.below(2 ** 31)
    }
    const context = Context.make(Scheduler.Scheduler, machine.scheduler).pipe(
      Context.add(References.TracerEnabled, false),
      Context.add(Clock.Clock, machine.clock),
      Context.add(Random.Random, random),
      Context.add(Console.Console, silent),
      Context.add(MakeAttempt, () => Effect.succeed((id: string) => recipient.attempt(machine, id)))
    )
    const restart = (millis: number) => {
      if (machine.state === "dead") return
      machine.die()
      simulation.after(noticedMillis, () => database.disconnect(machine))
      simulation.after(millis, () => start(host))
    }
    let fiber: Fiber.Fiber<never, StoreFailed> | undefined
    engine.join(machine)
    machine.enqueue(() => {
      fiber = Effect.runForkWith(context)(Effect.scoped(daemon(machine)))
      fiber.addObserver((exit) => {
        if (!isExpected(exit)) problems.push(`${machine.name} ended: ${String(exit)}`)
        restart(500)
      })
    })

    const fault = () => {
      if (isCalm || machine.state === "dead") return
      const lastingMillis = 1 + chance.below(chance.happens(0.5) ? 5000 : 18_000)
      machine.soon(chance.below(60), () => {
        switch (chance.oneOf(["kill", "freeze", "cut", "end"])) {
          case "kill":
            return restart(chance.below(3000))
          case "freeze":
            machine.freeze()
            return simulation.after(lastingMillis, () => machine.thaw())
          case "cut":
            machine.isCut = true
            simulation.after(chance.below(5000), () => database.disconnect(machine))
            return simulation.after(lastingMillis, () => {
              machine.isCut = false
              database.disconnect(machine)
              database.reconnect(machine)
            })
          case "end":
            machine.enqueue(() => fiber?.interruptUnsafe())
            return simulation.after(maxEndMillis, () => restart(500))
        }
      })
      simulation.after(1000 + chance.below(12_000), fault)
    }
    simulation.after(chance.below(8000), fault)
  }

  /** How a person ends each silence that is in force. */
  let silenced = 0
  const silences = new Map<string, (tables: Tables) => void>()

  /** A person silences an account, or all, and ends that later. The silence begins and ends at once by the clock of each machine. */
  const silence = () => {
    if (isCalm) return
    const id = `s${++silenced}`
    const accounts = chance.happens(0.5) ? [] : [chance.oneOf(names)]
    const [fromMillis, untilMillis] = [simulatedNow() - maxAheadMillis, simulatedNow() + 3_600_000]
    const atEnd = chance.happens(0.7) ? "deliver" : "drop"
    database.order((tables) =>
      tables.rows(
        "INSERT INTO silence (id, nodes, accounts, sinks, from_at, until_at, reason, at_end) VALUES (?, '[]', ?, '[]', ?, ?, '', ?)",
        [id, JSON.stringify(accounts), fromMillis, untilMillis, atEnd]
      )
    )
    silences.set(id, (tables) =>
      tables.rows("UPDATE silence SET until_at = ? WHERE id = ?", [simulatedNow() - maxAheadMillis, id])
    )
    simulation.after(chance.below(maxSilenceMillis), () => {
      const end = silences.get(id)
      silences.delete(id)
      if (end !== undefined) database.order(end)
    })
    simulation.after(chance.below(maxSilencePauseMillis), silence)
  }
  const simulatedNow = () => beganMillis + simulation.nowMillis

  for (const host of hosts) simulation.after(chance.below(2000), () => start(host))
  simulation.after(chance.below(faultyMillis), () => database.order(retry))
  // Every other history has silences.
  if (seed % 4 > 1) simulation.after(chance.below(maxSilencePauseMillis), silence)
  simulation.runUntil(faultyMillis)
  isCalm = true
  for (const end of silences.values()) database.order(end)
  recipient.isCalm = true
  for (const cloud of clouds.values()) cloud.isCalm = true
  engine.isCalm = true
  const found = (): ReadonlyArray<string> => problemsOf({ tables, clouds, received: recipient.ids })
  let left = found()
  for (
    let until = faultyMillis + stepMillis;
    left.length > 0 && until < faultyMillis + maxSettlingMillis;
    until += stepMillis
  ) {
    simulation.runUntil(until)
    left = found()
  }
  return { problems: [...problems, ...database.problems, ...left], taken: recipient.ids }
}
