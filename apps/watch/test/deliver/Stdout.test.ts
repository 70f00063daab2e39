import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Result } from "effect"
import { Writable } from "node:stream"
import { makeEventLog } from "../../src/deliver/EventLog.ts"
import { Stdout } from "../../src/deliver/Stdout.ts"
import type { Fact } from "../../src/diff/Fact.ts"
import { toEvent } from "../../src/events/Event.ts"
import { endedBy } from "../../src/process/CommandFailed.ts"

const instant = DateTime.makeUnsafe(0)
const empty: Fact = {
  identity: { nodeId: null, incarnation: null, life: null, version: 0 },
  atMillis: 0,
  type: "berth.watch.baseline",
  data: { count: 0, observedBetween: [instant, instant], sweep: 1 }
}
const event = (sequence: number) => toEvent(empty, "acme", sequence)
const events = (count: number) => Array.from({ length: count }, (_, index) => event(index + 1))

const failing = (code: string) =>
  new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error("no"), { code })) })

describe("stdout", () => {
  it.effect("has taken a text only when the system has", () => {
    let taken: (() => void) | undefined
    const slow = new Writable({ write: (_chunk, _encoding, done) => void (taken = done) })
    return Effect.gen(function* () {
      const { write } = yield* Stdout
      const writing = yield* Effect.forkChild(write("line\n"), { startImmediately: true })
      expect(writing.pollUnsafe()).toBeUndefined()
      taken!()
      yield* Fiber.join(writing)
    }).pipe(Effect.provide(Stdout.layerOf(slow)))
  })

  it.effect("whose reader has gone ends the program quietly", () =>
    Effect.gen(function* () {
      const { write } = yield* Stdout
      const closed = yield* Effect.flip(write("line\n"))
      expect(closed.code).toBe("EPIPE")
      yield* endedBy(closed)
    }).pipe(Effect.provide(Stdout.layerOf(failing("EPIPE"))))
  )

  it.effect("that is a full disk does not", () =>
    Effect.gen(function* () {
      const { write } = yield* Stdout
      const ended = yield* Effect.result(endedBy(yield* Effect.flip(write("line\n"))))
      expect(Result.isFailure(ended) && ended.failure).toMatchObject({
        exit: "fault",
        message: "The standard output cannot be written (ENOSPC)."
      })
    }).pipe(Effect.provide(Stdout.layerOf(failing("ENOSPC"))))
  )
})

describe("the log of events", () => {
  it.effect("takes everything at once, and has room again once it was read", () =>
    Effect.gen(function* () {
      const log = yield* makeEventLog
      yield* log.room
      log.publish(events(1500))
      const waiting = yield* Effect.forkChild(log.room, { startImmediately: true })
      expect(waiting.pollUnsafe()).toBeUndefined()
      expect(yield* log.take).toHaveLength(1500)
      yield* Fiber.join(waiting)
    })
  )

  it.effect("hands out what is left after its end, and then ends", () =>
    Effect.gen(function* () {
      const log = yield* makeEventLog
      log.publish(events(2))
      yield* log.end
      expect((yield* log.take).map(({ sequence }) => Number(sequence))).toEqual([1, 2])
      expect(yield* Effect.flip(log.take)).toMatchObject({ _tag: "Done" })
    })
  )
})
