/**
 * What the daemon reports of itself: the type and the data of events that no observation of the service gives. They belong to an
 * account of their own, so that they have an order too.
 */
import { Schema } from "effect"

/** Name of the account that the daemon's own events belong to; no configured account has it. */
export const daemonAccount = "_daemon"

/** A sink gets no more events until it is enabled again. */
const SinkDisabled = Schema.Struct({
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

const about = Schema.Struct({
  kind: Schema.Literals(["daemon", "account", "sink"]),
  name: Schema.NullOr(Schema.String)
})

/** Something is wrong that has no event of its own. */
export const TroubleBegan = Schema.Struct({
  type: Schema.Literal("berth.watch.trouble"),
  data: Schema.Struct({
    trouble: Schema.String.annotate({ description: "Its name in the table of troubles." }),
    about,
    severity: Schema.Literals(["critical", "warning"]),
    message: Schema.String,
    next: Schema.String.annotate({ description: "What to do." }),
    since: Schema.DateTimeUtc
  })
})

/** It is over. */
export const TroubleEnded = Schema.Struct({
  type: Schema.Literal("berth.watch.trouble_ended"),
  data: Schema.Struct({ trouble: Schema.String, about, since: Schema.DateTimeUtc })
})

export const daemonFacts = [SinkDisabled, TroubleBegan, TroubleEnded] as const

export type DaemonFact = (typeof daemonFacts)[number]["Type"]
export type DisabledReason = (typeof SinkDisabled.Type)["data"]["reason"]
