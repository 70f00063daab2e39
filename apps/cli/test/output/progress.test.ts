import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Output } from "../../src/output/Output.ts"
import type { Surface } from "../../src/output/Surface.ts"
import { withProgress } from "../../src/output/progress.ts"

/** An `Output` that keeps its notes and its live lines. */
const keeping = (stderr: Surface) => {
  const notes: Array<string> = []
  const painted: Array<string> = []
  const output = Output.of({
    stdout: stderr,
    stderr,
    chatty: true,
    data: () => Effect.void,
    readerGone: Effect.succeed(false),
    note: (text) => Effect.sync(() => void notes.push(text)),
    ask: () => Effect.void,
    live: (line) => Effect.sync(() => void painted.push(line))
  })
  return { notes, painted, output }
}

const terminal: Surface = { isTerminal: true, columns: 40, colour: false, animate: true }
const pipe: Surface = { isTerminal: false, columns: Number.POSITIVE_INFINITY, colour: false, animate: false }

const wait = withProgress("running", (show) =>
  Effect.gen(function* () {
    yield* show({ what: "web (1)", state: "created" })
    yield* Effect.sleep("2 seconds")
    yield* show({ what: "web (1)", state: "created" })
    yield* Effect.sleep("2 seconds")
    yield* show({ what: "web (1)", state: "running" })
  })
)

describe("progress", () => {
  it.effect("is a line for every change where nothing can be repainted", () =>
    Effect.gen(function* () {
      const { notes, output, painted } = keeping(pipe)
      const fiber = yield* Effect.forkChild(Effect.provideService(wait, Output, output))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(notes, ["web (1): created (0 s)", "web (1): running (4 s)"])
      assert.deepStrictEqual(painted, [])
    })
  )

  it.effect("is one line on a terminal, no wider than it, and gone at the end", () =>
    Effect.gen(function* () {
      const { notes, output, painted } = keeping(terminal)
      const fiber = yield* Effect.forkChild(Effect.provideService(wait, Output, output))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(notes, [])
      assert.include(painted, "⠋ waiting for running: 1 s  web (1) is…")
      assert.isTrue(painted.every((line) => line.length < terminal.columns))
      assert.strictEqual(painted.at(-1), "")
    })
  )
})
