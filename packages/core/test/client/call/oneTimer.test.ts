/** A call needs one timer: the earlier of its two limits ends its attempt, and the deadline ends every other wait. */
import { layer, nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber } from "effect"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"

const id = NodeId.make(1)

/** The clock of a call, and the seconds of each sleep on it. */
const notedClock = Effect.map(Clock.Clock, (clock) => {
  const seconds: Array<number> = []
  const noted: Clock.Clock = Object.assign(Object.create(clock), {
    sleep: (duration: Duration.Duration) => {
      seconds.push(Duration.toSeconds(duration))
      return clock.sleep(duration)
    }
  })
  return { noted, seconds }
})

const get = (deadline: Duration.Input) => Nodes.use((nodes) => nodes.get(id, { deadline }))

describe("a call", () => {
  for (const [deadline, seconds] of [
    ["60 seconds", 15],
    ["4 seconds", 4]
  ] as const) {
    it.effect(`with a deadline of ${deadline} sets one timer of ${seconds} s for an attempt of at most 15 s`, () =>
      Effect.gen(function* () {
        const clock = yield* notedClock
        yield* Effect.provideService(get(deadline), Clock.Clock, clock.noted)
        assert.deepStrictEqual(clock.seconds, [seconds])
      }).pipe(Effect.provide(layer(() => ok(nodeRecord({ id })))))
    )
  }

  it.effect("that waits for its turn ends at its deadline, and has sent nothing", () => {
    // The first call learns the rate limit, so the others wait for its reply.
    const client = layer(() => Effect.never)
    return Effect.gen(function* () {
      const first = yield* Effect.forkChild(Effect.flip(get("10 seconds")))
      yield* Effect.yieldNow
      const before = yield* Clock.currentTimeMillis
      const { attempts, reason } = yield* inTime(Effect.flip(get("4 seconds")))
      assert.strictEqual((yield* Clock.currentTimeMillis) - before, 4000)
      assert.deepInclude(reason, { _tag: "TimedOut", limit: "deadline", afterMillis: 4000, sent: "no" })
      assert.deepStrictEqual(attempts, [])
      assert.strictEqual((yield* inTime(Fiber.join(first))).reason._tag, "TimedOut")
    }).pipe(Effect.provide(client))
  })

  it.effect("with an earlier deadline is interrupted on the wire, and not retried", () => {
    let requests = 0
    const client = layer(() => {
      requests++
      return Effect.never
    })
    return Effect.gen(function* () {
      const { attempts, reason } = yield* inTime(Effect.flip(get("4 seconds")))
      assert.deepInclude(reason, { _tag: "TimedOut", limit: "deadline", afterMillis: 4000, sent: "maybe" })
      assert.deepStrictEqual(
        attempts.map(({ durationMillis, outcome }) => [durationMillis, outcome]),
        [[4000, "interrupted"]]
      )
      assert.strictEqual(requests, 1)
    }).pipe(Effect.provide(client))
  })
})
