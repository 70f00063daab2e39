import { Allowance } from "@berthkit/core/client/Allowance"
import type { Attempt } from "@berthkit/core/domain/Attempt"
import type { KnownAllowance } from "@berthkit/core/domain/Allowance"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Output } from "../../src/output/Output.ts"
import type { Surface } from "../../src/output/Surface.ts"
import { retryText } from "../../src/output/progressText.ts"
import { Progress, withCount, withProgress } from "../../src/output/progress.ts"

/** An `Output` that keeps its notes and its live lines. */
const keeping = (stderr: Surface) => {
  const notes: Array<string> = []
  const painted: Array<string> = []
  const output = Output.of({
    stdout: stderr,
    stderr,
    chatty: true,
    jsonErrors: false,
    data: () => Effect.void,
    noteChange: Effect.void,
    hasChanged: Effect.succeed(false),
    lost: () => Effect.die("nothing is printed here"),
    unqueried: () => Effect.void,
    followable: (hint) => hint,
    readerGone: Effect.succeed(false),
    note: (text) => Effect.sync(() => void notes.push(text)),
    warn: (text) => Effect.sync(() => void notes.push(text)),
    ask: () => Effect.void,
    live: (line) => Effect.sync(() => void painted.push(line))
  })
  return { notes, painted, output }
}

const terminal: Surface = { isTerminal: true, columns: 60, colour: false, animate: true }
const pipe: Surface = { isTerminal: false, columns: Number.POSITIVE_INFINITY, colour: false, animate: false }

const free: KnownAllowance = {
  limit: 1200,
  remaining: 1000,
  keptForReads: 12,
  resetInMillis: 60_000,
  windowMillis: null,
  pausedMillis: 0,
  underWay: 0,
  waiting: 0
}

/** Runs `use` with a progress on this surface and an allowance that a test changes; returns what was shown. */
const shown = <A, E>(
  surface: Surface,
  use: (allowance: { known: KnownAllowance }) => Effect.Effect<A, E, Progress>,
  span: "5 seconds" | "1 minute" = "5 seconds"
) =>
  Effect.gen(function* () {
    const { notes, output, painted } = keeping(surface)
    const allowance = { known: free }
    const layer = Progress.painting.pipe(
      Layer.provideMerge(Progress.layer),
      Layer.provide(Layer.succeed(Output, output)),
      Layer.provide(
        Layer.succeed(Allowance, {
          current: Effect.sync(() => allowance.known),
          changes: Stream.empty,
          changeAfter: () => Effect.never,
          serviceMillis: Effect.succeed(0)
        })
      )
    )
    const fiber = yield* Effect.forkChild(Effect.provide(use(allowance), layer))
    yield* TestClock.adjust(span)
    yield* Fiber.join(fiber)
    return { notes, painted }
  })

const wait = withProgress({ goal: "running", total: 1 }, (show) =>
  Effect.gen(function* () {
    yield* show({ what: "web (1)", state: "created" })
    yield* Effect.sleep("2 seconds")
    yield* show({ what: "web (1)", state: "created" })
    yield* Effect.sleep("2 seconds")
    yield* show({ what: "web (1)", state: "running" })
    yield* Effect.sleep("500 millis")
  })
)

/** A call that takes as long as `during`. */
const call = (name: string, during: Effect.Effect<void>) =>
  Effect.flatMap(Progress, ({ observer }) => observer.traced("call", name)(during))

const failedAttempt = (number: number): Attempt => ({
  number,
  startedAtMillis: 0,
  backoffMillis: 0,
  queuedMillis: 0,
  durationMillis: 5,
  status: 503,
  outcome: "ServiceUnavailable",
  allowance: null
})

