/**
 * Schemas of the data that the HTTP interface shows: accounts, nodes, plans, sinks and events. A `Daemon` provides the values;
 * `WatchApi.ts` has the endpoints.
 */
import { Node } from "@berthkit/core/domain/Node"
import { InstantText } from "@berthkit/terminal/instant"
import { Schema, Struct } from "effect"
import { sinkStates } from "../deliver/Sinks.ts"
import { ForeignPrice } from "@berthkit/core/domain/Image"
import { PlanSlug } from "@berthkit/core/domain/Plan"
import { CataloguePlan } from "../diff/CatalogueFact.ts"
import { Spend } from "../spend/figures.ts"
import { silenceEnds, silenceStates } from "../store/silences.ts"
import { severities, subjects, troubleTable } from "../troubles/table.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Instant = Schema.DateTimeUtc

/** The allowance of an account, according to the newest reply. */
const AccountAllowance = Schema.Struct({
  limit: Count,
  remaining: Count,
  resetAt: Schema.NullOr(Instant)
}).annotate({ identifier: "AccountAllowance" })

const CompleteSweep = Schema.Struct({
  endedAt: Instant,
  durationMillis: Schema.NullOr(Schema.Number),
  requests: Schema.NullOr(Count)
}).annotate({
  identifier: "CompleteSweep",
  description: "A field is null if only the process that swept knows it."
})

const UnreadableRecords = Schema.Struct({
  count: Count,
  example: Schema.String.annotate({ description: "What is wrong with one of them." })
}).annotate({ identifier: "UnreadableRecords" })

/** A current problem. `troubles/table.ts` lists all kinds. */
export const Trouble = Schema.Struct({
  name: Schema.Literals(troubleTable.map(({ name }) => name)),
  about: Schema.Struct({
    kind: Schema.Literals(subjects),
    name: Schema.NullOr(Schema.String).annotate({ description: "Name of the account or sink; null for the daemon." })
  }),
  severity: Schema.Literals(severities),
  message: Schema.String,
  next: Schema.String.annotate({ description: "What to do." }),
  since: Instant
}).annotate({ identifier: "Trouble" })
export type Trouble = typeof Trouble.Type

const isHere = Schema.Boolean.annotate({ description: "Whether it is the answering process." })

/** The normal state first. */
export const accountStates = ["watching", "starting", "degraded", "frozen", "paused", "stopped"] as const

/** The state of watching one account. */
export const AccountStatus = Schema.Struct({
  account: Schema.String,
  state: Schema.Literals(accountStates).annotate({
    description:
      "`starting`: there is no baseline yet. `degraded`: the service fails. `frozen`: the list is not believed, and no " +
      "deletion is reported. `paused`: the service is not asked until somebody resumes it. `stopped`: no daemon runs; " +
      "only commands show it."
  }),
  nodes: Count.annotate({ description: "Nodes that are known now." }),
  lastSweep: Schema.NullOr(CompleteSweep),
  unreadable: Schema.NullOr(UnreadableRecords).annotate({
    description:
      "Records of the list that cannot be read; nothing is reported about their nodes. Null if all can be read."
  }),
  nextSweepAt: Schema.NullOr(Instant),
  requestsPerHour: Schema.NullOr(Schema.Number).annotate({
    description: "The current share of the rate limit, in requests per hour. Null before the first complete sweep."
  }),
  sweepIntervalMillis: Schema.NullOr(Schema.Number).annotate({
    description: "Planned time from one sweep to the next."
  }),
  sweepIntervalSetMillis: Schema.optionalKey(
    Schema.Number.annotate({
      description: "The configured interval, if the share is too small for it and sweeps are farther apart."
    })
  ),
  detectionLatencyMillis: Schema.NullOr(Schema.Number).annotate({
    description: "Largest width of `observedBetween` within the last hour."
  }),
  allowance: Schema.NullOr(AccountAllowance),
  added: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "True if it comes from `berth-watch account add`; absent for an account of the config."
    })
  ),
  owner: Schema.optionalKey(
    Schema.Struct({
      process: Schema.String,
      since: Instant.annotate({ description: "When it took the account over." }),
      from: Schema.NullOr(Schema.String).annotate({
        description: "The process that had it before; null for the first one."
      }),
      isHere
    })
  ).annotate({ description: "The process that watches the account, if several share a store." })
}).annotate({ identifier: "AccountStatus" })
export type AccountStatus = typeof AccountStatus.Type

/** One of several processes that share a store. */
export const ProcessStatus = Schema.Struct({
  process: Schema.String.annotate({ description: "Host, process id, and a unique part." }),
  accounts: Count.annotate({ description: "Accounts that it has." }),
  isHeard: Schema.Boolean.annotate({
    description: "Whether the other processes have heard from it recently. If not, it will soon lose its accounts."
  }),
  isHere
}).annotate({ identifier: "ProcessStatus" })
export type ProcessStatus = typeof ProcessStatus.Type

