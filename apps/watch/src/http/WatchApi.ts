/**
 * The HTTP interface of the daemon as one value: `app.ts` serves it, and clients and the OpenAPI document are derived from it.
 * The page at `/` is not included.
 */
import { type Json, plain } from "@berthkit/core/api/Document"
import { InstantText } from "@berthkit/terminal/instant"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSchema, OpenApi } from "effect/http-api"
import { causes } from "../diff/Cause.ts"
import { failures } from "./failures.ts"
import {
  AccountStatus,
  CostReport,
  DeadLetterPage,
  EventPage,
  NewSilence,
  NodePage,
  PricedPlan,
  ProcessStatus,
  Silence,
  SilenceEnding,
  SilenceList,
  SinkStatus,
  Status
} from "./records.ts"

/** Maximum number of nodes and events per page. */
const maxNodes = 10_000
const maxEvents = 1000

/** The failures with which the daemon refuses a request; see `Refused`. */
const refusals = [failures[400], failures[404], failures[410], failures[503]] as const

const described = (title: string, description: string) => OpenApi.annotations({ title, description })

const limit = (maximum: number, standard: number) =>
  Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))).annotate({
    description: `Maximum number; default ${standard}.`
  })

const account = Schema.optional(Schema.String).annotate({ description: "Only this account." })

const filter = {
  type: Schema.optional(Schema.String).annotate({
    description: "Only events of this type; `berth.node.*` for several."
  }),
  account,
  node: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))).annotate({
    description: "Only events about the node with this id."
  }),
  cause: Schema.optional(Schema.Literals(causes)).annotate({
    description: "Only deletions with this cause; `unknown` for those that nobody asked for."
  })
}

class StatusGroup extends HttpApiGroup.make("status").add(
  HttpApiEndpoint.get("read", "/api/status", { success: Status }).annotateMerge(
    described("Status", "Troubles, accounts, sinks and the end of the log.")
  ),
  HttpApiEndpoint.get("accounts", "/api/accounts", { success: Schema.Array(AccountStatus) }).annotateMerge(
    described("Accounts", "The state of each account.")
  ),
  HttpApiEndpoint.get("processes", "/api/processes", { success: Schema.Array(ProcessStatus) }).annotateMerge(
    described("Processes", "The processes on the store, and how many accounts each has. None if the store is a file.")
  )
) {}

class NodesGroup extends HttpApiGroup.make("nodes").add(
  HttpApiEndpoint.get("list", "/api/nodes", {
    query: {
      account,
      at: Schema.optional(InstantText).annotate({
        description: "Return the nodes known at this instant (ISO 8601 with an offset), as far back as events are kept."
      }),
      after: Schema.optional(Schema.String).annotate({ description: "`next` of the previous page." }),
      limit: limit(maxNodes, 1000)
    },
    success: NodePage,
    error: refusals
  }).annotateMerge(described("Nodes", "By account and id, without asking the service.")),
  HttpApiEndpoint.get("plans", "/api/plans", { success: Schema.Array(PricedPlan) }).annotateMerge(
    described("Plans", "Plans with their prices, as last read.")
  )
) {}

class CostGroup extends HttpApiGroup.make("cost").add(
  HttpApiEndpoint.get("read", "/api/cost", {
    query: {
      account,
      month: Schema.optional(Schema.String).annotate({
        description: "`YYYY-MM`, a calendar month in India; default the current one."
      }),
      since: Schema.optional(InstantText).annotate({
        description: "Instead of a month: from this instant (ISO 8601 with an offset) until now."
      })
    },
    success: CostReport,
    error: refusals
  }).annotateMerge(described("Cost", "What each account spent in a month or since an instant, by day, and a forecast."))
) {}

