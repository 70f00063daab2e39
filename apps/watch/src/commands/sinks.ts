/**
 * `berth-watch sinks`: how far each sink is; and what a person may do with one.
 */
import { Console, Effect, Option } from "effect"
import { makeAttempt } from "../deliver/attempt.ts"
import { sourceOf } from "../events/Event.ts"
import { formatCursor } from "../events/Cursor.ts"
import { daemonAccount } from "../events/DaemonFact.ts"
import { CommandFailed } from "../process/CommandFailed.ts"
import { readConfigFile } from "../settings/storePath.ts"
import { Store } from "../store/Store.ts"
import { readCursor } from "./events.ts"

const unknownSink = (name: string, names: ReadonlyArray<string>) =>
  new CommandFailed({
    exit: "notFound",
    message: `There is no sink ${name}.`,
    hint: names.length === 0 ? "No sink has run on this store yet." : `The sinks are ${names.join(", ")}.`
  })

/** One line of JSON for each sink. */
export const listSinks = Effect.gen(function* () {
  const store = yield* Store
  for (const { disabled, failingSinceMillis, message, name } of yield* store.sinks) {
    const backlog = yield* store.backlog(name)
    const cursor = formatCursor(yield* store.cursorOf(name))
    const state = disabled !== null ? "disabled" : failingSinceMillis !== null ? "failing" : "enabled"
    yield* Console.log(JSON.stringify({ sink: name, state, message, cursor, ...backlog }))
  }
})

/** Fails unless a sink of this name has run on the store. */
const checkSink = Effect.fnUntraced(function* (name: string) {
  const names = (yield* (yield* Store).sinks).map((row) => row.name)
  if (!names.includes(name)) return yield* unknownSink(name, names)
})

export const enableSink = Effect.fnUntraced(function* (name: string) {
  yield* checkSink(name)
  yield* (yield* Store).setDisabled(name, null)
  yield* Console.log(`The sink ${name} is enabled.`)
})

export const retrySink = Effect.fnUntraced(function* (name: string) {
  yield* checkSink(name)
  const count = yield* (yield* Store).retry(name)
  yield* Console.log(`${count} dead letters of ${name} are delivered again when the daemon runs.`)
})

export const replaySink = Effect.fnUntraced(function* (name: string, after: string) {
  const cursor = yield* readCursor(after)
  yield* checkSink(name)
  yield* (yield* Store).replay(name, cursor)
  yield* Console.log(`The sink ${name} is at ${formatCursor(cursor) || "the beginning"}.`)
})

/** Hands a test event to the receiver of a sink in the config. */
export const testSink = Effect.fnUntraced(function* (name: string, config: Option.Option<string>) {
  if (Option.isNone(config)) {
    return yield* new CommandFailed({ exit: "usage", message: "sinks test needs --config FILE, which has the sink." })
  }
  const { sinks } = yield* readConfigFile(config.value)
  const sink = sinks.find((each) => each.name === name)
  if (sink === undefined) {
    return yield* unknownSink(
      name,
      sinks.map((each) => each.name)
    )
  }
  const id = "berth-watch-test"
  const body = JSON.stringify({
    specversion: "1.0",
    id,
    source: sourceOf(daemonAccount),
    type: "berth.sink.test",
    datacontenttype: "application/json",
    data: { sink: name }
  })
  const attempt = yield* makeAttempt(sink)
  const outcome = attempt === null ? null : yield* attempt(id, body)
  if (outcome?._tag === "Failed") {
    return yield* new CommandFailed({ exit: "unavailable", message: `The sink ${name} failed: ${outcome.reason}.` })
  }
  yield* Console.log(outcome === null ? body : `The sink ${name} took a test event.`)
})
