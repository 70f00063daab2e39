/**
 * `berth run`: a node for one command. The node is created, the command runs here, and the node is deleted whatever happens. A lease is
 * written before the create, so that `berth reap` deletes the node of a run that was killed.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import { CallsEnd } from "@berthkit/core/client/call/Deadline"
import { self } from "@berthkit/core/client/creation/KeyLock"
import { specDigest } from "@berthkit/core/client/creation/Reconciliation"
import type { NodeId } from "@berthkit/core/domain/Node"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { Duration, Effect, Exit, Fiber, Random, Result, Struct } from "effect"
import { argumentsFrom, duration, flag, flagOr, switchFlag, text, type Values } from "../../commandLine/Parameter.ts"
import { isWhole, nodeName, parameters as ofCreate, specOf } from "../node/createFlags.ts"
import { command } from "../command.ts"
import { LeasedNodeNotReady, LeaseOver, ProgramEnded, UsageFault } from "../../failure/CliFailure.ts"
import { problemOf } from "../../failure/Problem.ts"
import { addressOf, hostOf } from "../../inventory/Host.ts"
import { heldMillisLeft, kept, type Lease, newLease, paidMillisLeft } from "../../leases/Lease.ts"
import { LeaseStore } from "../../leases/LeaseStore.ts"
import { endLease, leaseNow, nodeOf, reapLeases, takeKept, unreadableLease } from "../../nodes/leasedNodes.ts"
import { waitFor } from "../../nodes/waitFor.ts"
import { elapsed } from "../../output/format.ts"
import { printNote } from "../../output/Output.ts"
import { withProgress } from "../../output/progress.ts"
import { reportProblem } from "../../output/reportProblem.ts"
import { approve } from "../../proposal/Proposal.ts"
import { checkCost, createProposal, offerFor, publicCatalogue } from "../../proposal/offer.ts"
import { leasingClient } from "../../settings/leasingClient.ts"
import { ensureCommand, runCommand } from "./child.ts"

/** Two weeks: whoever needs a node for longer creates one. */
const maxTtlMillis = 14 * 86_400_000

const parameters = {
  words: argumentsFrom(1, "COMMAND", text(""), "What to run here"),
  ...Struct.omit(ofCreate, ["nameFlag", "committedSku", "ifAbsent", "key", "count", "wait"]),
  name: flag("name", nodeName("NAME"), "Name of the node; default run- and a random word"),
  ttl: flagOr(
    "ttl",
    duration({ minMillis: 1000, maxMillis: maxTtlMillis }),
    "Stop the command and delete the node after this time; default 1h",
    Duration.hours(1)
  ),
  reuse: switchFlag("reuse", "Use a node that an earlier run kept, and keep it for the rest of its paid hour"),
  timeout: flag("timeout", duration(), "Maximum time to wait until the node runs; default 10m")
}

type RunOptions = Values<typeof parameters>

/** A word of eight letters and digits. */
const randomWord = Effect.map(Random.nextIntBetween(36 ** 7, 36 ** 8), (drawn) => drawn.toString(36))

/** The end of a run takes so long before that is said. */
const silentMillis = 1000

/** What was asked for; without a plan or an image nothing can be created. */
const specFor = Effect.fnUntraced(function* (options: RunOptions, name: string) {
  const spec = yield* specOf({ ...options, name, nameFlag: undefined, committedSku: undefined })
  if (isWhole(spec)) return spec
  return yield* new UsageFault({
    message: `berth run needs ${spec.plan === undefined ? "--plan" : "--image"}.`,
    hint: "See berth run --help."
  })
})

/** Shows what the node costs and asks where that is needed; whether it is to be created. */
const approved = Effect.fnUntraced(function* (spec: NodeSpec, { dryRun, force, maxCost, yes }: RunOptions) {
  const offer = yield* offerFor(spec, yield* publicCatalogue(), { force })
  const proposals = [createProposal(spec, offer)]
  yield* checkCost(proposals, spec, offer, maxCost)
  const mustAsk = proposals.some(({ pricePerHourInr }) => pricePerHourInr === null)
  return yield* approve(proposals, { verb: "create", mustAsk, yes, dryRun, single: true })
})

/** Ends what earlier runs left behind. What cannot be ended is no reason not to run. */
const reapFirst = Effect.gen(function* () {
  const { rows, unreadable } = yield* reapLeases()
  for (const path of unreadable) yield* printNote(unreadableLease(path).message)
  for (const { error, id, name, outcome } of rows) {
    if (error !== null) yield* printNote(`${error.message} ${error.hint}`)
    else if (outcome === "deleted") yield* printNote(`Deleted node ${id} (${name}), which an earlier run left behind.`)
  }
}).pipe(Effect.catch((failure) => printNote(failure.message)))

const saveLease = (lease: Lease) => LeaseStore.use(({ save }) => save(lease))

