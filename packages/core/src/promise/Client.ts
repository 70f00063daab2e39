/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The public types of the promise client: the client, its options, and the arguments and results of its methods. `promise.ts` implements
 * it.
 */
import type { ListBounds, Listed, ListedPage } from "../client/listing/Listed.ts"
import type { StateDirectory } from "../client/StateDirectory.ts"
import type { Address, Fetch, Signal } from "./Platform.ts"
import type {
  Attempt,
  CommitmentSetting,
  Image,
  ImageFilter,
  KnownAllowance,
  KnownStatus,
  Lane,
  Node,
  NodeSpec,
  Plan,
  PlanFilter,
  SavedImage
} from "./Records.ts"

/** A duration: milliseconds, or a string such as `"30 seconds"`. */
export type Timespan = number | `${number} ${"millis" | "second" | "seconds" | "minute" | "minutes" | "hour" | "hours"}`

/** Options of a call that sends no request. */
export interface SignalOptions {
  /** Aborts the call at once, wherever it is; the promise rejects with `Aborted`. */
  readonly signal?: Signal | undefined
}

/** The last argument of every method that sends requests. */
export interface CallOptions extends SignalOptions {
  /** Maximum time of the whole call. Default: the client's. */
  readonly deadline?: Timespan | undefined
  /** Priority of the call when the allowance is short. Default: the client's, otherwise the method's. */
  readonly lane?: Lane | undefined
  /** Maximum number of attempts of the call, 1 to 8; 1 disables retries. Default: the client's. */
  readonly maxAttempts?: number | undefined
  /** Maximum time of each attempt. Default: the client's. */
  readonly attemptTimeout?: Timespan | undefined
  /** Additional headers of this call's requests, which override the client's; the same rules apply. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Called after each attempt of the call, after the client's `onAttempt`, with the same rules. */
  readonly onAttempt?: ((attempt: AttemptReport) => void) | undefined
  /**
   * Called once with the last reply of the call; a list calls it for every page. The reply of a success is unchanged;
   * the reply of a failure is masked, and its body is cut to 2048 characters. A create passes the reply to its own
   * request, even if its node is then adopted. The function cannot end the call: if it throws or its promise rejects,
   * the error becomes a warning on stderr, once per call. The call does not wait for its promise.
   */
  readonly onReply?: ((reply: RawReply) => void) | undefined
}

/** An unchanged reply with its body as text. Header names are in lower case. */
export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** Options of a delete. */
export interface DeleteOptions extends CallOptions {
  /** Whether the account keeps the node's public address, which may cost money. Default false. */
  readonly keepPublicIp?: boolean | undefined
}

/** Options of a client. */
export interface ClientOptions {
  /** The service's scheme and host; the whole `/myaccount/api/v1` address is accepted too. */
  readonly baseUrl: string | Address
  readonly apiKey: string
  readonly accessToken: string
  /**
   * The name of the account at this service, 1 to 128 characters. The keys of creates then belong to this name, so they stay valid when the
   * API key is replaced. Needs a `stateDirectory`; two accounts must not share a name. Default: keys belong to the API key.
   */
  readonly account?: string | undefined
  /**
   * The project whose nodes the client sees: a whole number from 1. Every request carries it as `project_id`, and keys of creates belong to
   * it. Needs `location`. Default: none, as in the documented interface.
   */
  readonly project?: number | undefined
  /** The location of these nodes, such as `Delhi`. Keys of creates ignore its case. Needs `project`. Default: none. */
  readonly location?: string | undefined
  /** Maximum time of a call, or of each request of a list. A wait has its own limit. Default 60 seconds. */
  readonly deadline?: Timespan | undefined
  /** Maximum time of one attempt. Default 15 seconds. */
  readonly attemptTimeout?: Timespan | undefined
  /** Maximum number of attempts of one call, 1 to 8. Default 8. */
  readonly maxAttempts?: number | undefined
  /** Lane of calls that set none. Default: the method's. */
  readonly lane?: Lane | undefined
  /**
   * Where the client keeps what later processes need: the creates with a `key`; the allowance, which all processes of
   * this machine with the same API key then share; and the log of its changes, for `berth history` and the daemon.
   * `auto` is the folder that `berth` uses, and obeys `BERTH_ALLOWANCE_FILE` as `berth` does. Any other text is the
   * path of another folder. Both need `node:fs`. A relative path starts at the working directory at the time the client
   * is made, so using the same key from two working directories makes two nodes. `~` is refused: write
   * `path.join(os.homedir(), ".berth")` for the folder that a shell means by `~/.berth`. `memory` keeps keys and
   * allowance in this client alone, and no log. A create with a key can then be repeated safely only until the client
   * is closed or the process ends. Default: none, and no create can have a `key`.
   */
  readonly stateDirectory?: StateDirectory | undefined
  /**
   * Headers of every request, for a gateway on the way to the service. They cannot replace headers that the client or HTTP itself sets,
   * such as the credentials. If a header's name says that it is a secret (such as `x-gateway-token`), its value is masked like the
   * credentials.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The client's `User-Agent`. Default `berth/VERSION`. A browser sends its own. */
  readonly userAgent?: string | undefined
  /** Maximum length of a reply's body, in bytes. Default 2 MiB, and 16 MiB for an image list. */
  readonly maxBodyBytes?: number | undefined
  /**
   * Maximum number of tokens in a body that is parsed: outside strings, each `,` and `[` is one token, each `{` and `:` three. The limit
   * bounds how long parsing blocks the program. Default 200 000, and 2 million for an image list.
   */
  readonly maxBodyTokens?: number | undefined
  /** Sends the requests, including the credentials. Default: the runtime's `fetch`. */
  readonly fetch?: Fetch | undefined
  /**
   * Called with each attempt when it is over, for a log or metrics. The function cannot end the call: if it throws or
   * its promise rejects, the error becomes a warning on stderr, once per client. The call does not wait for its
   * promise.
   */
  readonly onAttempt?: ((attempt: AttemptReport) => void) | undefined
  /** Called with the last reply of each call, before the call's own `onReply`, with the same rules. */
  readonly onReply?: ((reply: RawReply) => void) | undefined
  /**
   * Receives a line for each attempt, and the warnings. Without a logger, warnings go to stderr. `console` is a logger. Errors that a
   * logger throws are ignored. Default: none.
   */
  readonly logger?: Logger | undefined
  /**
   * The lowest level that the logger receives. `debug`: successful attempts; `info`: failed attempts; `warn`: what the client cannot do
   * as asked, such as writing its files; `off`: nothing. Default `info`.
   */
  readonly logLevel?: LogLevel | undefined
}

