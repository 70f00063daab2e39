/**
 * The delivered events as plain types; times are strings (RFC 3339). Generated from the daemon's schemas by
 * `pnpm --filter @berthkit/watch events`; a test compares.
 */

/** An event; its `type` says which. A later version of the daemon may add types and fields. */
export type WatchEvent =
  | WatchBaseline
  | NodeCreated
  | NodeDiscovered
  | NodeStatusChanged
  | NodeChanged
  | NodeDeleted
  | NodeStuck
  | NodeUnstuck
  | WatchDegraded
  | WatchRecovered
  | ImageAdded
  | ImageRemoved
  | PlanAdded
  | PlanRemoved
  | PlanPriceChanged
  | AllowanceLow
  | CostForecastExceeded
  | CostBudgetCrossed
  | CostIdle
  | NodeLeaseExpired
  | SinkDisabled
  | WatchTrouble
  | WatchTroubleEnded
  | NodeBaseline

/** A silence that held an event. */
export interface Silence {
  readonly id: string
  readonly reason: string
}

/** An event of the type `berth.watch.baseline`. */
export interface WatchBaseline {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly type: "berth.watch.baseline"
  readonly data: {
    /** Number of nodes. */
    readonly count: number
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** Number of the last complete sweep; null before the first. */
    readonly sweep: number | null
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** The statuses that Berth knows. */
export type KnownStatus = "creating" | "created" | "running" | "power-off" | "terminate"

/** A status that Berth does not know, in the service's own spelling; empty if the service states none. */
export interface UnknownStatus {
  readonly unknown: string
}

/** A node as observed. Values that the service did not state are null. */
export interface Node {
  readonly id: number
  readonly name: string
  readonly status: KnownStatus | UnknownStatus
  readonly createdAt: string | null
  readonly vcpus: number | null
  readonly memoryMib: number | null
  readonly diskGb: number | null
  readonly publicIp: string | null
  readonly privateIp: string | null
  readonly plan: string | null
  readonly image: string | null
  readonly region: string | null
  readonly backups: boolean | null
  readonly locked: boolean | null
  readonly committed: boolean | null
  readonly tags: ReadonlyArray<string>
  readonly extra: Readonly<Record<string, unknown>>
}

/** An event of the type `berth.node.created`. */
export interface NodeCreated {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `nodes/{id}`. */
  readonly subject: string
  readonly type: "berth.node.created"
  readonly data: {
    readonly before: null
    readonly after: Node
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** Number of the sweep (a read of the whole list) that showed it; null if a read of the single node did. */
    readonly sweep: number | null
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.node.discovered`. */
export interface NodeDiscovered {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `nodes/{id}`. */
  readonly subject: string
  readonly type: "berth.node.discovered"
  readonly data: {
    readonly before: null
    readonly after: Node
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** Number of the sweep (a read of the whole list) that showed it; null if a read of the single node did. */
    readonly sweep: number | null
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.node.status_changed`. */
export interface NodeStatusChanged {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `nodes/{id}`. */
  readonly subject: string
  readonly type: "berth.node.status_changed"
  readonly data: {
    readonly from: KnownStatus | UnknownStatus
    readonly to: KnownStatus | UnknownStatus
    readonly before: Node
    readonly after: Node
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** Number of the sweep (a read of the whole list) that showed it; null if a read of the single node did. */
    readonly sweep: number | null
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.node.changed`. */
export interface NodeChanged {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `nodes/{id}`. */
  readonly subject: string
  readonly type: "berth.node.changed"
  readonly data: {
    /** What changed. */
    readonly fields: ReadonlyArray<"name" | "plan" | "publicIp" | "privateIp" | "backups" | "locked">
    readonly before: Node
    readonly after: Node
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** Number of the sweep (a read of the whole list) that showed it; null if a read of the single node did. */
    readonly sweep: number | null
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.node.deleted`. */
export interface NodeDeleted {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `nodes/{id}`. */
  readonly subject: string
  readonly type: "berth.node.deleted"
  readonly data: {
    readonly before: Node
    readonly after: null
    /** `requested`: somebody asked for it with berth or with a program. `lease`: berth ended the lease of the node. `commitment`: the node was to end with its commitment. `unknown`: nobody noted any of these, so the deletion may be unexpected. */
    readonly cause: "requested" | "commitment" | "lease" | "unknown"
    /** Who asked for it, or set the end of the commitment; null if the cause is unknown. Fields that berth does not know are null. */
    readonly causedBy: {
      readonly at: string
      /** The command of berth, such as `node delete`, or the file name of the program. */
      readonly command: string | null
      /** The fleet whose file requested it. */
      readonly fleet: string | null
      /** The lease of `berth run` that ended. */
      readonly lease: string | null
      /** The user who ran the command. */
      readonly user: string | null
      /** The machine on which it ran. */
      readonly host: string | null
      /** The job of a CI system that ran it. */
      readonly job: string | null
    } | null
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** Number of the sweep (a read of the whole list) that showed it; null if a read of the single node did. */
    readonly sweep: number | null
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.node.stuck`. */
export interface NodeStuck {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `nodes/{id}`. */
  readonly subject: string
  readonly type: "berth.node.stuck"
  readonly data: {
    readonly status: KnownStatus | UnknownStatus
    readonly since: string
    readonly after: Node
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** Number of the sweep (a read of the whole list) that showed it; null if a read of the single node did. */
    readonly sweep: number | null
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.node.unstuck`. */
export interface NodeUnstuck {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `nodes/{id}`. */
  readonly subject: string
  readonly type: "berth.node.unstuck"
  readonly data: {
    readonly status: KnownStatus | UnknownStatus
    readonly since: string
    readonly after: Node
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** Number of the sweep (a read of the whole list) that showed it; null if a read of the single node did. */
    readonly sweep: number | null
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.watch.degraded`. */
export interface WatchDegraded {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly type: "berth.watch.degraded"
  readonly data: {
    /** `sweep-failed`: the list cannot be read, and everything is late. `list-empty`, `nodes-vanished`: the list is too short to be believed, and no deletion is reported. `other-account`: the list has none of the nodes that are known, after a change of the API key, and nothing is reported. */
    readonly trouble: "sweep-failed" | "list-empty" | "nodes-vanished" | "other-account"
    readonly message: string
    /** Nodes that should have been listed. */
    readonly expected: number
    /** How many of them were missing; 0 if the list could not be read. */
    readonly missing: number
    /** Number of the last complete sweep; null before the first. */
    readonly sweep: number | null
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.watch.recovered`. */
export interface WatchRecovered {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly type: "berth.watch.recovered"
  readonly data: {
    /** `sweep-failed`: the list cannot be read, and everything is late. `list-empty`, `nodes-vanished`: the list is too short to be believed, and no deletion is reported. `other-account`: the list has none of the nodes that are known, after a change of the API key, and nothing is reported. */
    readonly trouble: "sweep-failed" | "list-empty" | "nodes-vanished" | "other-account"
    /** `reachable`: the list can be read again. `plausible`: the missing nodes are back. `persisted`: those that are not back were missing for the whole hold. `same-account`: the list has known nodes. */
    readonly ending: "reachable" | "plausible" | "persisted" | "same-account"
    readonly since: string
    /** Number of the last complete sweep; null before the first. */
    readonly sweep: number | null
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An operating system of the catalogue. */
export interface OperatingSystem {
  readonly name: string
  readonly version: string | null
  readonly image: string | null
}

/** An image of the catalogue. */
export interface CatalogueImage {
  /** The value for `image` in a create. */
  readonly image: string
  readonly name: string
  readonly os: OperatingSystem
}

/** An event of the type `berth.image.added`. */
export interface ImageAdded {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `images/{image}` or `plans/{plan}`. */
  readonly subject: string
  readonly type: "berth.image.added"
  readonly data: {
    readonly before: null
    readonly after: CatalogueImage
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.image.removed`. */
export interface ImageRemoved {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `images/{image}` or `plans/{plan}`. */
  readonly subject: string
  readonly type: "berth.image.removed"
  readonly data: {
    readonly before: CatalogueImage
    readonly after: null
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** The price of a plan with some of its images. */
export interface PlanPrice {
  /** Rupees per hour; null if that is not known. */
  readonly pricePerHourInr: number | null
  /** Rupees per month; null if that is not known. */
  readonly pricePerMonthInr: number | null
  /** Lower bound in rupees per hour; null if no price is known. In a sum, an unknown price counts as nothing. */
  readonly minPricePerHourInr: number | null
  /** Upper bound in rupees per hour; null if it is not known. */
  readonly maxPricePerHourInr: number | null
  /** Lower bound in rupees per month; null if no price is known. In a sum, an unknown price counts as nothing. */
  readonly minPricePerMonthInr: number | null
  /** Upper bound in rupees per month; null if it is not known. */
  readonly maxPricePerMonthInr: number | null
  readonly images: ReadonlyArray<string>
}

/** A plan of the catalogue. */
export interface CataloguePlan {
  /** The value for `plan` in a create. */
  readonly plan: string
  readonly vcpus: number | null
  readonly memoryMib: number | null
  readonly diskGb: number | null
  readonly series: string | null
  /** Rupees per hour; null if that is not known. */
  readonly pricePerHourInr: number | null
  /** Rupees per month; null if that is not known. */
  readonly pricePerMonthInr: number | null
  /** Lower bound in rupees per hour; null if no price is known. In a sum, an unknown price counts as nothing. */
  readonly minPricePerHourInr: number | null
  /** Upper bound in rupees per hour; null if it is not known. */
  readonly maxPricePerHourInr: number | null
  /** Lower bound in rupees per month; null if no price is known. In a sum, an unknown price counts as nothing. */
  readonly minPricePerMonthInr: number | null
  /** Upper bound in rupees per month; null if it is not known. */
  readonly maxPricePerMonthInr: number | null
  /** Images with the same price together; each image once. */
  readonly prices: ReadonlyArray<PlanPrice>
}

/** An event of the type `berth.plan.added`. */
export interface PlanAdded {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `images/{image}` or `plans/{plan}`. */
  readonly subject: string
  readonly type: "berth.plan.added"
  readonly data: {
    readonly before: null
    readonly after: CataloguePlan
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.plan.removed`. */
export interface PlanRemoved {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `images/{image}` or `plans/{plan}`. */
  readonly subject: string
  readonly type: "berth.plan.removed"
  readonly data: {
    readonly before: CataloguePlan
    readonly after: null
    /** How many nodes of the account have the plan. */
    readonly nodes: number
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.plan.price_changed`. */
export interface PlanPriceChanged {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `images/{image}` or `plans/{plan}`. */
  readonly subject: string
  readonly type: "berth.plan.price_changed"
  readonly data: {
    readonly before: CataloguePlan
    readonly after: CataloguePlan
    /** How many nodes of the account have the plan. */
    readonly nodes: number
    /** The additional monthly cost of these nodes in rupees; negative if they cost less; null if one of their prices is unknown. */
    readonly differencePerMonthInr: number | null
    /** The event happened between these two instants (inclusive); polling cannot tell exactly when. */
    readonly observedBetween: readonly [string, string]
    /** This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown. */
    readonly afterGap?: true
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.allowance.low`. */
export interface AllowanceLow {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly type: "berth.allowance.low"
  readonly data: {
    /** Requests that the service grants per window. */
    readonly limit: number
    /** Requests that are left. */
    readonly remaining: number
    /** When it refills; null if unknown. */
    readonly resetsAt: string | null
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.cost.forecast_exceeded`. */
export interface CostForecastExceeded {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly type: "berth.cost.forecast_exceeded"
  readonly data: {
    /** `YYYY-MM`, a calendar month in India. */
    readonly month: string
    readonly budgetInr: number
    readonly forecastInr: number
    readonly minInr: number
    /** In rupees: the upper bound; null if a price is not known. */
    readonly maxInr: number | null
    readonly monthToDateInr: number
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.cost.budget_crossed`. */
export interface CostBudgetCrossed {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly type: "berth.cost.budget_crossed"
  readonly data: {
    /** `YYYY-MM`, a calendar month in India. */
    readonly month: string
    readonly budgetInr: number
    readonly thresholdPercent: number
    readonly monthToDateInr: number
    readonly minInr: number
    /** In rupees: the upper bound; null if a price is not known. */
    readonly maxInr: number | null
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.cost.idle`. */
export interface CostIdle {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `nodes/{id}`. */
  readonly subject: string
  readonly type: "berth.cost.idle"
  readonly data: {
    /** `off`: it is off and still billed. `lease`: it has outlived its lease. */
    readonly reason: "off" | "lease"
    readonly since: string
    /** In rupees; null if that is not known. */
    readonly pricePerHourInr: number | null
    readonly after: Node
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.node.lease_expired`. */
export interface NodeLeaseExpired {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  /** `nodes/{id}`. */
  readonly subject: string
  readonly type: "berth.node.lease_expired"
  readonly data: {
    readonly expiredAt: string
    readonly after: Node
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.sink.disabled`. */
export interface SinkDisabled {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly type: "berth.sink.disabled"
  readonly data: {
    readonly sink: string
    /** `gone`: the receiver answered 410. `failing`: nothing was delivered for 5 days. `lagging`: it is behind by more than its `maxLag`. `requested`: by a person. */
    readonly reason: "gone" | "failing" | "lagging" | "requested"
    readonly message: string
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.watch.trouble`. */
export interface WatchTrouble {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly type: "berth.watch.trouble"
  readonly data: {
    /** Its name in the table of troubles. */
    readonly trouble: string
    readonly about: {
      readonly kind: "daemon" | "account" | "sink"
      readonly name: string | null
    }
    readonly severity: "critical" | "warning"
    readonly message: string
    /** What to do. */
    readonly next: string
    readonly since: string
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** An event of the type `berth.watch.trouble_ended`. */
export interface WatchTroubleEnded {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  /** Position in the order of events, zero-padded. */
  readonly sequence: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly type: "berth.watch.trouble_ended"
  readonly data: {
    readonly trouble: string
    readonly about: {
      readonly kind: "daemon" | "account" | "sink"
      readonly name: string | null
    }
    readonly since: string
    /** The silences that held the event back, if it is delivered after one of them has ended. */
    readonly silenced?: ReadonlyArray<Silence>
  }
}

/** A node that existed before the sink. The event is only for this sink. */
export interface NodeBaseline {
  readonly specversion: "1.0"
  readonly id: string
  /** `/accounts/{name}`. */
  readonly source: string
  readonly type: "berth.node.discovered"
  /** `nodes/{id}`. */
  readonly subject: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly data: {
    readonly before: null
    readonly after: Node
    /** The node existed before the sink, and only this sink gets the event. */
    readonly baseline: true
  }
}
