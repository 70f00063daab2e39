import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { replaySink } from "../../src/commands/sinks.ts"
import { restingDaemon } from "../../src/daemon/restingDaemon.ts"
import { Stdout } from "../../src/deliver/Stdout.ts"
import { stdoutSink } from "../../src/settings/storeSettings.ts"
import { defaultRetention } from "../../src/store/retention.ts"
import { Store } from "../../src/store/Store.ts"
import { created } from "../store/facts.ts"
import { memoryStore } from "../store/memory.ts"

describe("a replay from the beginning", () => {
  it.effect("says from when on events are kept", () =>
    Effect.gen(function* () {
      const { claim, commit, meet, prune } = yield* Store
      const { owner } = yield* claim("acme")
      yield* meet("ops")
      const dayMillis = 86_400_000
      yield* commit(owner, { events: [created(1, 0), created(2, 10 * dayMillis)] })
      yield* TestClock.adjust(11 * dayMillis)
      yield* prune({ ...defaultRetention, eventsMillis: 5 * dayMillis }, [])
      const daemon = yield* restingDaemon([{ ...stdoutSink, name: "ops" }], false)
      yield* replaySink(daemon, "ops", "")
      expect(yield* TestConsole.logLines).toEqual([
        "The sink ops gets all kept events, from 1970-01-11T00:00:00.000Z on, again."
      ])
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(memoryStore, Stdout.layer)))
  )
})
