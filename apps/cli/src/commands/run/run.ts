/**
 * `berth run`: creates a node, runs a command here, and deletes the node even if the command fails. A lease (the record of the node) is
 * written before the create, so that `berth reap` can delete the node of a killed run.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import { CallsEnd } from "@berthkit/core/client/call/Deadline"
import { self } from "@berthkit/core/client/creation/KeyLock"
import { proofOf } from "@berthkit/core/client/creation/Ownership"
import { specDigest } from "@berthkit/core/client/creation/Reconciliation"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { Duration, Effect, Exit, Fiber, Option, Random, Result, Struct } from "effect"
import { freshCatalogue, knownPlans, recentCatalogue, type TimedCatalogue } from "../../catalogue/ImageList.ts"
import {
  argumentsFrom,
  duration,
  flag,
  flagOr,
  oneOf,
  switchFlag,
  text,
  type Values
} from "../../commandLine/Parameter.ts"
import { extraFlag, isWhole, nodeName, parameters as ofCreate, specOf } from "../node/createFlags.ts"
import { command } from "../command.ts"
import { CreateFailed, LeasedNodeNotReady, LeaseOver, ProgramEnded, UsageFault } from "../../failure/CliFailure.ts"
import { inOwnWords } from "../../failure/ownKey.ts"
import { exitCodeOf, problemOf } from "../../failure/Problem.ts"
import { addressOf, hostOf } from "../../inventory/Host.ts"
import { heldMillisLeft, isSameOwner, kept, type Lease, newLease, paidMillisLeft } from "../../leases/Lease.ts"
import { leases } from "../../leases/leases.ts"
import { chargedText, endLease, leaseNow, reapLeases, takeKept, unreadableLease } from "../../applying/leasedNodes.ts"
import { untilSshOrNote, untilUsable } from "../../nodes/waitFor.ts"
import { elapsed } from "../../output/format.ts"
import { printChange, printNote } from "../../output/Output.ts"
import { Progress, withProgress } from "../../output/progress.ts"
import { reportProblem } from "../../output/reportProblem.ts"
import { checkMinimum } from "../../proposal/limits.ts"
import { currentPrice, type Quote, quoteFor, quoteOf } from "../../proposal/currentPrice.ts"
import { approve, type Offered } from "../../proposal/Proposal.ts"
import { checkCost, createProposal, offerFor, underSlug } from "../../proposal/offer.ts"
import { leasingClient } from "../../settings/leasingClient.ts"
import { ensureCommand, runCommand } from "./child.ts"

const noCommitment = "berth run buys no commitment"

/** The longest lease: two weeks. A node for a longer time should be created with `berth node create`. */
const maxTtlMillis = 14 * 86_400_000

const parameters = {
  words: argumentsFrom(1, "COMMAND", text(""), "What to run here"),
  ...Struct.omit(ofCreate, [
    "nameFlag",
    "committedSku",
    "commitment",
    "ifAbsent",
    "key",
    "count",
    "maxCommitment",
    "wait"
  ]),
  extra: extraFlag({ cn_id: noCommitment, cn_status: noCommitment }),
  name: flag("name", nodeName("NAME"), "Name of the node; default run- and a random word"),
  ttl: flagOr(
    "ttl",
    duration({ minMillis: 1000, maxMillis: maxTtlMillis }),
    "Stop the command and delete the node after this time; default 1h",
    Duration.hours(1)
  ),
  reuse: switchFlag("reuse", "Use a node that an earlier run kept, and keep it for the rest of its paid hour"),
  wait: flag(
    "wait",
    oneOf(["running", "ssh"], "GOAL"),
    "What the command waits for: the node runs, or its ssh server answers; default ssh if the node has a public address"
  ),
  timeout: flag("timeout", duration(), "Maximum time to wait until the node runs; default 10m")
}

type RunOptions = Values<typeof parameters>

/** A random word of eight letters and digits; there are about 2.7 trillion such words. */
const randomWord = Effect.map(Random.nextIntBetween(36 ** 7, 36 ** 8), (drawn) => drawn.toString(36))

/** How long the end of a run may take before a note is printed. */
const silentMillis = 1000

/** The specification of the requested node. Fails if plan or image is missing. */
const specFor = Effect.fnUntraced(function* (options: RunOptions, name: string) {
  const spec = yield* specOf({
    ...options,
    name,
    nameFlag: undefined,
    committedSku: undefined,
    commitment: undefined
  })
  if (isWhole(spec)) return spec
  return yield* new UsageFault({
    message: `berth run needs ${spec.plan === undefined ? "--plan" : "--image"}.`,
    hint: "See berth run --help."
  })
})