describe("progress", () => {
  it.effect("is a line for every change if nothing can be repainted", () =>
    Effect.gen(function* () {
      const { notes, painted } = yield* shown(pipe, () => wait)
      assert.deepStrictEqual(notes, ["web (1): created (0 s)", "web (1): running (4 s)"])
      assert.isTrue(painted.every((line) => line === ""))
    })
  )

  it.effect("is one line on a terminal, no wider than it, and gone at the end", () =>
    Effect.gen(function* () {
      const { notes, painted } = yield* shown(terminal, () => wait)
      assert.deepStrictEqual(notes, [])
      assert.include(painted, "⠋ 1 s  web (1): created; waiting for running")
      assert.isTrue(painted.some((line) => line.includes("4 s  web (1): created → running")))
      assert.isTrue(painted.every((line) => line.length < terminal.columns))
      assert.strictEqual(painted.at(-1), "")
    })
  )

  it.effect("of many things is their number, on a pipe at most every 5 s", () =>
    Effect.gen(function* () {
      const many = withCount({ goal: "created", total: 20 }, (show) =>
        Effect.forEach(
          Array.from({ length: 20 }, (_, i) => i),
          (i) => Effect.andThen(Effect.sleep("1 second"), show({ what: `w-${i}`, state: "created" }))
        )
      )
      const { notes } = yield* shown(pipe, () => many, "1 minute")
      assert.deepStrictEqual(notes, [
        "0 of 20 created (0 s)",
        "5 of 20 created (5 s)",
        "10 of 20 created (10 s)",
        "15 of 20 created (15 s)"
      ])
      const { painted } = yield* shown(terminal, () => many, "1 minute")
      assert.isTrue(painted.some((line) => line.includes("12 s  12 of 20 created")))
    })
  )

  it.effect("shows a call within 2 s of its start, but no short call", () =>
    Effect.gen(function* () {
      const quick = yield* shown(terminal, () => call("nodes.list", Effect.sleep("900 millis")))
      assert.isTrue(quick.painted.every((line) => line === ""))
      const { painted } = yield* shown(terminal, () => call("nodes.list", Effect.sleep("2 seconds")))
      assert.isTrue(painted.some((line) => line.endsWith("1 s  reading the list of nodes")))
    })
  )

  it.effect("is one line on a pipe for a wait of more than 2 s that nothing else reports", () =>
    Effect.gen(function* () {
      const brief = yield* shown(pipe, () => call("nodes.list", Effect.sleep("1900 millis")))
      assert.deepStrictEqual(brief.notes, [])
      const { notes } = yield* shown(pipe, () => call("nodes.list", Effect.sleep("4 seconds")))
      assert.deepStrictEqual(notes, ["Reading the list of nodes (2 s)"])
      const whole = yield* shown(pipe, () =>
        withProgress({ goal: "deleted", total: 1 }, () => call("nodes.get", Effect.sleep("4 seconds")))
      )
      assert.deepStrictEqual(whole.notes, ["Waiting for deleted (2 s)"])
      const settled = yield* shown(pipe, () =>
        Effect.flatMap(Progress, ({ observer }) => observer.traced("method", "nodes.create")(Effect.sleep("4 seconds")))
      )
      assert.deepStrictEqual(settled.notes, ["Looking for the node of a create (2 s)"])
    })
  )

  it.effect("goes on telling on a pipe, ever more rarely up to once a minute", () =>
    Effect.gen(function* () {
      const times = [2, 12, 24, 48]
      const long = yield* shown(pipe, () => call("nodes.list", Effect.sleep("59 seconds")), "1 minute")
      assert.deepStrictEqual(
        long.notes,
        times.map((at) => `Reading the list of nodes (${at} s)`)
      )
      // Calls come and go in a wait, and there are none during its pauses.
      const pauses = withProgress({ goal: "deleted", total: 1, isQuiet: true }, (show) =>
        Effect.gen(function* () {
          yield* show({ what: "web (1)", state: "deleting" })
          for (let at = 0; at < 10; at++) {
            yield* call("nodes.get", Effect.sleep("1 second"))
            yield* Effect.sleep("4 seconds")
          }
          yield* show({ what: "web (1)", state: "gone" })
        })
      )
      const { notes } = yield* shown(pipe, () => pauses, "1 minute")
      assert.deepStrictEqual(
        notes,
        times.map((at) => `web (1): deleting; waiting for deleted (${at} s)`)
      )
      const held = yield* shown(
        pipe,
        (allowance) => {
          allowance.known = { ...free, remaining: 0, waiting: 1, resetInMillis: 300_000 }
          return call("nodes.get", Effect.sleep("20 seconds"))
        },
        "1 minute"
      )
      assert.deepStrictEqual(
        held.notes.map((note) => note.replace(/until .+/, "until")),
        ["Waiting for the rate limit until", "Waiting for the rate limit until"]
      )
    })
  )

  it.effect("shows until when the rate limit holds a call up, once on a pipe", () =>
    Effect.gen(function* () {
      const held = (allowance: { known: KnownAllowance }) =>
        Effect.gen(function* () {
          allowance.known = { ...free, remaining: 0, waiting: 1, resetInMillis: 42_000 }
          yield* call("nodes.get", Effect.sleep("3 seconds"))
          allowance.known = free
        })
      const { notes } = yield* shown(pipe, held)
      assert.deepStrictEqual(notes, ["Waiting for the rate limit until 00:00:42 UTC (42 s)."])
      const { painted } = yield* shown(terminal, held)
      assert.isTrue(painted.some((line) => line.includes("1 s  waiting for the rate limit until 00:00:")))
      const refused = yield* shown(pipe, (allowance) => {
        allowance.known = { ...free, pausedMillis: 9000 }
        return call("nodes.get", Effect.sleep("3 seconds"))
      })
      const brief = yield* shown(pipe, (allowance) => {
        allowance.known = { ...free, remaining: null, resetInMillis: null, waiting: 1 }
        return call("nodes.get", Effect.sleep("3 seconds"))
      })
      assert.deepStrictEqual(brief.notes, ["Reading a node (2 s)"])
      assert.deepStrictEqual(refused.notes, ["Waiting for the rate limit until 00:00:19 UTC (9 s)."])
    })
  )

  it.effect("shows why a call is sent again", () =>
    Effect.gen(function* () {
      const retried = () =>
        Effect.flatMap(Progress, ({ observer }) =>
          call(
            "nodes.list",
            Effect.gen(function* () {
              for (const number of [1, 2]) {
                observer.attempted("nodes.list", "interactive", [failedAttempt(number)])
                yield* Effect.sleep("1500 millis")
              }
              observer.attempted("nodes.list", "interactive", [{ ...failedAttempt(3), status: 200, outcome: "ok" }])
            })
          )
        )
      const line = (number: number) => `eading the list of nodes: attempt ${number} failed (503), trying again`
      const { notes } = yield* shown(pipe, retried)
      assert.deepStrictEqual(notes, [`R${line(1)}.`, `R${line(2)}.`])
      const { painted } = yield* shown({ ...terminal, columns: 100 }, retried)
      assert.isTrue(painted.some((each) => each.includes(`r${line(2)}`)))
    })
  )

  it.effect.each([
    [
      "was lost",
      { status: null, outcome: "Unreachable" },
      "the reply to the create was lost: reading the list for its node"
    ],
    [
      "broke off",
      { status: 200, outcome: "Unreachable" },
      "the reply to the create was lost: reading the list for its node"
    ],
    ...(
      [
        ["cannot be read", { status: 201, outcome: "UnexpectedResponse" }],
        ["is a failure of the service", { status: 502, outcome: "ServiceUnavailable" }]
      ] as const
    ).map(
      ([title, ended]) =>
        [
          title,
          ended,
          "the reply to the create leaves open which node it made, if any: reading the list for its node"
        ] as const
    ),
    [
      "is a refusal",
      { status: 429, outcome: "RateLimited" },
      "the create was refused for the rate limit: looking for its node before it is sent again"
    ]
  ] as const)("shows that a create reads the list for its node where the reply %s", ([, ended, text]) =>
    Effect.gen(function* () {
      const creating = () =>
        Effect.flatMap(Progress, ({ observer }) =>
          observer.traced(
            "method",
            "nodes.create"
          )(
            Effect.gen(function* () {
              const request = Effect.gen(function* () {
                yield* Effect.sleep("2 seconds")
                observer.attempted("nodes.create", "mutation", [{ ...failedAttempt(1), ...ended }])
                return yield* Effect.fail("no node")
              })
              yield* Effect.ignore(observer.traced("call", "nodes.create")(request))
              yield* Effect.sleep("2 seconds")
            })
          )
        )
      const { notes } = yield* shown(pipe, creating)
      assert.deepStrictEqual(notes, [`${text.charAt(0).toUpperCase()}${text.slice(1)}.`])
      const { painted } = yield* shown({ ...terminal, columns: 120 }, creating)
      assert.isTrue(painted.some((line) => line.endsWith("1 s  creating")))
      assert.isTrue(painted.some((line) => line.includes(`3 s  ${text}`)))
    })
  )

  it.each([
    [{ status: 503, outcome: "ServiceUnavailable" }, "503"],
    [{ status: null, outcome: "Unreachable" }, "no reply"],
    [{ status: null, outcome: "TimedOut" }, "no reply in time"],
    [{ status: 200, outcome: "Unreachable" }, "the reply broke off"],
    [{ status: 200, outcome: "ServiceFault" }, "an error in a reply with 200"],
    [{ status: 200, outcome: "RateLimited" }, "an error in a reply with 200"]
  ])("states why an attempt failed: %j", (ended, reason) => {
    const text = retryText({ operation: "nodes.get", number: 2, ...ended })
    assert.strictEqual(text, `reading a node: attempt 2 failed (${reason}), trying again`)
  })
})
