/** Tests which troubles of a single process are kept in the store, and who ends them. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer, Scope } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { status } from "../../src/commands/status.ts"
import { keepConditions } from "../../src/daemon/keepConditions.ts"
import { restingDaemon } from "../../src/daemon/restingDaemon.ts"
import { delivered, failed, type Outcome } from "../../src/deliver/Health.ts"
import { MakeAttempt, Sinks } from "../../src/deliver/Sinks.ts"
import { Stdout } from "../../src/deliver/Stdout.ts"
import { stdoutSink } from "../../src/settings/storeSettings.ts"
import { Store } from "../../src/store/Store.ts"
import { Progress } from "../../src/telemetry/Progress.ts"
import { Troubles } from "../../src/troubles/Troubles.ts"
import { created } from "../store/facts.ts"
import { memoryStore } from "../store/memory.ts"

const layer = Layer.merge(memoryStore, Stdout.layer)

const sink = { ...stdoutSink, name: "ops" }

/** A process over the test's store; returns its progress, and an effect that ends it. */
const start = Effect.fnUntraced(function* (answer: Effect.Effect<Outcome>) {
  const scope = yield* Scope.make()
  const layers = Troubles.layer(null).pipe(
    Layer.provideMerge(Sinks.layer([sink], ["acme"])),
    Layer.provideMerge(Progress.layer(["acme"])),
    Layer.provide(Layer.succeed(MakeAttempt, () => Effect.succeed(() => answer)))
  )
  const context = yield* Layer.buildWithScope(layers, scope)
  const { report } = yield* Effect.provide(Progress, context)
  const { run } = yield* Effect.provide(Sinks, context)
  yield* Effect.forkIn(run, scope)
  yield* Effect.forkIn(Effect.provide(keepConditions, context), scope)
  return { report, end: Scope.close(scope, Exit.void) }
})

/** The troubles that a command shows if it reaches no process. */
const shown = Effect.scoped(
  Effect.map(
    Effect.flatMap(restingDaemon([sink], true), ({ troubles }) => troubles),
    (troubles) => troubles.map(({ about, message, name }) => ({ name, about: about.name, message }))
  )
)
const names = Effect.map(shown, (troubles) => troubles.map(({ name }) => name))

const fails = Effect.succeed<Outcome>(failed("unavailable", "connection refused"))

describe("what only the owner of an account knows", () => {
  it.effect("is shown by every reader of the store, in the words of its owner", () =>
    Effect.gen(function* () {
      yield* (yield* Store).claim("acme")
      const { report } = yield* start(Effect.succeed(delivered))
      const outage = { message: "The key is refused.", sinceMillis: 0, isRefusal: true }
      yield* report("acme", { state: "degraded", outage, unreadable: { count: 2, example: "node 4" } })
      yield* TestClock.adjust("3 seconds")
      expect(yield* shown).toEqual([
        {
          name: "account-refused",
          about: "acme",
          message: "The credentials of the account do not work. The key is refused."
        },
        {
          name: "records-unreadable",
          about: "acme",
          message: expect.stringContaining("There are 2, for example node 4")
        }
      ])
      yield* report("acme", { state: "watching", outage: null, unreadable: null })
      yield* TestClock.adjust("3 seconds")
      expect(yield* shown).toEqual([])
    }).pipe(Effect.provide(layer))
  )

  it.effect("about a receiver ends only after a delivery, whichever process has the account by then", () =>
    Effect.gen(function* () {
      const { claim, commit } = yield* Store
      const { owner } = yield* claim("acme")
      const first = yield* start(fails)
      yield* TestClock.adjust("1 second")
      yield* commit(owner, { events: [created(1, 1), created(2, 1), created(3, 1)] })
      yield* TestClock.adjust("10 seconds")
      expect(yield* names).toEqual(["sink-down"])
      yield* first.end
      const answer = yield* Deferred.make<Outcome>()
      yield* start(Deferred.await(answer))
      yield* TestClock.adjust("10 seconds")
      expect(yield* names).toEqual(["sink-down"])
      yield* Deferred.succeed(answer, delivered)
      yield* TestClock.adjust("10 minutes")
      expect(yield* names).toEqual([])
    }).pipe(Effect.provide(layer))
  )
})

describe("status", () => {
  it.effect("does not say that all is well while no process answers", () =>
    Effect.gen(function* () {
      const daemon = yield* restingDaemon([sink], true)
      const head = Effect.fnUntraced(function* (isAnswered: boolean) {
        yield* status("text")(daemon, { pid: null, http: null, processes: ["one"] }, isAnswered)
        return String((yield* TestConsole.logLines).at(-1)).split("\n")[0]
      })
      expect(yield* head(true)).toBe("All well.")
      expect(yield* head(false)).toBe("No daemon could be reached over HTTP. The store shows no problem.")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("does not say that all is well before the first sweep of each account has ended", () =>
    Effect.gen(function* () {
      const { claim, commit } = yield* Store
      yield* claim("acme")
      const { owner } = yield* claim("zeta")
      const head = Effect.gen(function* () {
        const daemon = yield* restingDaemon([sink], true)
        yield* status("text")(daemon, { pid: 1, http: "http://x", processes: [] }, true)
        return String((yield* TestConsole.logLines).at(-1)).split("\n")[0]
      })
      expect(yield* head).toBe("Starting. The first sweep of 2 accounts is under way.")
      yield* commit(owner, { sweptAtMillis: 1 })
      expect(yield* head).toBe("Starting. The first sweep of 1 of 2 accounts is under way.")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("does not say that all is well after a failure that is no trouble yet, but what failed and why", () =>
    Effect.gen(function* () {
      const { claim, commit } = yield* Store
      const { owner } = yield* claim("acme")
      const answers: Array<Outcome> = [failed("refused", "it ended with 1: no such room"), delivered]
      yield* start(Effect.sync(() => answers.shift() ?? delivered))
      yield* TestClock.adjust("1 second")
      yield* commit(owner, { events: [created(1, 1)], sweptAtMillis: 1 })
      yield* TestClock.adjust("3 seconds")
      const daemon = yield* restingDaemon([sink], true)
      const shown = Effect.fnUntraced(function* (pid: number | null) {
        yield* status("text")(daemon, pid === null ? null : { pid, http: "http://x", processes: [] }, pid !== null)
        const lines = String((yield* TestConsole.logLines).at(-1)).split("\n")
        return [lines[0], lines.find((line) => line.startsWith("sink "))]
      })
      const line = "sink ops (stdout): retrying, lag 0, waiting 1, dead letters 0; it ended with 1: no such room"
      const head = "No problem yet, but deliveries to ops failed and are retried."
      expect(yield* shown(1)).toEqual([head, line])
      expect(yield* shown(null)).toEqual([`No daemon runs. ${head}`, line])
      yield* TestClock.adjust("8 seconds")
      expect((yield* shown(1))[0]).toBe("All well.")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