/** The cost of the node. Fails if the node cannot be ordered or costs too much. */
const offered = Effect.fnUntraced(function* (
  spec: NodeSpec,
  { force, maxCost, maxMinimum }: RunOptions,
  catalogue: TimedCatalogue
) {
  const offer = yield* offerFor(spec, catalogue, { force })
  const proposal = createProposal(spec, offer)
  yield* checkCost([proposal], spec, offer, maxCost)
  yield* checkMinimum([proposal.minimumBillingInr], maxMinimum)
  return { proposals: [proposal], single: true, order: quoteOf(spec, offer, catalogue) } satisfies Offered<Quote>
})

/** Shows what the node costs, and asks if needed. Returns the price; undefined if the node is not to be created. */
const approved = (first: Offered<Quote>, spec: NodeSpec, options: RunOptions) => {
  const { dryRun, yes } = options
  const read = Effect.flatMap(freshCatalogue, (catalogue) => offered(spec, options, catalogue))
  const mustAsk = first.order.proposal.pricePerHourInr === null
  return Effect.map(approve(first, read, { verb: "create", mustAsk, yes, dryRun }), Option.getOrUndefined)
}

/** Deletes what earlier runs left behind. A failure here does not stop the run. */
const reapFirst = Effect.gen(function* () {
  const { rows, unreadable } = yield* reapLeases()
  for (const path of unreadable) yield* printNote(unreadableLease(path).message)
  for (const { error, id, name, outcome } of rows) {
    if (error !== null) yield* printNote(`${error.message} ${error.hint}`)
    else if (outcome === "deleted") {
      yield* printChange(`Deleted node ${id} (${name}), which an earlier run left behind.`, { deleted: { id, name } })
    }
  }
}).pipe(Effect.catch((failure) => printNote(failure.message)))

/** The process's own copy of its lease, in case the state folder is lost. */
interface Held {
  lease: Lease
}

/** Writes a new lease, before its node is created. */
const begin = Effect.fnUntraced(function* (
  spec: NodeSpec,
  { isNameDrawn, order, ttlMillis }: Pick<Lease, "isNameDrawn" | "order" | "ttlMillis">,
  quote: Quote | undefined
) {
  const key = `run-${yield* randomWord}${yield* randomWord}`
  const { image, name, plan } = spec
  const price = quote && {
    perHourInr: quote.proposal.pricePerHourInr,
    minimumInr: quote.proposal.minimumBillingInr
  }
  const asked = { key, name, plan, image: String(image), isNameDrawn, order, ttlMillis, price }
  const lease = newLease(asked, yield* self, yield* leaseNow)
  yield* leases.put(lease)
  return lease
})

/** Creates the node of a lease, and waits until it is usable. */
const ready = Effect.fnUntraced(function* (held: Held, spec: NodeSpec, { timeout, wait }: RunOptions) {
  const nodes = yield* Nodes
  const plans = yield* knownPlans
  const { node } = yield* Effect.mapError(nodes.create(spec, { key: held.lease.key, plans }), (error) =>
    inOwnWords(error, "Run the same command again: berth then deletes the node of this run, if it exists.")
  )
  held.lease = { ...held.lease, node: proofOf(node) }
  yield* printChange(`Created node ${node.id} (${node.name}).`, { created: { id: node.id, name: node.name } })
  yield* leases.put(held.lease)
  return yield* withProgress({ goal: "running", total: 1 }, (show) =>
    untilUsable(node, { isPublic: spec.publicIp !== false, timeout }, show).pipe(
      Effect.mapError((error) => new LeasedNodeNotReady({ id: node.id, error })),
      Effect.tap((running) => (wait === "running" ? Effect.void : untilSshOrNote(running, wait === "ssh", show)))
    )
  )
})

/**
 * Deletes the node of this run. It reads the lease again, because another process may have ended it. If the lease is gone or the state
 * folder cannot be used, it deletes the node that this process knows.
 */
const finish = Effect.fnUntraced(function* (held: Held) {
  const { lease } = held
  const underLock = leases.change(lease.key, (stored) => {
    if (stored !== undefined && !isSameOwner(stored.owner, lease.owner)) return Effect.undefined
    return endLease({ ...lease, ...stored, node: lease.node ?? stored?.node ?? null })
  })
  const end = yield* Effect.catchTag(underLock, "LocalFileFault", () => endLease(lease))
  if (end?.outcome === "deleted") {
    yield* printChange(`Deleted node ${end.id} (${end.name}).`, { deleted: { id: end.id, name: end.name } })
  }
  return end
})