/** A node as the daemon knows it. */
export const WatchedNode = Schema.Struct({
  ...Node.fields,
  account: Schema.String,
  statusSince: Schema.NullOr(Instant).annotate({ description: "When its status was first observed." })
}).annotate({ identifier: "WatchedNode" })
export type WatchedNode = typeof WatchedNode.Type

export const NodePage = Schema.Struct({
  nodes: Schema.Array(WatchedNode),
  next: Schema.NullOr(Schema.String).annotate({ description: "The `after` of the next page; null at the end." }),
  cursor: Schema.String.annotate({ description: "What happens to these nodes later comes after this cursor." })
}).annotate({ identifier: "NodePage" })
export type NodePage = typeof NodePage.Type

/** A plan of an account's catalogue, with its price by image. */
export const PricedPlan = Schema.Struct({
  account: Schema.String,
  ...Struct.omit(CataloguePlan.fields, ["vcpus", "memoryMib", "diskGb", "series"]),
  slugs: Schema.Array(PlanSlug).annotate({
    description: "Other names under which nodes show the plan, each with the image that it is ordered with."
  }),
  foreignPrice: Schema.NullOr(ForeignPrice).annotate({
    description:
      "The price in another currency; those in rupees are null then. An amount on which images differ is null."
  })
}).annotate({ identifier: "PricedPlan" })
export type PricedPlan = typeof PricedPlan.Type

const SpendOfDay = Schema.Struct({
  day: Schema.String.annotate({ description: "`YYYY-MM-DD`, in India." }),
  isPart: Schema.Boolean.annotate({ description: "Whether only a part of the day is covered." }),
  ...Spend.fields
}).annotate({ identifier: "SpendOfDay" })

/** What an account costs. */
export const AccountCost = Schema.Struct({
  account: Schema.String,
  fingerprint: Schema.NullOr(Schema.String).annotate({
    description:
      "Hash of the service's origin and the API key, by which `berth` finds its own account; null before the first list."
  }),
  month: Schema.NullOr(Schema.String).annotate({
    description: "`YYYY-MM`, a calendar month in India; null for another period."
  }),
  from: Instant,
  to: Instant.annotate({ description: "Until now, or the end of the month." }),
  watchedSince: Instant.annotate({ description: "When its nodes were first known." }),
  spent: Spend,
  forecast: Schema.NullOr(Spend).annotate({
    description: "The forecast for the current month if nothing changes until its end; null for another period."
  }),
  perHour: Schema.Struct({ minInr: Schema.Number, maxInr: Spend.fields.maxInr }).annotate({
    description: "The current cost of the nodes per hour."
  }),
  budget: Schema.NullOr(Schema.Struct({ monthInr: Schema.Number, warnPercent: Schema.Array(Schema.Number) })).annotate({
    description: "From the config; null without one."
  }),
  currencies: Schema.Array(Schema.String).annotate({
    description:
      "Currencies other than rupees in which plans of the account are priced. No amount includes nodes on these plans; they count as `unpricedNodeHours`."
  }),
  days: Schema.Array(SpendOfDay).annotate({ description: "Each day from `from` on; the last one is partial." })
}).annotate({ identifier: "AccountCost" })
export type AccountCost = typeof AccountCost.Type

export const CostReport = Schema.Struct({
  now: Instant,
  accounts: Schema.Array(AccountCost).annotate({
    description:
      "By name, without accounts whose nodes are not known yet. Commitments, taxes and minimum charges are not included."
  })
}).annotate({ identifier: "CostReport" })

/** A sink and its delivery progress. */
export const SinkStatus = Schema.Struct({
  sink: Schema.String,
  kind: Schema.String.annotate({
    description:
      "`webhook`, `mail`, `exec` or `stdout`; for a webhook or a mail also what it sends, as in `webhook (slack)` or `webhook (template)`."
  }),
  state: Schema.Literals(sinkStates).annotate({
    description:
      "`retrying`: an attempt failed, and the event is attempted again. `failing`: the last three attempts failed, or more. `down`: its receiver is not there, and is tried once a minute. " +
      "`removed`: the config has no such sink; nothing is delivered to it."
  }),
  message: Schema.NullOr(Schema.String).annotate({ description: "Why it is retrying, failing, down or disabled." }),
  cursor: Schema.String,
  lag: Count.annotate({ description: "Events that it has not read; 0 for a removed sink." }),
  waiting: Count.annotate({
    description: "Events that it has read but not delivered. Those that silences hold do not count."
  }),
  silenced: Count.annotate({ description: "Events that wait for the end of a silence." }),
  deadLetters: Count,
  failingSince: Schema.NullOr(Instant).annotate({
    description: "Since when it has accepted no event; null while it does."
  })
}).annotate({ identifier: "SinkStatus" })
export type SinkStatus = typeof SinkStatus.Type

