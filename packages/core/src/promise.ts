/**
 * The client for people who do not use Effect: the same services as promises and async iterables, with plain values and
 * real `Error`s. It runs wherever `fetch` does. What it does between a call and the wire is in `client/Engine.ts`.
 */
import { Duration, Effect, Layer, Redacted, References, Result, Schema, Stream } from "effect"
import { Allowance } from "./client/Allowance.ts"
import { argument } from "./client/Argument.ts"
import type { Creation as DomainCreation } from "./client/creation/Creator.ts"
import * as FetchTransport from "./client/FetchTransport.ts"
import { Images } from "./client/Images.ts"
import type { Listed } from "./client/listing/Pages.ts"
import { Nodes } from "./client/Nodes.ts"
import { Plans } from "./client/Plans.ts"
import { RawApi } from "./client/RawApi.ts"
import { redactor } from "./client/Redaction.ts"
import * as Services from "./client/Services.ts"
import { type ClientOptions as EngineOptions, settingsFrom } from "./client/Settings.ts"
import type { AllowanceLevel } from "./domain/Allowance.ts"
import { CommitmentSetting } from "./domain/Commitment.ts"
import * as Domain from "./domain/BerthError.ts"
import { InvalidRequest } from "./domain/ErrorReason.ts"
import { type Image as DomainImage, ImageFilter } from "./domain/Image.ts"
import type { Lane } from "./domain/Lane.ts"
import { type Node as DomainNode, NodeId } from "./domain/Node.ts"
import type { NodeSpec } from "./domain/NodeSpec.ts"
import { KnownStatus, type NodeStatus } from "./domain/NodeStatus.ts"
import type { Plan as DomainPlan } from "./domain/Plan.ts"
import { allowanceChanges } from "./promise/AllowanceChanges.ts"
import { InvalidOption } from "./promise/BerthError.ts"
import {
  type CallOptions,
  check,
  checkCall,
  type Checked,
  lane,
  listener,
  type LookOptions,
  ofCall,
  ofLook,
  type RawReply,
  type Timespan,
  timespan
} from "./promise/CallOptions.ts"
import { nodeList } from "./promise/NodeList.ts"
import { type Plain, plainNode } from "./promise/Plain.ts"
import * as Runner from "./promise/Runner.ts"

export {
  Aborted,
  type Attempt,
  BerthError,
  CircuitOpen,
  ClientClosed,
  ClientFault,
  Conflict,
  type Failure,
  Forbidden,
  InvalidOption,
  InvalidRequest,
  NodeNotFound,
  OutcomeUnknown,
  PathNotFound,
  PreconditionFailed,
  QuotaExhausted,
  ServiceFault,
  ServiceUnavailable,
  StatusNotReached,
  TimedOut,
  Unauthorized,
  UnexpectedResponse,
  Unreachable,
  WouldExceedDeadline
} from "./promise/BerthError.ts"
export type {
  AllowanceLevel,
  CallOptions,
  CommitmentSetting,
  ImageFilter,
  KnownStatus,
  Lane,
  Listed,
  LookOptions,
  NodeSpec,
  NodeStatus,
  RawReply,
  Timespan
}

/** A node; `createdAt` is a `Date`. What the reply did not say is `null`, what Berth does not know is under `extra`. */
export interface Node extends Plain<DomainNode> {}
/** An image on a plan. */
export interface Image extends Plain<DomainImage> {}
/** A plan with its prices, in rupees, and the images it can be started with. */
export interface Plan extends Plain<DomainPlan> {}

