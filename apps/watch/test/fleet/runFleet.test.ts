import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Sinks } from "../../src/deliver/Sinks.ts"
import { Stdout } from "../../src/deliver/Stdout.ts"
import { Placement } from "../../src/fleet/Placement.ts"
import { runFleet } from "../../src/fleet/runFleet.ts"
import { SharedStore } from "../../src/store/peers.ts"
import { StoreFailed } from "../../src/store/StoreFailed.ts"
import { Progress } from "../../src/telemetry/Progress.ts"
import { Troubles } from "../../src/troubles/Troubles.ts"
import { memoryStore } from "../store/memory.ts"

const shared = Layer.mock(SharedStore, { self: "one", processes: Effect.succeed(["one"]) })

/** Assigns everything to this process, and never takes anything away. */
const placement = Layer.succeed(Placement, {
  place: (_, run) => Effect.asVoid(Effect.forkScoped(run))
})

const layer = Layer.mergeAll(shared, placement, Troubles.layer(null)).pipe(
  Layer.provideMerge(Sinks.layerAtRest([])),
  Layer.provideMerge(Layer.mergeAll(Progress.layer(["acme"]), memoryStore, Stdout.layer))
)

it.effect("an account that was taken over and given back is watched again within 3 seconds", () =>
  Effect.gen(function* () {
    let starts = 0
    const run = Effect.suspend(() => {
      starts += 1
      return starts === 1 ? new StoreFailed({ fault: "lost", detail: "acme is no longer in epoch 1" }) : Effect.never
    })
    yield* runFleet([{ name: "acme", run }])
    yield* TestClock.adjust("2900 millis")
    expect(starts).toBe(1)
    yield* TestClock.adjust("100 millis")
    expect(starts).toBe(2)
  }).pipe(Effect.scoped, Effect.provide(layer))
)