/** Keeps the node for the next run until its paid hour ends; deletes it if the lease cannot be written. */
const keep = Effect.fnUntraced(function* (held: Held) {
  const now = yield* leaseNow
  const waiting = kept(held.lease, now)
  const isKept = yield* leases
    .change(held.lease.key, (stored) =>
      stored === undefined ? Effect.succeed(false) : Effect.as(leases.put(waiting), true)
    )
    .pipe(Effect.orElseSucceed(() => false))
  if (!isKept || waiting.node === null) return yield* finish(held)
  const left = elapsed(paidMillisLeft(waiting, now))
  const { id, name } = waiting.node
  yield* printChange(
    `Kept node ${id} (${name}) for the next run --reuse; its hour ends in ${left}.${chargedText(waiting, now)}`,
    { kept: { id, name } }
  )
  return undefined
})

/** Whether the outcome of this run's create is unknown. */
const isUnknownCreate = (exit: Exit.Exit<unknown, unknown>): boolean => {
  const failure = Result.getOrUndefined(Exit.findError(exit))
  return failure instanceof CreateFailed && failure.error.reason._tag === "OutcomeUnknown"
}

/**
 * Runs `use` with a leased node, and releases the node even if `use` fails. If the node cannot be deleted, berth reports this. The run
 * then fails because of it, unless the run has already failed for another reason.
 */
const withLease = <E, R>(held: Held, reuse: boolean, use: Effect.Effect<number, E, R>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(restore(use))
      const finishing = withProgress({ goal: "deleted", total: 1, isQuiet: true }, () => finish(held))
      const letGo = reuse && Exit.isSuccess(exit) ? keep(held) : finishing
      // Detached, so that a second signal cannot interrupt it. The command's deadline does not apply to the cleanup.
      const fiber = yield* Effect.forkDetach(Effect.provideService(letGo, CallsEnd, undefined))
      const silence = yield* Effect.forkDetach(
        Effect.delay(
          Progress.use(({ say }) => say("Deleting the node of this run …")),
          silentMillis
        )
      )
      const end = yield* Fiber.await(fiber)
      yield* Fiber.interrupt(silence)
      if (Exit.isSuccess(end)) return yield* exit
      const hasSucceeded = Exit.isSuccess(exit) && exit.value === 0
      const failure = Result.getOrUndefined(Exit.findError(end))
      if (failure === undefined) return yield* hasSucceeded ? Effect.as(end, 0) : exit
      // Report the failed cleanup here: if a signal arrived during the cleanup, a failure returned from here would be lost.
      yield* reportProblem(problemOf(failure))
      // If the outcome of a create is unknown, the error above already says everything.
      const isSame = failure._tag === "LeasedNodeNotDeleted" && failure.id === null && isUnknownCreate(exit)
      return yield* hasSucceeded || isSame ? new ProgramEnded({ code: exitCodeOf(failure) }) : exit
    })
  )

export const run = command(
  parameters,
  Effect.fnUntraced(function* (options) {
    const { dryRun, reuse, ttl, words } = options
    yield* ensureCommand(words[0]!)
    const name = options.name ?? `run-${yield* randomWord}`
    const asked = yield* specFor(options, name)
    const catalogue = yield* recentCatalogue
    const slugged = underSlug(asked, catalogue.images)
    const spec = options.force ? Result.getOrElse(slugged, () => asked) : yield* Effect.fromResult(slugged)
    const order = specDigest({ ...spec, name: "-" })
    const ttlMillis = Duration.toMillis(ttl)
    // Check everything that can be checked before anything is deleted. The price limit applies to a kept node as well.
    const first = yield* offered(spec, options, catalogue)
    const wanted = { order, name: options.name, ttlMillis }
    const taken = reuse && !dryRun ? yield* takeKept(wanted) : undefined
    const quote = taken === undefined ? yield* approved(first, spec, options) : undefined
    if (taken === undefined && quote === undefined) return
    if (quote !== undefined) {
      yield* reapFirst
      // The cleanup of earlier runs may have taken minutes.
      yield* yield* currentPrice(`${spec.plan} with ${spec.image}`, quote, quoteFor(spec, options))
    }
    const lease =
      taken?.lease ?? (yield* begin(spec, { isNameDrawn: options.name === undefined, order, ttlMillis }, quote))

    const held: Held = { lease }
    const work = Effect.gen(function* () {
      // From here on, this run holds the kept node, and must release it even if it is interrupted during the cleanup.
      if (taken !== undefined) yield* reapFirst
      const node = taken?.node ?? (yield* ready(held, spec, options))
      return yield* runCommand(words, { BERTH_NODE_ID: String(node.id), BERTH_NODE_IP: addressOf(hostOf(node)) ?? "" })
    })
    const inTime = Effect.timeoutOrElse(work, {
      duration: Math.max(1, heldMillisLeft(lease, yield* leaseNow)),
      orElse: () => Effect.fail(new LeaseOver({ id: held.lease.node?.id ?? null, ttlMillis }))
    })
    const code = yield* withLease(held, reuse, inTime)
    if (code !== 0) return yield* new ProgramEnded({ code })
  }),
  ({ dryRun }) => leasingClient(!dryRun)
)
