/**
 * What goes in and out of the control plane, as JSON: instants and durations are text. Printed by `scripts/controlTypes.ts`.
 */

/** How a world is made. Everything has a default. */
export interface WorldOptions {
  /** Decides ids, addresses, prices and versions; default 1. */
  readonly seed?: number | undefined
  /** How the world's time passes: real, x60 (sixty times as fast), frozen; default real. */
  readonly clock?: string | undefined
  /** When the world's time begins, such as 2026-05-01T00:00:00Z; default 2026-01-01 when frozen, else now. */
  readonly startAt?: string | undefined
  /** What the account begins with: empty, small (a handful of nodes) or fleet:N; default empty. */
  readonly scenario?: string | undefined
  /** Nodes that it begins with, besides those of the scenario. */
  readonly nodes?:
    | ReadonlyArray<{
        readonly name: string
        /** A slug; default the first one the image goes with */
        readonly plan?: string | undefined
        /** Slug or id of a public image; default Ubuntu-24.04, or the first one that goes with the plan */
        readonly image?: string | number | undefined
        /** Its status at the start; default running, unless its rules say otherwise */
        readonly status?: "created" | "running" | "power-off" | "terminate" | undefined
        /** Default: the next free one */
        readonly id?: number | undefined
        /** an instant from 2002 to 2999 such as 2026-01-01T00:00:00Z */
        readonly createdAt?: string | undefined
        /** Default false */
        readonly locked?: boolean | undefined
        /** Default false */
        readonly backups?: boolean | undefined
      }>
    | undefined
  /** Time from a create to running; default 2 seconds. */
  readonly provisioning?: string | undefined
  /** Up to this much longer; default 0. */
  readonly provisioningJitter?: string | undefined
  /** Time from a delete to being gone; default 2 seconds. */
  readonly termination?: string | undefined
  /** Up to this much longer; default 0. */
  readonly terminationJitter?: string | undefined
  /** What becomes of nodes, by weight; default all run. */
  readonly outcomes?:
    | {
        /** Runs until a request ends it. */
        readonly runs?: number | undefined
        /** Stays in `created`. */
        readonly stuck?: number | undefined
        /** Runs for `outcomeAfter`, then shows `power-off`. */
        readonly powersOff?: number | undefined
        /** Runs for `outcomeAfter`, then is gone. */
        readonly vanishes?: number | undefined
      }
    | undefined
  /** Running time before an outcome; default 1 minute. */
  readonly outcomeAfter?: string | undefined
  /** Up to this much longer; default 0. */
  readonly outcomeAfterJitter?: string | undefined
  /** Other rules for nodes of certain names: the first match applies; what it leaves out is as for the world. */
  readonly lives?:
    | ReadonlyArray<{
        /** A pattern of node names: `*` is any text, `?` one character */
        readonly nodes: string
        /** a duration such as 10s or 10 seconds, up to 10 years */
        readonly provisioning?: string | undefined
        /** a duration such as 10s or 10 seconds, up to 10 years */
        readonly provisioningJitter?: string | undefined
        /** a duration such as 10s or 10 seconds, up to 10 years */
        readonly termination?: string | undefined
        /** a duration such as 10s or 10 seconds, up to 10 years */
        readonly terminationJitter?: string | undefined
        readonly outcomes?:
          | {
              /** Runs until a request ends it. */
              readonly runs?: number | undefined
              /** Stays in `created`. */
              readonly stuck?: number | undefined
              /** Runs for `outcomeAfter`, then shows `power-off`. */
              readonly powersOff?: number | undefined
              /** Runs for `outcomeAfter`, then is gone. */
              readonly vanishes?: number | undefined
            }
          | undefined
        /** a duration such as 10s or 10 seconds, up to 10 years */
        readonly outcomeAfter?: string | undefined
        /** a duration such as 10s or 10 seconds, up to 10 years */
        readonly outcomeAfterJitter?: string | undefined
      }>
    | undefined
  /** Requests per window; default 1200 per hour, fixed-window. */
  readonly rateLimit?: RateLimit | undefined
  /** What a request must show: key and token, the key, nothing; default strict. */
  readonly auth?: "strict" | "key-only" | "off" | undefined
  /** A delete answers 204 without a body, or 200 with the envelope; default documented. */
  readonly deleteStyle?: "documented" | "enveloped" | undefined
  /** Refuse a name that a node has; default false. */
  readonly uniqueNames?: boolean | undefined
  /** Default: derived from the server's seed. */
  readonly apiKey?: string | undefined
  /** Default: derived from the server's seed. */
  readonly accessToken?: string | undefined
}

