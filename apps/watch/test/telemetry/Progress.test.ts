import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { unwatched } from "../../src/diff/Snapshot.ts"
import { noWords, Progress, stateOf } from "../../src/telemetry/Progress.ts"

const lastSweep = { endedMillis: 1, durationMillis: null, requests: null }
const outage = { message: "503", sinceMillis: 1, isRefusal: false }
const owner = { process: "p", from: null, sinceMillis: 1, isHere: true }

const states = Effect.flatMap(Progress, ({ accounts }) =>
  Effect.map(accounts, (all) => Array.from(all, ([name, { state }]) => `${name} ${state}`))
)

it.effect("an account that is paused stays so, whatever its polling says as it ends", () =>
  Effect.gen(function* () {
    const { accounts, begin, pause, report } = yield* Progress
    yield* report("acme", { state: "degraded", outage, lastSweep, owner })
    yield* pause("acme")
    yield* report("acme", { state: "watching", outage, nextSweepMillis: 5 })
    expect((yield* accounts).get("acme")).toMatchObject({ state: "paused", outage: null, lastSweep, owner })
    yield* TestClock.adjust(7)
    yield* begin("acme")
    const begun = { state: "starting", begunMillis: 7, lastSweep: null, nextSweepMillis: null, owner }
    expect((yield* accounts).get("acme")).toMatchObject(begun)
    yield* report("acme", { state: "watching" })
    expect(yield* states).toEqual(["acme watching"])
  }).pipe(Effect.provide(Progress.layer(["acme"])))
)

it.effect("an account that was removed is not shown until it comes again", () =>
  Effect.gen(function* () {
    const { begin, remove, report } = yield* Progress
    yield* remove("acme")
    yield* report("acme", { state: "watching" })
    expect(yield* states).toEqual(["other starting"])
    yield* begin("acme")
    expect(yield* states).toEqual(["other starting", "acme starting"])
  }).pipe(Effect.provide(Progress.layer(["acme", "other"])))
)

it("a doubt about the list lasts until its end is reported", () => {
  const standing = { ...unwatched.standing, baselineMillis: 1 }
  const doubt = { doubt: "list-empty", sinceMillis: 5 } as const
  for (const doubted of [{ freeze: doubt }, { settling: doubt }]) {
    expect(stateOf({ ...standing, ...doubted }, noWords)).toMatchObject({
      state: "frozen",
      doubt: { sinceMillis: 5, isOther: false }
    })
  }
  expect(stateOf({ ...standing, settling: null }, noWords)).toMatchObject({ state: "watching", doubt: null })
})
