/**
 * The log of changes. An entry says who changed a node, when, with which command, and with which outcome. Only this module writes it: all
 * commands send changes through the `Nodes` and the `RawApi` of `recordingChanges`. A change is recorded as `unknown` before it is sent,
 * and stays so in the log if the command is killed. A failure to write the log stops no change.
 */
import { hostname, userInfo } from "node:os"
import { Nodes } from "@berthkit/core/client/Nodes"
import { RawApi, type RawRequest } from "@berthkit/core/client/RawApi"
import { type Change, changeKind, readChanges, writeChange } from "@berthkit/core/client/state/Change"
import { RecordStore } from "@berthkit/core/client/state/RecordStore"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import { variableSetting } from "@berthkit/terminal/Connection"
import { Clock, Context, DateTime, Effect, FiberSet, Layer, Option, Redacted } from "effect"
import { RunningCommand } from "../commandLine/RunningCommand.ts"
import { faultOf } from "../state/Kind.ts"
import { nodeOfPath } from "./endsNode.ts"

/** At most this many changes are kept; the oldest are dropped. */
const maxKept = 2000

/** The fleet or the lease for which a change is sent. Both are null if the change is only the user's. */
export const ChangedFor = Context.Reference<Pick<Change, "fleet" | "lease">>("@berthkit/cli/history/ChangedFor", {
  defaultValue: () => ({ fleet: null, lease: null })
})

/** Variables of CI systems with the name and number of a job. */
const jobVariables = [
  ["GITHUB_REPOSITORY", "GITHUB_RUN_ID"],
  ["CI_PROJECT_PATH", "CI_JOB_ID"],
  ["BUILDKITE_PIPELINE_SLUG", "BUILDKITE_BUILD_NUMBER"],
  ["CIRCLE_PROJECT_REPONAME", "CIRCLE_BUILD_NUM"],
  ["JOB_NAME", "BUILD_NUMBER"]
] as const

const jobOf = Effect.gen(function* () {
  for (const variables of jobVariables) {
    const [what, number] = yield* Effect.all(variables.map(variableSetting))
    const job = Option.all([what!, number!])
    if (Option.isSome(job)) return job.value.map(({ value }) => Redacted.value(value)).join(" ")
  }
  return null
})

/** The name of the process's user; null if the system has no name for it, as in some containers. */
const userOf = Effect.sync(() => {
  try {
    return userInfo().username
  } catch {
    return null
  }
})

type Asked = Pick<Change, "action" | "node" | "name" | "asked">
type End = Pick<Change, "outcome"> & Partial<Pick<Change, "node" | "name" | "why">>

const endOfFailure = ({ message, reason }: BerthError): End => ({
  outcome: reason.mayBeProcessed ? "unknown" : "failed",
  why: message
})

/** Writes of outcomes, which run next to the command. The client waits for the last of them when it ends. */
type Writes = FiberSet.FiberSet

const makeWrites = Effect.gen(function* () {
  const writes = yield* FiberSet.make()
  yield* Effect.addFinalizer(() => FiberSet.awaitEmpty(writes))
  return writes
})

/**
 * Records a change before it is sent. The outcome is recorded in the background, so that a command that is stopped during that write still
 * knows the reply.
 */
const noted = <A>(writes: Writes, asked: Asked, use: Effect.Effect<A, BerthError>, endOf: (done: A) => End) =>
  Effect.gen(function* () {
    const store = yield* RecordStore
    if (store === undefined) return yield* use
    const change = {
      at: DateTime.formatIso(DateTime.makeUnsafe(yield* Clock.currentTimeMillis)),
      ...asked,
      outcome: "unknown",
      why: null,
      command: yield* RunningCommand,
      ...(yield* ChangedFor),
      user: yield* userOf,
      host: hostname(),
      job: yield* jobOf
    } as const
    // Do not interrupt the write, because it would leave a half-written file.
    const key = yield* Effect.uninterruptible(Effect.option(store.append(changeKind, writeChange(change), maxKept)))
    const ended = (end: End) =>
      Option.isNone(key)
        ? Effect.void
        : FiberSet.run(
            writes,
            Effect.uninterruptible(Effect.ignore(store.put(changeKind, key.value, writeChange({ ...change, ...end }))))
          )
    return yield* use.pipe(
      Effect.tap((done) => ended(endOf(done))),
      Effect.tapError((failure) => ended(endOfFailure(failure)))
    )
  })

const reads: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

/** The change that a raw request asks for. `node` is set if the request's path names a node. */
const requestOf = ({ method, path }: RawRequest): Asked => {
  const node = nodeOfPath(path) ?? null
  const isDelete = method === "DELETE" && node !== null
  return { action: isDelete ? "delete" : "request", node, name: null, asked: `${method} ${path}` }
}

const nodesNoting = (nodes: Nodes["Service"], writes: Writes): Nodes["Service"] => ({
  ...nodes,
  create: (spec, options) => {
    // Such a call only looks for the node of an earlier create, and sends no create.
    if (options?.adoptOnly === true) return nodes.create(spec, options)
    const asked = { action: "create", node: null, name: spec.name, asked: `${spec.plan} from ${spec.image}` } as const
    return noted(writes, asked, nodes.create(spec, options), ({ node, outcome }) => ({
      outcome,
      node: node.id,
      name: node.name
    }))
  },
  delete: (id, options) =>
    noted(writes, { action: "delete", node: id, name: null, asked: "" }, nodes.delete(id, options), () => ({
      outcome: "deleted"
    })),
  setCommitment: (id, setting, options) => {
    const sku = options?.skuId === undefined ? "" : ` with the committed option ${options.skuId}`
    const asked = { action: "commitment", node: id, name: null, asked: `${setting}${sku}` } as const
    return noted(writes, asked, nodes.setCommitment(id, setting, options), () => ({ outcome: "set" }))
  }
})

const apiNoting = (api: RawApi["Service"], writes: Writes): RawApi["Service"] => {
  const unlessRead = <A>(request: RawRequest, use: Effect.Effect<A, BerthError>, endOf: (done: A) => End) =>
    reads.has(request.method) ? use : noted(writes, requestOf(request), use, endOf)
  return {
    request: (request, options) => unlessRead(request, api.request(request, options), () => ({ outcome: "sent" })),
    exchange: (request, options) =>
      unlessRead(request, api.exchange(request, options), ({ failure }) =>
        failure === null ? { outcome: "sent" } : endOfFailure(failure)
      )
  }
}

/**
 * The same client, but each change is recorded. This is a function, because each client needs a layer of its own: Effect builds the same
 * layer object only once.
 */
export const recordingChanges = () =>
  Layer.merge(
    Layer.effect(Nodes, Effect.zipWith(Nodes, makeWrites, nodesNoting)),
    Layer.effect(RawApi, Effect.zipWith(RawApi, makeWrites, apiNoting))
  )

/** The recorded changes, newest first, without unreadable ones. */
export const changes = Effect.gen(function* () {
  const store = yield* RecordStore
  if (store === undefined) return []
  return readChanges(yield* Effect.mapError(store.list(changeKind), faultOf("The changes of nodes cannot be read")))
})

/** The changes of a node, by its id or by the name with which it was created. */
export const changesOf = (all: ReadonlyArray<Change>, given: string): ReadonlyArray<Change> => {
  const named = new Set(all.flatMap(({ name, node }) => (name === given && node !== null ? [node] : [])))
  return all.filter(
    ({ name, node }) => name === given || (node !== null && (named.has(node) || String(node) === given))
  )
}