/** So many requests per window. */
export interface RateLimit {
  /** Requests per window, 1 or more */
  readonly limit?: number | undefined
  /** How long a window is, such as 1 hour */
  readonly window?: string | undefined
  /** How the window counts */
  readonly algorithm?: "fixed-window" | "sliding-window" | "token-bucket" | undefined
}

/** What can be changed of a running world. */
export interface WorldUpdate {
  readonly rateLimit?: RateLimit | undefined
}

/** What is forced on a node. */
export interface NodeChange {
  /** Stays until the node terminates. `terminate` deletes it, locked or not; null leaves it to the lifecycle. */
  readonly status?: "created" | "running" | "power-off" | "terminate" | null | undefined
  /** A locked node cannot be deleted by a request. */
  readonly locked?: boolean | undefined
}

/** The image to save of a node. */
export interface SavedImageOrder {
  readonly name: string
  readonly nodeId?: number | undefined
  readonly image?: string | undefined
  readonly plan?: string | undefined
}

/** A call that is expected, and how often. */
export interface ExpectedCall {
  readonly method?: string | undefined
  /** `*` is any text, `?` one character. */
  readonly path?: string | undefined
  readonly operation?:
    | "nodes.create"
    | "nodes.get"
    | "nodes.list"
    | "nodes.delete"
    | "images.list"
    | "images.saved"
    | "commitments.set"
    | undefined
  readonly query?: Readonly<Record<string, string>> | undefined
  /** Headers that must be there, by pattern; others may be, too. One that carries a credential is `<redacted>`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Fields that must be there with these values, at any depth; others may be, too. Lists must have the same length. */
  readonly body?: unknown | undefined
  readonly status?: number | null | undefined
  /** Faults that must have fired; others may have, too. */
  readonly faults?: ReadonlyArray<string> | undefined
  /** How often, exactly; not together with the other two. */
  readonly count?: number | undefined
  /** How often, at least; 1 without any count. */
  readonly atLeast?: number | undefined
  readonly atMost?: number | undefined
}

/** The calls that are expected of a program. */
export interface Expectation {
  readonly expected: ReadonlyArray<ExpectedCall>
  /** Whether the expected calls come in this order; others may be between them. */
  readonly inOrder?: boolean | undefined
  /** Whether any other call is a mismatch. */
  readonly noOthers?: boolean | undefined
}

/** A world at a glance. */
export interface WorldSummary {
  readonly id: string
  readonly seed: number
  /** real, frozen or a factor such as x60 */
  readonly clock: string
  readonly now: string
  readonly nodes: number
  readonly savedImages: number
  readonly allowance: {
    readonly algorithm: "fixed-window" | "sliding-window" | "token-bucket"
    readonly limit: number
    /** a duration such as 10s or 10 seconds, up to 10 years */
    readonly window: string
    readonly remaining: number
    readonly resetAt: string
  }
}

/** Something that happened while the clock was moved. */
export interface WorldEvent {
  readonly kind:
    | "provisioning-ends"
    | "powers-off"
    | "vanishes"
    | "commitment-ends"
    | "termination-ends"
    | "allowance-resets"
  readonly at: string
  readonly nodeId?: number
}

/** A node as the control plane shows it. */
export interface NodeView {
  readonly id: number
  readonly name: string
  readonly status: "created" | "running" | "power-off" | "terminate" | "gone"
  readonly locked: boolean
  readonly forced: boolean
  readonly plan: string
  readonly createdAt: string
}