/** Receives lines: a sentence, and for an attempt its report. Neither contains a credential. */
export interface Logger {
  readonly debug: (message: string, attempt?: AttemptReport) => void
  readonly info: (message: string, attempt?: AttemptReport) => void
  readonly warn: (message: string) => void
}

/** How much is logged. */
export type LogLevel = "debug" | "info" | "warn" | "off"

/** An attempt that is over: what was sent, and the fields that the errors of the call list. It contains no credential. */
export interface AttemptReport extends Attempt {
  /** For example `nodes.get`. */
  readonly operation: string
  readonly method: string
  /** The full address, with the API key replaced by `<redacted>`. */
  readonly url: string
}

/**
 * The result of a create. `created`: the reply named the new node. `adopted`: the client found the node afterwards, because the reply was
 * lost or an earlier call with the key had made it.
 */
export interface Creation {
  readonly outcome: "created" | "adopted"
  /** The node's name has the service's spelling, which may differ from the spec's. */
  readonly node: Node
}

/** Options of a create. */
export interface CreateOptions extends CallOptions {
  /**
   * The idempotency key of this create: a second call with the same key makes no second node, even in a later process with the same
   * `stateDirectory`. Needs a `stateDirectory`. A key has 1 to 128 letters, digits, dots, dashes and underscores, and begins with a letter
   * or digit. Default: none.
   */
  readonly key?: string | undefined
}

/** Options of `setCommitment`. */
export interface CommitmentOptions extends CallOptions {
  /** Committed option of the plan; needed for `auto_renew` on a node without a commitment. */
  readonly skuId?: number | undefined
}

/** Options of a list. */
export interface ListOptions extends CallOptions, ListBounds {
  /**
   * Maximum time of each promise: of each page of an iterable, however many requests it needs, and of the whole list for `find` and
   * `toArray`. Default: none; each request then has the client's deadline.
   */
  readonly deadline?: Timespan | undefined
  /**
   * Called once, at the end of the list, with the number of nodes and requests and whether the list is certainly complete. Like `onReply`
   * it cannot end the call.
   */
  readonly onEnd?: ((listed: Listed) => void) | undefined
}

/** Options of a page. */
export interface PageOptions extends CallOptions {
  /** The number of the page, from 1. Default: 1. */
  readonly page?: number | undefined
  /** Maximum number of nodes on the page, 1 to 100. Default 100. */
  readonly perPage?: number | undefined
  /**
   * Called once with the unreadable records that the page leaves out; each may be a node. Like `onReply` it cannot end the call.
   */
  readonly onEnd?: ((page: ListedPage) => void) | undefined
}

