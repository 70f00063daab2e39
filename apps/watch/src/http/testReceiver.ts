/** Tests the receiver of a sink with an event that is not in the log. */
import { Clock, DateTime, Effect } from "effect"
import type { Attempt } from "../deliver/Sinks.ts"
import { daemonAccount } from "../events/DaemonFact.ts"
import { sourceOf } from "../events/Event.ts"
import { Refused } from "./Daemon.ts"

/** `attempt` is null if the sink has no receiver to test, because it is stdout. */
export const testReceiver = Effect.fn("testReceiver")(function* (sink: string, attempt: Attempt | null) {
  if (attempt === null)
    return yield* new Refused({ kind: "invalid", message: `The sink ${sink} has no receiver to try.` })
  const millis = yield* Clock.currentTimeMillis
  const id = `test-${millis}`
  const event = {
    specversion: "1.0",
    id,
    source: sourceOf(daemonAccount),
    time: DateTime.formatIso(DateTime.makeUnsafe(millis)),
    datacontenttype: "application/json",
    type: "berth.sink.test",
    data: { sink }
  }
  const outcome = yield* attempt(id, JSON.stringify(event))
  if (outcome._tag === "Failed") {
    return yield* new Refused({ kind: "busy", message: `The sink ${sink} failed: ${outcome.reason}.` })
  }
})