/** An image that was saved of a node. */
export interface SavedImageView {
  readonly id: number
  readonly slug: string
  readonly name: string
  readonly templateId: number
  readonly image: string
  readonly plan: string
}

/** One request and its reply, or a reset of the world. */
export interface JournalEntry {
  /** Counts the entries of the journal, from 1. */
  readonly seq: number
  /** Set if this is not a request but a reset or a restored snapshot. */
  readonly change?: "reset" | "restored"
  /** When it came, in the world's time. */
  readonly at: string
  /** How long its reply took, in the world's time. */
  readonly durationMillis: number
  readonly method: string
  readonly path: string
  readonly operation:
    | "nodes.create"
    | "nodes.get"
    | "nodes.list"
    | "nodes.delete"
    | "images.list"
    | "images.saved"
    | "commitments.set"
    | null
  /** Without the API key. */
  readonly query: Readonly<Record<string, string>>
  /** By lower-case name, without `host`; credentials are hidden. */
  readonly headers: Readonly<Record<string, string>>
  /** The first 2048 bytes, without secrets. */
  readonly body: string | null
  /** Size of the whole body in bytes, if it was cut. */
  readonly bodyBytes?: number
  /** The status of the reply; null when there was none. */
  readonly status: number | null
  /** Those of the reply, by lower-case name; credentials are hidden. */
  readonly replyHeaders: Readonly<Record<string, string>>
  /** The first 2048 bytes of the body of a reply that is a failure, or at which a fault fired, without secrets; null of any other. */
  readonly reply: string | null
  /** Size of the whole body of the reply in bytes, if it was cut. */
  readonly replyBytes?: number
  /** The faults that fired, by name. */
  readonly faults: ReadonlyArray<string>
}

/** Whether the calls were as expected, and how they differ. */
export interface Verdict {
  readonly ok: boolean
  /** The same as text, for a test to print. */
  readonly message: string
  readonly mismatches: ReadonlyArray<{
    readonly expected: ExpectedCall
    /** How often, in words; with `inOrder` also after which request. */
    readonly wanted: string
    readonly found: number
    readonly nearMisses: ReadonlyArray<{ readonly request: JournalEntry; readonly differs: ReadonlyArray<string> }>
  }>
  /** With `noOthers`: calls that were not expected. */
  readonly others: ReadonlyArray<JournalEntry>
}

/** When a fault fires, and at which requests. Without any of it: always, at all of them. */
export interface Trigger {
  /** Lets the first N requests pass. */
  readonly after?: number | undefined
  /** Fires at every Nth request. */
  readonly every?: number | undefined
  /** Fires N times, then never again. */
  readonly times?: number | undefined
  /** Fires at this share of the requests, decided by the world's seed. */
  readonly probability?: number | undefined
  /** Not before this instant of the world. */
  readonly from?: string | undefined
  /** Until this instant of the world. */
  readonly until?: string | undefined
  readonly scope?:
    | {
        /** One or several of nodes.create, nodes.get, nodes.list, nodes.delete, images.list, images.saved, commitments.set. */
        readonly operation?:
          | "nodes.create"
          | "nodes.get"
          | "nodes.list"
          | "nodes.delete"
          | "images.list"
          | "images.saved"
          | "commitments.set"
          | ReadonlyArray<
              | "nodes.create"
              | "nodes.get"
              | "nodes.list"
              | "nodes.delete"
              | "images.list"
              | "images.saved"
              | "commitments.set"
            >
          | undefined
        /** The id of a node, or a pattern of its name: * is any text, ? one character. */
        readonly node?: number | string | undefined
        /** Headers of the request by name, each with a pattern of its value. */
        readonly header?: Readonly<Record<string, string>> | undefined
      }
    | undefined
}

