/**
 * The client for programs without Effect: the same services as promises and async iterables, with plain values and real `Error`s.
 * `promise/Client.ts` describes its options and results, `client/call/Engine.ts` the path of a call to the wire.
 */
import { Duration, Effect, Layer } from "effect"
import { anything, argument, fields, notBlank, oneOf, optional, record, text } from "./client/options/Argument.ts"
import { Engine } from "./client/call/Engine.ts"
import * as FetchTransport from "./client/transport/FetchTransport.ts"
import { Images } from "./client/Images.ts"
import type { AttemptReport as DomainReport } from "./client/options/AttemptReport.ts"
import type { Listed, ListedPage } from "./client/listing/Listed.ts"
import { NodeCalls } from "./client/NodeCalls.ts"
import { Plans } from "./client/Plans.ts"
import { RawApi } from "./client/RawApi.ts"
import { secretsIn } from "./client/options/Headers.ts"
import { redactor } from "./client/transport/Redaction.ts"
import * as Services from "./client/Services.ts"
import type { StateDirectory } from "./client/StateDirectory.ts"
import * as Domain from "./domain/BerthError.ts"
import { InvalidRequest } from "./domain/ErrorReason.ts"
import type { NodeId } from "./domain/Node.ts"
import { allowanceChanges, nodeList } from "./promise/iterables.ts"
import { InvalidOption } from "./promise/Failure.ts"
import {
  checkCall,
  checkClient,
  type Checked,
  flag as flagOf,
  listener,
  ofCall,
  ofSignal,
  ofWait,
  text as textOf,
  wholeNumber
} from "./promise/checkOptions.ts"
import type { Client, ClientOptions, RawRequest } from "./promise/Client.ts"
import { fromEnvironment } from "./promise/fromEnvironment.ts"
import { attemptLog, warnings } from "./promise/logging.ts"
import { plain, plainNode } from "./promise/Plain.ts"
import type { Node } from "./promise/Records.ts"
import * as Runner from "./promise/Runner.ts"
import { stateLayer } from "./promise/stateLayer.ts"

export { BerthError, type FailedReply } from "./promise/BerthError.ts"
export {
  Aborted,
  ClientClosed,
  ClientFault,
  type Failure,
  InvalidOption,
  isBerthError,
  RuntimeTooOld
} from "./promise/Failure.ts"
export { isKnownStatus } from "./promise/isKnownStatus.ts"
export * from "./promise/reasons.ts"
export type {
  AttemptReport,
  CallOptions,
  Client,
  ClientOptions,
  CommitmentOptions,
  CreateOptions,
  Creation,
  DeleteOptions,
  ListOptions,
  Logger,
  LogLevel,
  NodeList,
  PageOptions,
  RawReply,
  RawRequest,
  SignalOptions,
  Timespan,
  WaitOptions
} from "./promise/Client.ts"
export * from "./promise/Records.ts"
export type { Listed, ListedPage, StateDirectory }

const rawRequest = argument(
  fields<RawRequest>({
    method: oneOf(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]),
    path: text,
    query: optional(record(text)),
    body: optional(anything)
  }),
  "request"
)

const nameToFind = argument(notBlank, "name")

const notJson = new InvalidRequest({
  status: null,
  detail: "its body cannot be written as JSON",
  fields: { body: ["expected what can be written as JSON"] }
})

/** A body as JSON text. JSON cannot represent every value and drops some silently. */
const json = (body: unknown): Effect.Effect<string | undefined, InvalidRequest> => {
  if (body === undefined) return Effect.undefined
  try {
    const text = JSON.stringify(body) as string | undefined
    return text === undefined ? Effect.fail(notJson) : Effect.succeed(text)
  } catch {
    return Effect.fail(notJson)
  }
}

/** Refuses a key that cannot be saved, because a later create with the same key would then make a second node. */
const keptNowhere = (operation: string, option: string): never => {
  throw new InvalidOption(operation, option, "it is kept nowhere: set `stateDirectory` of the client")
}