/** An event that a sink gave up on. */
export const DeadLetter = Schema.Struct({
  id: Schema.String.annotate({ description: "Id of the event." }),
  since: Instant.annotate({ description: "When the sink gave up on it." }),
  attempts: Count,
  reason: Schema.String.annotate({ description: "Why the last attempt failed." }),
  event: Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "The event to deliver." })
}).annotate({ identifier: "DeadLetter" })
export type DeadLetter = typeof DeadLetter.Type

export const DeadLetterPage = Schema.Struct({
  deadLetters: Schema.Array(DeadLetter).annotate({ description: "The oldest first." }),
  next: Schema.NullOr(Schema.String).annotate({ description: "The `after` of the next page; null at the end." })
}).annotate({ identifier: "DeadLetterPage" })
export type DeadLetterPage = typeof DeadLetterPage.Type

const Names = Schema.Array(Schema.String)
const nodePatterns = "Patterns of node names in which `*` matches any text. None: every event of the accounts."

const SilenceThen = Schema.Literals(silenceEnds).annotate({
  description: "What happens to the events at its end: `deliver` sends them, `drop` discards them."
})

/** A period in which some events are withheld from sinks. */
export const Silence = Schema.Struct({
  id: Schema.String,
  nodes: Names.annotate({ description: nodePatterns }),
  accounts: Names.annotate({ description: "None: all." }),
  sinks: Names.annotate({ description: "None: all." }),
  from: Instant,
  until: Instant.annotate({ description: "When it ends, or ended." }),
  reason: Schema.String,
  then: SilenceThen,
  state: Schema.Literals(silenceStates),
  held: Count.annotate({ description: "Events that wait for its end." }),
  dropped: Count.annotate({ description: "Events that it discarded." })
}).annotate({ identifier: "Silence" })
export type Silence = typeof Silence.Type

/** The silences that matter now: planned, active, or over with events that are still held. */
export const openSilences = (silences: ReadonlyArray<Silence>): ReadonlyArray<Silence> =>
  silences.filter(({ held, state }) => state !== "over" || held > 0)

export const SilenceList = Schema.Struct({
  silences: Schema.Array(Silence).annotate({
    description: "Ordered by beginning. A finished one is listed for a day, or longer while it still holds events."
  })
}).annotate({ identifier: "SilenceList" })

export const NewSilence = Schema.Struct({
  nodes: Schema.optionalKey(Names).annotate({ description: nodePatterns }),
  accounts: Schema.optionalKey(Names).annotate({ description: "None: all. Required if `nodes` is empty." }),
  sinks: Schema.optionalKey(Names).annotate({ description: "None: all." }),
  from: Schema.optionalKey(InstantText).annotate({ description: "Now unless given." }),
  until: InstantText.annotate({ description: "At most 30 days after it begins." }),
  reason: Schema.String,
  then: Schema.optionalKey(SilenceThen)
}).annotate({ identifier: "NewSilence" })
export const SilenceEnding = Schema.Struct({ then: Schema.optionalKey(SilenceThen) }).annotate({
  identifier: "SilenceEnding"
})

/** An event as every sink gets it, with its fields in the same order: CloudEvents 1.0. The type determines `data`. */
export const DeliveredEvent = Schema.Struct({
  specversion: Schema.Literal("1.0"),
  id: Schema.String,
  source: Schema.String,
  sequence: Schema.String,
  time: Schema.String,
  datacontenttype: Schema.Literal("application/json"),
  subject: Schema.optionalKey(Schema.String),
  type: Schema.String,
  data: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "DeliveredEvent" })
export type DeliveredEvent = typeof DeliveredEvent.Type

export const LoggedEvent = Schema.Struct({
  cursor: Schema.String.annotate({ description: "The position after this event." }),
  event: DeliveredEvent
}).annotate({ identifier: "LoggedEvent" })
export type LoggedEvent = typeof LoggedEvent.Type

export const EventPage = Schema.Struct({
  events: Schema.Array(LoggedEvent).annotate({ description: "The oldest first." }),
  next: Schema.String.annotate({ description: "The `after` of the next page." }),
  more: Schema.Boolean.annotate({ description: "Whether more entries exist already." })
}).annotate({ identifier: "EventPage" })
export type EventPage = typeof EventPage.Type

/** The whole daemon at a glance. */
export const Status = Schema.Struct({
  version: Schema.String,
  startedAt: Instant,
  now: Instant,
  cursor: Schema.String.annotate({ description: "The end of the log." }),
  troubles: Schema.Array(Trouble).annotate({ description: "Worst first; empty if all is well." }),
  accounts: Schema.Array(AccountStatus),
  processes: Schema.Array(ProcessStatus).annotate({ description: "Empty if the store is a file." }),
  sinks: Schema.Array(SinkStatus),
  silences: Schema.Array(Silence).annotate({ description: "Silences that are not over, or that still hold events." })
}).annotate({ identifier: "Status" })