/** A fault to be armed. */
export type Fault = Trigger &
  (
    | {
        readonly fault: "status"
        /** 200 to 599; default 503. */
        readonly status?: number | undefined
        /** Whether the body is the envelope or empty; default true, the envelope. */
        readonly envelope?: boolean | undefined
        /** The message of the envelope. */
        readonly message?: string | undefined
        /** The errors of the envelope: sentences by field, one or a list. */
        readonly errors?: Readonly<Record<string, string | ReadonlyArray<string>>> | undefined
        /** The body in place of the envelope: a text as it is, any other JSON as JSON; up to 65536 bytes. */
        readonly body?: unknown | undefined
        /** Headers by name, in place of those that every reply has or beside them. */
        readonly headers?: Readonly<Record<string, string>> | undefined
        /** Seconds in retry-after; default none. */
        readonly retryAfter?: number | undefined
      }
    | {
        readonly fault: "rate-limited"
        /** Seconds in retry-after, and until the reset; default 1. */
        readonly retryAfter?: number | undefined
      }
    | {
        readonly fault:
          | "rate-limited-bare"
          | "reset-before-request"
          | "reset-after-request"
          | "malformed-json"
          | "create-lost-reply"
          | "duplicate-create"
          | "id-reuse"
          | "stuck-provisioning"
          | "listed-but-404"
          | "empty-list"
      }
    | {
        readonly fault: "html-error"
        /** 200 to 599; default 502. */
        readonly status?: number | undefined
      }
    | {
        readonly fault: "latency"
        /** How late: for uniform the least, for lognormal the median; default 1 second. */
        readonly delay?: string | undefined
        /** fixed, uniform, lognormal; default fixed. */
        readonly distribution?: "fixed" | "uniform" | "lognormal" | undefined
        /** The most, for uniform and lognormal; default 1 minute. */
        readonly upTo?: string | undefined
        /** Spread of lognormal, 0 to 5; default 0.5. */
        readonly sigma?: number | undefined
      }
    | {
        readonly fault: "wrong-content-type"
        /** The content-type; default text/html. */
        readonly value?: string | undefined
      }
    | {
        readonly fault: "headers-missing"
        /** Which; default the three ratelimit headers. */
        readonly headers?: string | ReadonlyArray<string> | undefined
      }
    | {
        readonly fault: "headers-garbage"
        /** Their value; default a choice of the seed. */
        readonly value?: string | undefined
      }
    | {
        readonly fault: "date-skew"
        /** How far, -5m for behind; default 5m. */
        readonly by?: string | undefined
      }
    | {
        readonly fault: "success-with-failure-code"
        /** The code in the body, 400 to 599; default 500. */
        readonly code?: number | undefined
      }
    | {
        readonly fault: "reset-mid-body" | "truncated-body"
        /** How much of the body arrives, 0 to 1; default 0.5. */
        readonly share?: number | undefined
      }
    | {
        readonly fault: "slow-body"
        /** Bytes in each piece; default a tenth of the body. */
        readonly chunk?: number | undefined
        /** Between two pieces; default 100 millis. */
        readonly pause?: string | undefined
      }
    | {
        readonly fault: "hang"
        /** Whether the request is processed; default false. */
        readonly processed?: boolean | undefined
      }
    | {
        readonly fault: "garbage-bytes"
        /** How many; default 64. */
        readonly bytes?: number | undefined
      }
    | {
        readonly fault: "create-false-negative"
        /** Its status, 400 to 599; default 500. */
        readonly status?: number | undefined
      }
    | {
        readonly fault: "list-stale"
        /** How old, in time of the world; default 10 seconds. */
        readonly age?: string | undefined
      }
    | {
        readonly fault: "list-shifts"
        /** Places towards the front each time, negative for towards the end; default 1. */
        readonly by?: number | undefined
      }
    | {
        readonly fault: "get-lags"
        /** How far behind, in time of the world; default 10 seconds. */
        readonly age?: string | undefined
      }
    | {
        readonly fault: "status-unknown"
        /** The status; default a choice of the seed. */
        readonly value?: string | undefined
      }
    | {
        readonly fault: "field-missing" | "field-type-changed"
        /** Which field of the record; default a choice of the seed. */
        readonly field?: string | undefined
      }
    | {
        readonly fault: "field-extra"
        /** Its name; default a choice of the seed. */
        readonly field?: string | undefined
      }
    | {
        readonly fault: "window-changes"
        /** The new limit; default half of the old one. */
        readonly limit?: number | undefined
      }
  )
