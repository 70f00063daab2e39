/**
 * The daemon's events about itself: types and data of events that do not come from observing the service. These events belong to a
 * separate account, because events are numbered per account.
 */
import { Schema } from "effect"

/** Name of the account of the daemon's own events; no configured account can have it. */
export const daemonAccount = "_daemon"

/** A sink was disabled: it gets no more events until a person enables it again. */
const SinkDisabled = Schema.Struct({
  type: Schema.Literal("berth.sink.disabled"),
  data: Schema.Struct({
    sink: Schema.String,
    reason: Schema.Literals(["gone", "failing", "lagging", "requested"]).annotate({
      description:
        "`gone`: the receiver answered 410. `failing`: nothing was delivered for 5 days. `lagging`: it is behind by more than " +
        "its `maxLag`. `requested`: by a person."
    }),
    message: Schema.String
  })
})

const about = Schema.Struct({
  kind: Schema.Literals(["daemon", "account", "sink"]),
  name: Schema.NullOr(Schema.String)
})

/** A trouble began, and no other event type reports that trouble. */
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

/** A trouble that was reported with `berth.watch.trouble` is over. */
export const TroubleEnded = Schema.Struct({
  type: Schema.Literal("berth.watch.trouble_ended"),
  data: Schema.Struct({ trouble: Schema.String, about, since: Schema.DateTimeUtc })
})

export const daemonFacts = [SinkDisabled, TroubleBegan, TroubleEnded] as const

export type DaemonFact = (typeof daemonFacts)[number]["Type"]
export type DisabledReason = (typeof SinkDisabled.Type)["data"]["reason"]
