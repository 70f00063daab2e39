/**
 * `berth-watch run`: watches until it is asked to stop, and writes one event per line to stdout.
 */
import { Nodes } from "@berth/core/client/Nodes"
import { DateTime, Effect, Fiber, Option, Result } from "effect"
import { type EventLog, makeEventLog } from "../deliver/EventLog.ts"
import { Stdout, type StreamClosed } from "../deliver/Stdout.ts"
import { defaultRules } from "../diff/Rules.ts"
import type { Fact } from "../diff/Fact.ts"
import { toLine } from "../events/Event.ts"
import { makeMoments } from "../observe/Moments.ts"
import { makePoller } from "../observe/Poller.ts"
import { makeWatch } from "../observe/Watch.ts"
import { endedBy, fromBerthError } from "../process/CommandFailed.ts"
import { report } from "../process/report.ts"
import { StopSignal } from "../process/StopSignal.ts"
import type { RunSettings } from "../settings/RunSettings.ts"

/** How long to go on writing after the signal to stop; the whole stop takes at most 10 s. */
const maxDrain = "8 seconds"

/** Watches until a signal, or until the reader of stdout has gone. */
export const run = Effect.fn("run")(function* (account: string, settings: RunSettings) {
  const nodes = yield* Nodes
  const { received } = yield* StopSignal
  const log = yield* makeEventLog
  const { fastIntervalMillis, graceMillis, holdMillis, intervalMillis, requestsPerHour } = settings
  const terminatingGraceMillis = Math.min(graceMillis, defaultRules.terminatingGraceMillis)
  const rules = { ...defaultRules, graceMillis, terminatingGraceMillis, holdMillis }
  const moments = yield* makeMoments
  const watch = yield* makeWatch({ account, moments, publish: log.publish })
  const poller = yield* makePoller({
    nodes,
    moments,
    watch,
    rules,
    fastIntervalMillis,
    intervalMillis,
    requestsPerHour,
    room: log.room,
    onFacts: reportTroubles
  })

  const writing = yield* Effect.forkChild(Effect.result(writeAll(log)))
  yield* Effect.forkChild(Effect.andThen(poller.ready, announce(account)))
  const polled = yield* Effect.result(Effect.raceAllFirst([poller.run, received, Effect.asVoid(Fiber.await(writing))]))
  yield* log.end
  yield* Effect.flatMap(Effect.timeoutOption(Fiber.join(writing), maxDrain), checkWritten)
  if (Result.isFailure(polled)) return yield* fromBerthError(polled.failure)
})

/** Writes the events as they are published, until the log ends. */
const writeAll = Effect.fnUntraced(function* (log: EventLog) {
  const { write } = yield* Stdout
  yield* log.take.pipe(
    Effect.flatMap((events) => write(events.map(toLine).join(""))),
    Effect.forever,
    Effect.catchTag("Done", () => Effect.void)
  )
})

/** Reports events that were not written. */
const checkWritten = (written: Option.Option<Result.Result<void, StreamClosed>>) => {
  if (Option.isNone(written)) return report("berth-watch: stopped before the last events were read.")
  return Result.isFailure(written.value) ? endedBy(written.value.failure) : Effect.void
}

/** The ready line. There is neither a page nor a store yet. */
const announce = (account: string) => report(JSON.stringify({ http: null, store: null, accounts: [account] }))

/** Troubles are events, and go to the operator too. */
const reportTroubles = (facts: ReadonlyArray<Fact>) =>
  Effect.forEach(
    facts,
    (fact) => {
      if (fact.type === "berth.watch.degraded") {
        return report(`berth-watch: degraded (${fact.data.trouble}): ${fact.data.message}`)
      }
      if (fact.type === "berth.watch.recovered") {
        const { ending, since, trouble } = fact.data
        return report(`berth-watch: recovered (${trouble}, ${ending}); it began at ${DateTime.formatIso(since)}.`)
      }
      return Effect.void
    },
    { discard: true }
  )