/** The nodes of the list. Each iteration is a separate listing. */
export interface NodeList extends AsyncIterable<Node> {
  /** All nodes, or the first `limit`, which is at least 1. */
  readonly toArray: (options?: { readonly limit?: number | undefined }) => Promise<Array<Node>>
  /** The same nodes in batches: the new nodes of each reply. */
  readonly pages: () => AsyncIterable<ReadonlyArray<Node>>
}

/** Options of a wait. */
export interface WaitOptions extends SignalOptions, Pick<CallOptions, "lane"> {
  /** Maximum time of the whole wait. Default 10 minutes. */
  readonly deadline?: Timespan | undefined
  /** The same as `deadline`; the shorter of the two counts. */
  readonly timeout?: Timespan | undefined
}

/** A request in the caller's form. */
export interface RawRequest {
  readonly method: "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** The path below `/myaccount/api/v1`, such as `/nodes/`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  /** Sent as JSON. */
  readonly body?: unknown
}

/**
 * The client. Every method rejects with a `BerthError` and nothing else. The two methods that return an async iterable, `nodes.list` and
 * `allowance.changes`, throw an `InvalidOption` at once.
 */
export interface Client {
  readonly nodes: {
    /** Creates a node. The reply comes before the node runs: wait for `running` with `awaitStatus`. */
    readonly create: (spec: NodeSpec, options?: CreateOptions) => Promise<Creation>
    readonly get: (id: number, options?: CallOptions) => Promise<Node>
    /**
     * Every node of the account, read page by page as the program takes them. Throws `InvalidOption` at once; every other error is thrown
     * while the nodes are taken.
     */
    readonly list: (options?: ListOptions) => NodeList
    /** One page of the list; empty past the end. It leaves out records that cannot be read, with a warning as in `list`. */
    readonly listPage: (options?: PageOptions) => Promise<ReadonlyArray<Node>>
    /**
     * All nodes with exactly this name, because names may repeat. Reads the whole list. If the list has an unreadable record that may be
     * such a node, `find` reads that node by its id, and rejects if this fails. It also rejects if the list shows no such node but may be
     * incomplete (`readToEnd` is false), so an empty array proves that there is none.
     */
    readonly find: (name: string, options?: ListOptions) => Promise<ReadonlyArray<Node>>
    /** Deletes a node. It stays listed as `terminate` until its termination ends. */
    readonly delete: (id: number, options?: DeleteOptions) => Promise<void>
    /**
     * Sets what happens when the node's commitment ends. A second request may begin another committed period, so a lost reply is not
     * retried: the call rejects, and it is not known whether the setting was changed.
     */
    readonly setCommitment: (id: number, setting: CommitmentSetting, options?: CommitmentOptions) => Promise<void>
    /**
     * Waits until the node has the status, or until each of several nodes has had it; the nodes come in the order of
     * the ids. Rejects with `StatusNotReached` as soon as it is clear that a node cannot reach the status, or that this
     * wait cannot see the status in time, for example because the allowance refills only after the deadline.
     */
    readonly awaitStatus: {
      (id: number, wanted: KnownStatus, options?: WaitOptions): Promise<Node>
      (ids: ReadonlyArray<number>, wanted: KnownStatus, options?: WaitOptions): Promise<ReadonlyArray<Node>>
    }
    /** Waits until the node, or each of several, is gone: neither readable nor listed. */
    readonly awaitDeleted: (id: number | ReadonlyArray<number>, options?: WaitOptions) => Promise<void>
  }
  readonly images: {
    /** The images that match all given filters; each appears once per plan that it works with. */
    readonly list: (filter?: ImageFilter, options?: CallOptions) => Promise<ReadonlyArray<Image>>
    /** The account's saved images. */
    readonly saved: (options?: CallOptions) => Promise<ReadonlyArray<SavedImage>>
  }
  readonly plans: {
    /** The plans of the images that match all given filters, in the service's order. */
    readonly list: (filter?: PlanFilter, options?: CallOptions) => Promise<ReadonlyArray<Plan>>
  }
  /** The allowance as known from the replies of the client's calls; reading it sends no request. */
  readonly allowance: {
    /** The current estimate. */
    readonly current: (options?: SignalOptions) => Promise<KnownAllowance>
    /**
     * The current estimate, and then every change. A slow reader skips to the newest. Throws `InvalidOption` at once, like `nodes.list`.
     */
    readonly changes: (options?: SignalOptions) => AsyncIterable<KnownAllowance>
  }
  readonly raw: {
    /** Any request, with the same credentials, limits and errors; resolves to the whole reply of a success. */
    readonly request: (request: RawRequest, options?: CallOptions) => Promise<RawReply>
  }
  /** Aborts all running calls. They reject with `ClientClosed`, and so do all later calls. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}