class EventsGroup extends HttpApiGroup.make("events").add(
  HttpApiEndpoint.get("read", "/api/events", {
    query: {
      ...filter,
      after: Schema.optional(Schema.String).annotate({
        description: "Events after this cursor; empty for the oldest that are kept. Without it, the newest events."
      }),
      silence: Schema.optional(Schema.String).annotate({
        description: "Only events that the silence with this id kept from a sink."
      }),
      limit: limit(maxEvents, 100)
    },
    success: EventPage,
    error: refusals
  }).annotateMerge(described("Events", "Events of the log, oldest first.")),
  HttpApiEndpoint.get("follow", "/events", {
    query: {
      ...filter,
      after: Schema.optional(Schema.String).annotate({
        description: "Where to begin; `Last-Event-ID` wins over it. Without either, at new events."
      })
    },
    headers: { "last-event-id": Schema.optional(Schema.String) },
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" })),
    error: refusals
  }).annotateMerge(
    described("Follow the events", "Server-sent events: `data` is a CloudEvent on one line, `id` the cursor after it.")
  )
) {}

const sink = { sink: Schema.String }

/** The parameters and replies of requests that change something about a sink. */
const changed = { params: sink, success: SinkStatus, error: refusals }

class SinksGroup extends HttpApiGroup.make("sinks").add(
  HttpApiEndpoint.get("list", "/api/sinks", { success: Schema.Array(SinkStatus) }).annotateMerge(
    described("Sinks", "The delivery progress of each sink.")
  ),
  HttpApiEndpoint.post("enable", "/api/sinks/:sink/enable", changed).annotateMerge(
    described("Enable a sink", "A disabled sink continues where it stopped.")
  ),
  HttpApiEndpoint.post("retry", "/api/sinks/:sink/retry", changed).annotateMerge(
    described("Retry now", "Delivers dead letters and waiting events now.")
  ),
  HttpApiEndpoint.get("dead", "/api/sinks/:sink/dead", {
    params: sink,
    query: {
      after: Schema.optional(Schema.String).annotate({ description: "`next` of the previous page." }),
      limit: limit(maxEvents, 100)
    },
    success: DeadLetterPage,
    error: refusals
  }).annotateMerge(described("Dead letters", "Events that the sink gave up on.")),
  HttpApiEndpoint.post("revive", "/api/sinks/:sink/dead/:id/retry", {
    ...changed,
    params: { ...sink, id: Schema.String }
  }).annotateMerge(described("Retry one dead letter", "Delivers it now; the id is that of its event.")),
  HttpApiEndpoint.post("test", "/api/sinks/:sink/test", changed).annotateMerge(
    described("Test a sink", "Sends one test event, which does not appear in the log.")
  ),
  HttpApiEndpoint.delete("remove", "/api/sinks/:sink", {
    params: sink,
    success: HttpApiSchema.NoContent,
    error: refusals
  }).annotateMerge(
    described("Remove a sink", "Forgets a sink that the config no longer has, including its undelivered events.")
  ),
  HttpApiEndpoint.post("replay", "/api/sinks/:sink/replay", {
    ...changed,
    payload: Schema.Struct({ after: Schema.String, account }).annotate({ identifier: "Replay" })
  }).annotateMerge(described("Replay", "Redelivers all events after this cursor, of all accounts or of one."))
) {}

class SilencesGroup extends HttpApiGroup.make("silences").add(
  HttpApiEndpoint.get("list", "/api/silences", { success: SilenceList }).annotateMerge(
    described("Silences", "Planned, active, or ended within a day.")
  ),
  HttpApiEndpoint.post("add", "/api/silences", {
    payload: NewSilence,
    success: Silence,
    error: refusals
  }).annotateMerge(
    described("Add a silence", "Holds events back from sinks until it ends. With a later `from` it is planned.")
  ),
  HttpApiEndpoint.post("end", "/api/silences/:silence/end", {
    params: { silence: Schema.String },
    payload: SilenceEnding,
    success: Silence,
    error: refusals
  }).annotateMerge(described("End a silence", "Ends it now, or cancels a planned one."))
) {}

class SessionGroup extends HttpApiGroup.make("session").add(
  HttpApiEndpoint.post("open", "/api/session", {
    payload: Schema.Struct({ token: Schema.String }).annotate({ identifier: "Login" }),
    success: HttpApiSchema.NoContent,
    error: [failures[400], failures[401], failures[413], failures[415], failures[429]]
  }).annotateMerge(described("Log in", "Sets the cookie that a browser sends instead of the token.")),
  HttpApiEndpoint.delete("close", "/api/session", { success: HttpApiSchema.NoContent }).annotateMerge(
    described("Log out", "Removes the cookie.")
  )
) {}