/** Options for a list as one promise; the deadline covers the whole list. */
const wholeList = ({ deadline, ...call }: Checked<typeof ofCall>) => ({ ...call, totalDeadline: deadline })

/** Options of a wait: `timeout` and `deadline` both limit it. */
const waitOptions = ({ deadline, lane, timeout }: Checked<typeof ofWait>) => ({
  lane,
  timeout:
    timeout && deadline && Duration.toMillis(deadline) < Duration.toMillis(timeout) ? deadline : (timeout ?? deadline)
})

/**
 * Makes a client for one account. Throws `InvalidOption`, which names the option that is not usable, and `RuntimeTooOld` on a Node before
 * 22.19.
 */
export const createClient = (options: ClientOptions): Client => {
  const operation = "createClient"
  const checked = checkClient(operation, options)
  const { engine, fetch: given, logger, logLevel = "info", settings, stateDirectory } = checked
  // The runtime's `fetch` is read for every request, because a program may replace it at any time.
  const own = given && FetchTransport.given(given)
  const fetch = () => own ?? globalThis.fetch
  const redact = redactor(engine.credentials, secretsIn(settings.headers))
  const callback = listener(redact)
  const attemptCallback = (operation: string, option: string, value: unknown) => {
    const tell = callback(operation, option, value)
    return (attempt: DomainReport) => tell(plain(attempt))
  }
  const log = logger && logLevel !== "off" ? attemptLog(logger, logLevel) : undefined
  const onAttempt = checked.onAttempt && attemptCallback(operation, "onAttempt", checked.onAttempt)
  const onReply = checked.onReply && callback(operation, "onReply", checked.onReply)
  const hooked = {
    ...engine,
    onReply,
    onAttempt:
      log === undefined
        ? onAttempt
        : (attempt: DomainReport) =>
            Effect.suspend(() => {
              log(plain(attempt))
              return onAttempt?.(attempt) ?? Effect.void
            })
  }
  const state = stateLayer(settings, stateDirectory)
  const runner = Runner.make(
    Layer.orDie(Services.calls(hooked, FetchTransport.layer)).pipe(
      Layer.provideMerge(state),
      // Warnings must not get into the program's output.
      Layer.provideMerge(warnings(logger, logLevel))
    ),
    fetch,
    redact
  )

  /** A method: validates the options of a call, then runs its effect. */
  const method = <C extends typeof ofSignal>(operation: string, checks: C) => {
    const checkOptions = checkCall(operation, checks)
    return async <A>(
      options: unknown,
      effect: (call: Omit<Checked<C>, "signal">) => Effect.Effect<A, Domain.BerthError | InvalidRequest, Services.Calls>
    ): Promise<A> => {
      const { signal, ...call } = checkOptions(options)
      const typed = Effect.catchTag(effect(call), "InvalidRequest", (reason) =>
        Effect.fail(new Domain.BerthError({ operation, reason, attempts: [] }))
      )
      return await runner.run({ operation, signal }, typed)
    }
  }

  const ofRequest = { ...ofCall, onAttempt: attemptCallback, onReply: callback }
  const create = method("nodes.create", {
    ...ofRequest,
    key: stateDirectory === undefined ? keptNowhere : textOf
  })
  const get = method("nodes.get", ofRequest)
  const ofList = { ...ofRequest, exact: flagOf, maxNodes: wholeNumber(), onEnd: callback }
  const list = checkCall("nodes.list", ofList)
  const listPage = method("nodes.list", {
    ...ofRequest,
    page: wholeNumber(),
    perPage: wholeNumber(100),
    onEnd: callback
  })
  const find = method("nodes.list", ofList)
  const remove = method("nodes.delete", { ...ofRequest, keepPublicIp: flagOf })
  const setCommitment = method("commitments.set", { ...ofRequest, skuId: wholeNumber() })
  const wait = method("nodes.await", ofWait)
  const listImages = method("images.list", ofRequest)
  const listSaved = method("images.saved", ofRequest)
  const listPlans = method("plans.list", ofRequest)
  const current = method("allowance.current", ofSignal)
  const changes = checkCall("allowance.changes", ofSignal)
  const request = method("raw", ofRequest)

  const close = runner.close
  return {
    nodes: {
      create: (spec, options) =>
        create(options, (call) =>
          Effect.map(
            NodeCalls.use((nodes) => nodes.create(spec, call)),
            ({ node, outcome }) => ({ outcome, node: plainNode(node) })
          )
        ),
      get: (id, options) =>
        get(options, (call) =>
          Effect.map(
            NodeCalls.use((nodes) => nodes.get(id as NodeId, call)),
            plainNode
          )
        ),
      list: (options) => {
        const { signal, ...call } = list(options)
        return nodeList(runner, { operation: "nodes.list", signal }, (limit) =>
          NodeCalls.use((nodes) => nodes.pages(limit === "page" ? call : wholeList(call)))
        )
      },
      listPage: (options) =>
        listPage(options, (call) =>
          Effect.map(
            NodeCalls.use((nodes) => nodes.listPage(call)),
            (page) => page.map(plainNode)
          )
        ),
      find: (name, options) =>
        find(options, (call) =>
          Effect.flatMap(nameToFind(name), (name) =>
            Effect.map(
              NodeCalls.use((nodes) => nodes.named(name, wholeList(call))),
              (found) => found.map(plainNode)
            )
          )
        ),
      delete: (id, options) => remove(options, (call) => NodeCalls.use((nodes) => nodes.delete(id as NodeId, call))),
      setCommitment: (id, setting, options) =>
        setCommitment(options, (call) => NodeCalls.use((nodes) => nodes.setCommitment(id as NodeId, setting, call))),
      awaitStatus: ((ids: number | ReadonlyArray<number>, wanted, options) =>
        wait(options, (call) =>
          NodeCalls.use((nodes): Effect.Effect<Node | ReadonlyArray<Node>, Domain.BerthError> =>
            Array.isArray(ids)
              ? Effect.map(nodes.awaitStatus(ids, wanted, waitOptions(call)), (all) => all.map(plainNode))
              : Effect.map(nodes.awaitStatus(ids as NodeId, wanted, waitOptions(call)), plainNode)
          )
        )) as Client["nodes"]["awaitStatus"],
      awaitDeleted: (ids, options) =>
        wait(options, (call) => NodeCalls.use((nodes) => nodes.awaitDeleted(ids as NodeId, waitOptions(call))))
    },
    images: {
      list: (filter, options) => listImages(options, (call) => Images.use((images) => images.list(filter, call))),
      saved: (options) => listSaved(options, (call) => Images.use((images) => images.saved(call)))
    },
    plans: {
      list: (filter, options) => listPlans(options, (call) => Plans.use((plans) => plans.list(filter, call)))
    },
    allowance: {
      current: (options) => current(options, () => Engine.use(({ allowance }) => allowance.current)),
      changes: (options) =>
        allowanceChanges(runner, { operation: "allowance.changes", signal: changes(options).signal })
    },
    raw: {
      request: (raw, options) =>
        request(options, (call) =>
          Effect.flatMap(rawRequest(raw), ({ body, method, path, query }) =>
            Effect.flatMap(json(body), (body) =>
              RawApi.use((api) => api.request({ method, path, query: Object.entries(query ?? {}), body }, call))
            )
          )
        )
    },
    close,
    [Symbol.asyncDispose]: close
  }
}

/**
 * Makes a client for the account that `BERTH_BASE_URL`, `BERTH_API_KEY` and `BERTH_ACCESS_TOKEN` name. If an option is given, its variable
 * is not read. Throws `InvalidOption`, which names the variable or the option that is not usable.
 */
export const createClientFromEnv = (options: Partial<ClientOptions> = {}): Client =>
  fromEnvironment(options, createClient)
