/**
 * `berth-watch run`: watches until it is told to stop, and tells what happens, one event per line on stdout.
 */
import { DateTime, Effect, Fiber, Option, Result } from "effect"
import { Nodes } from "@berth/core/client/Nodes"
import type { RunSettings } from "../config/RunSettings.ts"
import { type EventLog, makeEventLog } from "../deliver/EventLog.ts"
import { endedBy, Stdout, type StreamClosed } from "../deliver/Stdout.ts"
import type { Fact } from "../diff/Fact.ts"
import { toLine } from "../events/Event.ts"
import { makePoller } from "../poll/Poller.ts"
import { makeWatch } from "../poll/Watch.ts"
import { fromBerthError } from "../process/CommandFailed.ts"
import { say } from "../process/say.ts"
import { StopSignal } from "../process/StopSignal.ts"

/** How long to go on writing after the signal to stop; the whole stop has to be over within 10 s. */
const drainLimit = "8 seconds"

/** Watches until a signal, or until nobody reads stdout any more. */
export const run = Effect.fn("run")(function* (account: string, settings: RunSettings) {
  const nodes = yield* Nodes
  const { received } = yield* StopSignal
  const log = yield* makeEventLog
  const { fastIntervalMillis, graceMillis, holdMillis, intervalMillis, requestsPerHour } = settings
  const rules = { graceMillis, terminatingGraceMillis: fastIntervalMillis, holdMillis }
  const watch = makeWatch({ account, rules, tell: log.tell })
  const poller = yield* makePoller({
    nodes,
    watch,
    rules,
    fastIntervalMillis,
    intervalMillis,
    requestsPerHour,
    room: log.room,
    onFacts: warn
  })

  const writing = yield* Effect.forkChild(Effect.result(writeAll(log)))
  yield* Effect.forkChild(Effect.andThen(poller.ready, announce(account)))
  const polled = yield* Effect.result(Effect.raceAllFirst([poller.run, received, Effect.asVoid(Fiber.await(writing))]))
  yield* log.end
  yield* Effect.flatMap(Effect.timeoutOption(Fiber.join(writing), drainLimit), checkWritten)
  if (Result.isFailure(polled)) return yield* fromBerthError(polled.failure)
})

/** Writes what is told, for ever, or until the log ends. */
const writeAll = Effect.fnUntraced(function* (log: EventLog) {
  const { write } = yield* Stdout
  yield* log.take.pipe(
    Effect.flatMap((events) => write(events.map(toLine).join(""))),
    Effect.forever,
    Effect.catchTag("Done", () => Effect.void)
  )
})

/** Says what became of the writing. */
const checkWritten = (written: Option.Option<Result.Result<void, StreamClosed>>) => {
  if (Option.isNone(written)) return say("berth-watch: stopped, although the last events are still unread.")
  return Result.isFailure(written.value) ? endedBy(written.value.failure) : Effect.void
}

/** The ready line. There is neither a page nor a store yet. */
const announce = (account: string) => say(JSON.stringify({ http: null, store: null, accounts: [account] }))

/** Troubles also go to whoever looks after the daemon. */
const warn = (facts: ReadonlyArray<Fact>) =>
  Effect.forEach(
    facts,
    (fact) => {
      if (fact._tag === "Degraded") return say(`berth-watch: degraded (${fact.trouble}): ${fact.message}`)
      if (fact._tag === "Recovered") {
        const since = DateTime.formatIso(DateTime.makeUnsafe(fact.sinceMillis))
        return say(`berth-watch: recovered (${fact.trouble}, ${fact.ending}); it began at ${since}.`)
      }
      return Effect.void
    },
    { discard: true }
  )