/** A new lease, written before its node is created. */
const begin = Effect.fnUntraced(function* (spec: NodeSpec, order: string, ttlMillis: number) {
  const key = `run-${yield* randomWord}${yield* randomWord}`
  const { image, name, plan } = spec
  const lease = newLease({ key, name, plan, image: String(image), order, ttlMillis }, yield* self, yield* leaseNow)
  yield* saveLease(lease)
  return lease
})

/** Creates the node of a lease, and waits until it runs. */
const ready = Effect.fnUntraced(function* (lease: Lease, spec: NodeSpec, { timeout }: RunOptions) {
  const nodes = yield* Nodes
  const { node } = yield* nodes.create(spec, { key: lease.key })
  yield* printNote(`Created node ${node.id} (${node.name}).`)
  yield* saveLease({ ...lease, node: nodeOf(node) })
  const running = yield* withProgress({ goal: "running", total: 1 }, (show) =>
    waitFor({ id: node.id, node }, { goal: "running", timeout }, show)
  ).pipe(Effect.mapError((error) => new LeasedNodeNotReady({ id: node.id, error })))
  return running ?? node
})

/** Deletes the node of the lease as it is now, which another process may have ended. */
const finish = (key: string) =>
  LeaseStore.use(({ change }) =>
    change(key, (lease) => (lease === undefined ? Effect.undefined : endLease(lease)))
  ).pipe(
    Effect.tap((end) => (end?.outcome === "deleted" ? printNote(`Deleted node ${end.id} (${end.name}).`) : Effect.void))
  )

/** Keeps the node for the next run until its paid hour is over. */
const keep = Effect.fnUntraced(function* (key: string) {
  const leases = yield* LeaseStore
  const now = yield* leaseNow
  const lease = yield* leases.change(key, (lease) =>
    lease === undefined ? Effect.undefined : Effect.as(leases.save(kept(lease, now)), lease)
  )
  if (lease?.node == null) return
  const left = elapsed(paidMillisLeft(lease, now))
  yield* printNote(
    `Kept node ${lease.node.id} (${lease.node.name}) for the next run --reuse; its hour ends in ${left}.`
  )
})

/**
 * Runs `use` with a leased node, and lets the node go whatever came of it. A node that cannot be deleted is reported, and fails a run that
 * has nothing else to fail with.
 */
const withLease = <E, R>(lease: Lease, reuse: boolean, use: Effect.Effect<number, E, R>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(restore(use))
      const keeping = keep(lease.key).pipe(Effect.catch(() => finish(lease.key)))
      const letGo = reuse && Exit.isSuccess(exit) ? keeping : finish(lease.key)
      // In a fiber of its own, which no further signal interrupts; the deadline of the command is not that of its end.
      const fiber = yield* Effect.forkDetach(Effect.provideService(letGo, CallsEnd, undefined))
      const silence = yield* Effect.forkDetach(Effect.delay(printNote("Deleting the node of this run …"), silentMillis))
      const end = yield* Fiber.await(fiber)
      yield* Fiber.interrupt(silence)
      if (Exit.isSuccess(end)) return yield* exit
      if (Exit.isSuccess(exit) && exit.value === 0) return yield* Effect.as(end, 0)
      const failure = Result.getOrUndefined(Exit.findError(end))
      if (failure !== undefined) yield* reportProblem(problemOf(failure))
      return yield* exit
    })
  )

export const run = command(
  parameters,
  Effect.fnUntraced(function* (options) {
    const { dryRun, reuse, ttl, words } = options
    yield* ensureCommand(words[0]!)
    const name = options.name ?? `run-${yield* randomWord}`
    const spec = yield* specFor(options, name)
    const order = specDigest({ ...spec, name: "-" })
    const ttlMillis = Duration.toMillis(ttl)
    if (!dryRun) yield* reapFirst
    const wanted = { order, name: options.name, ttlMillis }
    const taken = reuse && !dryRun ? yield* takeKept(wanted) : undefined
    if (taken === undefined && !(yield* approved(spec, options))) return
    const lease = taken?.lease ?? (yield* begin(spec, order, ttlMillis))

    let id: NodeId | undefined
    const work = Effect.gen(function* () {
      const node = taken?.node ?? (yield* ready(lease, spec, options))
      id = node.id
      return yield* runCommand(words, { BERTH_NODE_ID: String(id), BERTH_NODE_IP: addressOf(hostOf(node)) ?? "" })
    })
    const inTime = Effect.timeoutOrElse(work, {
      duration: Math.max(1, heldMillisLeft(lease, yield* leaseNow)),
      orElse: () => Effect.fail(new LeaseOver({ id: id ?? null, ttlMillis }))
    })
    const code = yield* withLease(lease, reuse, inTime)
    if (code !== 0) return yield* new ProgramEnded({ code })
  }),
  ({ dryRun }) => leasingClient(!dryRun)
)