/** What a client is made from. */
export interface ClientOptions {
  /** The service's scheme and host; the whole `/myaccount/api/v1` address is accepted too. */
  readonly baseUrl: string | URL
  readonly apiKey: string
  readonly accessToken: string
  /** Longest time a call may take altogether. Default 60 seconds. */
  readonly deadline?: Timespan | undefined
  /** Longest time one attempt on the wire may take. Default 15 seconds. */
  readonly attemptTimeout?: Timespan | undefined
  /** Lane of every call that does not name one. Default: that of the method. */
  readonly lane?: Lane | undefined
  /**
   * File through which the processes of this machine that use the same key leave room for each other. One file per key; it
   * is safe to lose. Needs `node:fs`, and keeps the program alive until the client is closed. Default: none.
   */
  readonly allowanceFile?: string | undefined
  /** What sends the requests. Default: the `fetch` of the runtime. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** What came of a create: a new node, or one found to be ours after its reply was lost. */
export interface Creation extends Plain<DomainCreation> {}

/** How to create. */
export interface CreateOptions extends CallOptions {
  /**
   * A name for this very create: asking this client again with the same key makes no second node. 1 to 128 letters,
   * digits, dots, dashes, underscores. Default: none.
   */
  readonly key?: string | undefined
}

/** What the new setting is. */
export interface CommitmentOptions extends CallOptions {
  /** Committed option of the plan; needed for `auto_renew` on a node without a commitment. */
  readonly skuId?: number | undefined
}

/** How to list. The `deadline` is that of each page. */
export interface ListOptions extends CallOptions {
  /**
   * Called once, when the list has come to its end: with how many nodes there were, and whether that is certainly all. Like
   * `onReply` it cannot end the call.
   */
  readonly onEnd?: ((listed: Listed) => void) | undefined
}

/** How to wait. The `deadline` is that of the whole wait; default 10 minutes. */
export interface WaitOptions extends Omit<CallOptions, "onReply"> {
  /** The same as `deadline`; the shorter of the two counts. */
  readonly timeout?: Timespan | undefined
}

/** A request as the caller writes it. */
export interface RawRequest {
  readonly method: "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Below `/myaccount/api/v1`, such as `/nodes/`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  /** Sent as JSON. */
  readonly body?: unknown
}

/**
 * The client. Every method rejects with a `BerthError`, and with nothing else; the two that give an async iterable,
 * `nodes.list` and `allowance.changes`, throw an `InvalidOption` before there is any.
 */
export interface Client {
  readonly nodes: {
    /** Creates a node. The reply comes before the node runs: wait for `running` with `awaitStatus`. */
    readonly create: (spec: NodeSpec, options?: CreateOptions) => Promise<Creation>
    readonly get: (id: number, options?: CallOptions) => Promise<Node>
    /**
     * Every node of the account, page by page as they are taken. Throws `InvalidOption` at once; everything else is thrown
     * where the nodes are taken.
     */
    readonly list: (options?: ListOptions) => AsyncIterable<Node>
    /** Deletes a node. It stays listed as `terminate` until its termination ends. */
    readonly delete: (id: number, options?: CallOptions) => Promise<void>
    /** Sets what happens when the node's commitment ends. */
    readonly setCommitment: (id: number, setting: CommitmentSetting, options?: CommitmentOptions) => Promise<void>
    /**
     * Waits until the node has the status, or each of several has had it; those come in the order they were named. Rejects with
     * `StatusNotReached` as soon as one cannot, or not in time.
     */
    readonly awaitStatus: {
      (id: number, wanted: KnownStatus, options?: WaitOptions): Promise<Node>
      (ids: ReadonlyArray<number>, wanted: KnownStatus, options?: WaitOptions): Promise<ReadonlyArray<Node>>
    }
    /** Waits until the node, or each of several, is gone: neither readable nor listed. */
    readonly awaitDeleted: (id: number | ReadonlyArray<number>, options?: WaitOptions) => Promise<void>
  }
  readonly images: {
    /** The images that pass every given filter; each comes once for every plan it goes with. */
    readonly list: (filter?: ImageFilter, options?: CallOptions) => Promise<ReadonlyArray<Image>>
    /** The account's saved images. */
    readonly saved: (options?: CallOptions) => Promise<ReadonlyArray<Image>>
  }
  readonly plans: {
    /** The plans of the images that pass every given filter, in the service's order. */
    readonly list: (filter?: ImageFilter, options?: CallOptions) => Promise<ReadonlyArray<Plan>>
  }
  /** The allowance as the client knows it from the replies to its calls; looking at it costs no request. */
  readonly allowance: {
    /** What is known now. */
    readonly level: (options?: LookOptions) => Promise<AllowanceLevel>
    /**
     * What is known now, and then every change; whoever is slow gets the newest, and none of those between. Throws
     * `InvalidOption` at once, like `nodes.list`.
     */
    readonly changes: (options?: LookOptions) => AsyncIterable<AllowanceLevel>
  }
  readonly raw: {
    /** Any request, with the same credentials, limits and errors; resolves to the whole reply of a success. */
    readonly request: (request: RawRequest, options?: CallOptions) => Promise<RawReply>
  }
  /** Ends every call under way, which rejects with `ClientClosed`, as does every later one. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

const nodeId = argument(NodeId, "id")
const oneOrMore = argument(Schema.Union([NodeId, Schema.Array(NodeId)]), "id")
const imageFilter = argument(ImageFilter, "filter")
const commitmentSetting = argument(CommitmentSetting, "setting")
const knownStatus = argument(KnownStatus, "wanted")
const rawRequest = argument(
  Schema.Struct({
    method: Schema.Literals(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]),
    path: Schema.String,
    query: Schema.optional(Schema.Record(Schema.String, Schema.String)),
    body: Schema.optional(Schema.Unknown)
  }),
  "request"
)

const address = (operation: string, option: string, value: unknown): string | URL => {
  if (typeof value === "string" || value instanceof URL) return value
  throw new InvalidOption(operation, option, "expected an address")
}
const text = (operation: string, option: string, value: unknown): string => {
  if (typeof value === "string") return value
  throw new InvalidOption(operation, option, "expected a text")
}
const path = (operation: string, option: string, value: unknown): string => {
  if (typeof value === "string" && value.trim() !== "") return value
  throw new InvalidOption(operation, option, "expected the path of a file")
}
const wholeNumber = (operation: string, option: string, value: unknown): number => {
  if (Number.isSafeInteger(value)) return value as number
  throw new InvalidOption(operation, option, "expected a whole number")
}
const fetchLike = (operation: string, option: string, value: unknown): typeof globalThis.fetch => {
  if (typeof value === "function") return value as typeof globalThis.fetch
  throw new InvalidOption(operation, option, "expected a function like the `fetch` of the runtime")
}

const clientChecks = {
  baseUrl: address,
  apiKey: text,
  accessToken: text,
  deadline: timespan,
  attemptTimeout: timespan,
  lane,
  allowanceFile: path,
  fetch: fetchLike
}

/** The options as the engine takes them, and the `fetch` there may be. Throws `InvalidOption`. */
const checkClient = (options: ClientOptions) => {
  const operation = "createClient"
  const { accessToken, apiKey, baseUrl, fetch, ...limits } = check(operation, options, clientChecks)
  const needed = <A>(option: string, value: A | undefined): A => {
    if (value === undefined) throw new InvalidOption(operation, option, "it is needed")
    return value
  }
  const engine: EngineOptions = {
    baseUrl: needed("baseUrl", baseUrl),
    credentials: {
      apiKey: Redacted.make(needed("apiKey", apiKey)),
      accessToken: Redacted.make(needed("accessToken", accessToken))
    },
    ...limits
  }
  const settings = settingsFrom(engine)
  if (Result.isFailure(settings)) throw new InvalidOption(operation, settings.failure.option, settings.failure.detail)
  return { engine, fetch }
}

const notJson = new InvalidRequest({
  status: null,
  detail: "its body cannot be written as JSON",
  fields: { body: ["expected what can be written as JSON"] }
})

/** A body as JSON text. Not everything can be written as JSON, and JSON drops some of it without a word. */
const json = (body: unknown): Effect.Effect<string | undefined, InvalidRequest> => {
  if (body === undefined) return Effect.undefined
  try {
    const text = JSON.stringify(body) as string | undefined
    return text === undefined ? Effect.fail(notJson) : Effect.succeed(text)
  } catch {
    return Effect.fail(notJson)
  }
}

/** How to wait: the longest it may take may be said in either way. */
const waitOptions = ({ deadline, lane, timeout }: Checked<typeof ofCall & { readonly timeout: typeof timespan }>) => ({
  lane,
  timeout: timeout && deadline ? Duration.min(timeout, deadline) : (timeout ?? deadline)
})

/** Makes a client for one account. Throws `InvalidOption`, which names the option that is not usable. */
export const createClient = (options: ClientOptions): Client => {
  const { engine, fetch: given } = checkClient(options)
  // Looked up for every request: a program may replace the runtime's own at any time.
  const fetch = () => given ?? globalThis.fetch
  const redact = redactor(engine.credentials)
  // What there is to warn of must not get into what the program prints.
  const warnings = Layer.succeed(References.LogToStderr, true)
  const runner = Runner.make(
    Layer.orDie(Services.layer(engine, FetchTransport.layer)).pipe(Layer.provideMerge(warnings)),
    fetch,
    redact
  )

  /** A method: checks the options of a call, then runs its effect to its value. */
  const method = <C extends typeof ofLook>(operation: string, checks: C) => {
    const checkOptions = checkCall(operation, checks)
    return async <A>(
      options: unknown,
      effect: (call: Checked<C>) => Effect.Effect<A, Domain.BerthError | InvalidRequest, Services.Services>
    ): Promise<A> => {
      const call = checkOptions(options)
      const typed = Effect.catchTag(effect(call), "InvalidRequest", (reason) =>
        Effect.fail(new Domain.BerthError({ operation, reason, attempts: [] }))
      )
      return await runner.run({ operation, signal: call.signal }, typed)
    }
  }

  const heard = listener(redact)
  const create = method("nodes.create", { ...ofCall, key: text, onReply: heard })
  const get = method("nodes.get", { ...ofCall, onReply: heard })
  const list = checkCall("nodes.list", { ...ofCall, onEnd: heard, onReply: heard })
  const remove = method("nodes.delete", { ...ofCall, onReply: heard })
  const setCommitment = method("commitments.set", { ...ofCall, skuId: wholeNumber, onReply: heard })
  const wait = method("nodes.await", { ...ofCall, timeout: timespan })
  const listImages = method("images.list", { ...ofCall, onReply: heard })
  const listSaved = method("images.saved", { ...ofCall, onReply: heard })
  const listPlans = method("plans.list", { ...ofCall, onReply: heard })
  const level = method("allowance.level", ofLook)
  const changes = checkCall("allowance.changes", ofLook)
  const request = method("raw", { ...ofCall, onReply: heard })

  const close = runner.close
  return {
    nodes: {
      create: (spec, options) =>
        create(options, (call) =>
          Effect.map(
            Nodes.use((nodes) => nodes.create(spec, call)),
            ({ node, outcome }) => ({ outcome, node: plainNode(node) })
          )
        ),
      get: (id, options) =>
        get(options, (call) =>
          nodeId(id).pipe(
            Effect.flatMap((id) => Nodes.use((nodes) => nodes.get(id, call))),
            Effect.map(plainNode)
          )
        ),
      list: (options) => {
        const { signal, ...call } = list(options)
        const stream = Stream.unwrap(Nodes.useSync((nodes) => nodes.list(call)))
        return nodeList(runner, { operation: "nodes.list", signal }, stream)
      },
      delete: (id, options) =>
        remove(options, (call) => Effect.flatMap(nodeId(id), (id) => Nodes.use((nodes) => nodes.delete(id, call)))),
      setCommitment: (id, setting, options) =>
        setCommitment(options, (call) =>
          Effect.flatMap(Effect.all([nodeId(id), commitmentSetting(setting)]), ([id, setting]) =>
            Nodes.use((nodes) => nodes.setCommitment(id, setting, call))
          )
        ),
      awaitStatus: ((ids: number | ReadonlyArray<number>, wanted, options) =>
        wait(options, (call) =>
          Effect.flatMap(Effect.all([oneOrMore(ids), knownStatus(wanted)]), ([ids, wanted]) =>
            Nodes.use((nodes): Effect.Effect<Node | ReadonlyArray<Node>, Domain.BerthError> =>
              typeof ids === "number"
                ? Effect.map(nodes.awaitStatus(ids, wanted, waitOptions(call)), plainNode)
                : Effect.map(nodes.awaitStatus(ids, wanted, waitOptions(call)), (all) => all.map(plainNode))
            )
          )
        )) as Client["nodes"]["awaitStatus"],
      awaitDeleted: (ids, options) =>
        wait(options, (call) =>
          Effect.flatMap(oneOrMore(ids), (ids) => Nodes.use((nodes) => nodes.awaitDeleted(ids, waitOptions(call))))
        )
    },
    images: {
      list: (filter, options) =>
        listImages(options, (call) =>
          Effect.flatMap(imageFilter(filter ?? {}), (filter) => Images.use((images) => images.list(filter, call)))
        ),
      saved: (options) => listSaved(options, (call) => Images.use((images) => images.saved(call)))
    },
    plans: {
      list: (filter, options) =>
        listPlans(options, (call) =>
          Effect.flatMap(imageFilter(filter ?? {}), (filter) => Plans.use((plans) => plans.list(filter, call)))
        )
    },
    allowance: {
      level: (options) => level(options, () => Allowance.use((allowance) => allowance.level)),
      changes: (options) =>
        allowanceChanges(runner, { operation: "allowance.changes", signal: changes(options).signal })
    },
    raw: {
      request: (raw, options) =>
        request(options, (call) =>
          Effect.flatMap(Effect.all([rawRequest(raw), json(raw?.body)]), ([{ method, path, query }, body]) =>
            RawApi.use((api) => api.request({ method, path, query: Object.entries(query ?? {}), body }, call))
          )
        )
    },
    close,
    [Symbol.asyncDispose]: close
  }
}
