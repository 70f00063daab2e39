/**
 * `berth-watch sinks`: shows the delivery progress of each sink (a receiver of events), and lets a person change or test a
 * sink.
 */
import { Console, DateTime, Effect, Option, Schema } from "effect"
import { makeAttempt } from "../deliver/Sinks.ts"
import { Stdout } from "../deliver/Stdout.ts"
import type { Answers } from "../http/Daemon.ts"
import { DeadLetter, SinkStatus } from "../http/records.ts"
import { testReceiver } from "../http/testReceiver.ts"
import { CommandFailed, endedBy, misused } from "../process/CommandFailed.ts"
import type { StoreOptions, StoreSettings } from "../settings/storeSettings.ts"
import { asking } from "./asking.ts"
import { readCursor } from "./events.ts"

const unknownSink = (name: string, names: ReadonlyArray<string>) =>
  new CommandFailed({
    exit: "notFound",
    message: `There is no sink ${name}.`,
    hint: names.length === 0 ? "This store has no sink yet." : `The sinks are ${names.join(", ")}.`
  })

const write = Schema.encodeSync(Schema.toCodecJson(SinkStatus))

/** Prints one line of JSON per sink. */
export const listSinks = Effect.fn("listSinks")(function* (daemon: Answers) {
  for (const sink of yield* daemon.sinks) yield* Console.log(JSON.stringify(write(sink)))
})

/** Does something with an existing sink. */
const withSink = Effect.fnUntraced(function* <E>(daemon: Answers, name: string, change: Effect.Effect<void, E>) {
  const names = (yield* daemon.sinks).map(({ sink }) => sink)
  if (!names.includes(name)) return yield* unknownSink(name, names)
  return yield* change
})

const changes: Readonly<Record<"enable" | "retry" | "remove", (sink: string) => string>> = {
  enable: (sink) => `The sink ${sink} is enabled.`,
  retry: (sink) => `The dead letters and waiting events of ${sink} are due now.`,
  remove: (sink) => `Forgot the sink ${sink}.`
}

/** Changes a sink, and reports the result. */
export const changeSink = Effect.fnUntraced(function* (daemon: Answers, change: keyof typeof changes, name: string) {
  yield* withSink(daemon, name, daemon[change](name))
  yield* Console.log(changes[change](name))
})

const writeDeadLetter = Schema.encodeSync(Schema.toCodecJson(DeadLetter))

/** Number of dead letters that are read at once. */
const pageSize = 500

/**
 * Prints the dead letters of a sink, oldest first, one line of JSON each. With `retry`, delivers the one with that id now
 * instead.
 */
export const deadLetters = Effect.fnUntraced(function* (daemon: Answers, name: string, retry: Option.Option<string>) {
  if (Option.isSome(retry)) {
    yield* withSink(daemon, name, daemon.revive(name, retry.value))
    yield* Console.log(`The dead letter ${retry.value} of ${name} is due now.`)
    return
  }
  const stdout = yield* Stdout
  const print = Effect.gen(function* () {
    for (let after: string | undefined; ;) {
      const page = yield* daemon.deadLetters(name, { after, limit: pageSize })
      const lines = page.deadLetters.map(
        (letter) => `${JSON.stringify({ sink: name, ...(writeDeadLetter(letter) as object) })}\n`
      )
      yield* stdout.write(lines.join(""))
      if (page.next === null) return
      after = page.next
    }
  })
  yield* Effect.catchTag(withSink(daemon, name, print), "StreamClosed", endedBy)
})

/**
 * Says which events will be delivered again. The empty cursor means the oldest event that is kept, because older ones may be
 * gone.
 */
const replayedText = Effect.fnUntraced(function* (daemon: Answers, cursor: string, account: string | undefined) {
  const ofAccount = account === undefined ? "" : ` of ${account}`
  if (cursor !== "") return `all events${ofAccount} after ${cursor}`
  const { events } = yield* daemon.events({ after: cursor, limit: 1, account })
  const first = events[0]?.event.time
  return first === undefined
    ? "no events, because none are kept,"
    : `all kept events${ofAccount}, from ${DateTime.formatIso(DateTime.makeUnsafe(first))} on,`
})

export const replaySink = Effect.fnUntraced(function* (daemon: Answers, name: string, after: string, account?: string) {
  const cursor = yield* readCursor(after)
  yield* withSink(daemon, name, daemon.replay(name, cursor, account))
  yield* Console.log(`The sink ${name} gets ${yield* replayedText(daemon, cursor, account)} again.`)
})

/**
 * Tests the receiver of a sink. The running daemon sends the test event; if there is no daemon, this process does, with the
 * config.
 */
export const testSink = Effect.fnUntraced(function* (name: string, options: StoreOptions) {
  const fromHere = Effect.fnUntraced(function* ({ sinks }: StoreSettings) {
    if (Option.isNone(options.config)) {
      const message = "No daemon runs, so sinks test needs --config FILE with the sink."
      return yield* misused(message)
    }
    const configured = sinks ?? []
    const sink = configured.find((each) => each.name === name)
    if (sink !== undefined) return yield* testReceiver(name, yield* makeAttempt(sink))
    return yield* unknownSink(
      name,
      configured.map((each) => each.name)
    )
  })
  yield* asking(options, (daemon) => withSink(daemon, name, daemon.test(name)), fromHere)
  yield* Console.log(`The sink ${name} accepted a test event.`)
})
