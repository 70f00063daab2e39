import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import { Writable } from "node:stream"
import { Stdout } from "../../src/deliver/Stdout.ts"
import { endedBy } from "../../src/process/CommandFailed.ts"

const failing = (code: string) =>
  new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error("no"), { code })) })

describe("stdout", () => {
  it.effect("has taken a text only when the system has taken it", () => {
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
        message: "Cannot write to standard output (ENOSPC)."
      })
    }).pipe(Effect.provide(Stdout.layerOf(failing("ENOSPC"))))
  )
})
