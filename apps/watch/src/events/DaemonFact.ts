/**
 * What the daemon reports of itself: the type and the data of events that no observation of the service gives. They belong to an
 * account of their own, so that they have an order too.
 */
import { Schema } from "effect"

/** Name of the account that the daemon's own events belong to; no configured account has it. */
export const daemonAccount = "_daemon"

/** A sink gets no more events until it is enabled again. */
export const SinkDisabled = Schema.Struct({
  type: Schema.Literal("berth.sink.disabled"),
  data: Schema.Struct({
    sink: Schema.String,
    reason: Schema.Literals(["gone", "failing", "lagging", "requested"]).annotate({
      description:
        "`gone`: the receiver answered 410. `failing`: nothing was delivered for 5 days. `lagging`: it is further behind than " +
        "its `maxLag`. `requested`: by a person."
    }),
    message: Schema.String
  })
})

export type DaemonFact = typeof SinkDisabled.Type
export type DisabledReason = (typeof SinkDisabled.Type)["data"]["reason"]