const Health = Schema.Struct({ status: Schema.Literal("ok"), version: Schema.String }).annotate({
  identifier: "Health"
})

/**
 * Whether each account had a recent complete sweep, and the store accepts writes. All fields except `ready` are only for
 * callers that may read data.
 */
export const Readiness = Schema.Struct({
  ready: Schema.Boolean,
  reasons: Schema.optionalKey(Schema.Array(Schema.String)).annotate({
    description: "Why it is not ready; empty if it is."
  }),
  accounts: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        account: Schema.String,
        ready: Schema.Boolean,
        ageSeconds: Schema.NullOr(Schema.Number),
        maxAgeSeconds: Schema.Number
      })
    )
  )
}).annotate({ identifier: "Readiness" })
export type Readiness = typeof Readiness.Type

/** Targets with common labels, in the format of Prometheus's `http_sd_configs`. */
export const TargetGroup = Schema.Struct({
  targets: Schema.Array(Schema.String),
  labels: Schema.Record(Schema.String, Schema.String)
}).annotate({ identifier: "TargetGroup" })
export type TargetGroup = typeof TargetGroup.Type

class OperationsGroup extends HttpApiGroup.make("operations").add(
  HttpApiEndpoint.get("health", "/healthz", { success: Health }).annotateMerge(
    described("Health", "200 as long as the process runs.")
  ),
  HttpApiEndpoint.get("ready", "/readyz", {
    query: {
      fleet: Schema.optional(Schema.String).annotate({
        description: "With several processes on one store: checks the accounts of all of them, not only of this one."
      })
    },
    success: Readiness,
    error: Readiness.pipe(HttpApiSchema.status(503))
  }).annotateMerge(
    described("Readiness", "503 while the last complete sweep of an account is too old, or the store rejects writes.")
  ),
  HttpApiEndpoint.get("metrics", "/metrics", {
    query: { account },
    error: refusals,
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" }))
  }).annotateMerge(
    described(
      "Metrics",
      "Metrics in the text format of Prometheus. With more than 100 accounts they are summed over all; `account` selects a single one."
    )
  ),
  HttpApiEndpoint.get("targets", "/sd", {
    query: {
      account,
      port: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 }))).annotate({
        description: "Port of every target; default 9100."
      }),
      address: Schema.optional(Schema.Literals(["public", "private"])).annotate({
        description: "Which address of a node is the target; default public."
      })
    },
    success: Schema.Array(TargetGroup),
    error: [failures[400], failures[404], failures[503]]
  }).annotateMerge(
    described(
      "Targets",
      "Running nodes for `http_sd_configs`. While an account is in doubt, its last good list is used."
    )
  )
) {}

/**
 * Declares the failures of the access check. `app.ts` makes the check before it reads the path, so every caller of an endpoint
 * has passed it.
 */
export class Access extends HttpApiMiddleware.Service<Access>()("@berthkit/watch/http/Access", {
  error: [failures[401], failures[403], failures[429], failures[500]]
}) {}

const api = HttpApi.make("berth-watch")
  .add(StatusGroup)
  .add(NodesGroup)
  .add(CostGroup)
  .add(EventsGroup)
  .add(SinksGroup)
  .add(SilencesGroup)
  .add(SessionGroup)
  .add(OperationsGroup)
  .middleware(Access)

const describe = plain(api)

/** Adds the token to the OpenAPI document as optional, because a daemon without a token does not ask for it. */
const withTokenScheme = (spec: Json): Json => {
  for (const path of Object.values<Json>(spec["paths"])) {
    for (const operation of Object.values(path)) operation.security = [{}, { token: [] }]
  }
  spec["components"].securitySchemes = { token: { type: "http", scheme: "bearer" } }
  return spec
}

export class WatchApi extends api.annotateMerge(
  OpenApi.annotations({
    title: "berth-watch",
    version: "1",
    description: "The daemon's knowledge and its events. Instants are ISO 8601 in UTC; cursors are opaque.",
    servers: [{ url: "/", description: "The daemon that this description comes from." }],
    transform: (spec) => withTokenScheme(describe(spec))
  })
) {}
