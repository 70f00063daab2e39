/**
 * Executes a plan: creates, then replaces, then deletes. The ledger is written before and after each request, so that the next run can
 * continue after a run that was killed at any time. If one member fails, the others continue. But no node is deleted before all nodes
 * that may replace it are running.
 */
import { instantNow } from "@berthkit/core/client/instantNow"
import { type Instant, IntentStoreFailed, recordedCreate } from "@berthkit/core/client/creation/IntentStore"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { Node } from "@berthkit/core/domain/Node"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { label } from "@berthkit/core/domain/NodeStatus"
import { Array as Arr, DateTime, type Duration, Effect, Result } from "effect"
import { quoted } from "@berthkit/terminal/quoted"
import { knownPlans } from "../catalogue/ImageList.ts"
import { buysPeriod } from "../commitmentLog/CommitmentLog.ts"
import { mayBeSet, sendCommitment } from "../commitmentLog/sendCommitment.ts"
import { FleetStep, type LocalFileFault } from "../failure/CliFailure.ts"
import { type Failure, problemOf } from "../failure/Problem.ts"
import { commitmentText } from "../fleet/FleetCommitment.ts"
import { sentOf } from "../fleet/differences.ts"
import {
  begun,
  committed,
  committing,
  deleting,
  isOwned,
  keyOf,
  type Ledger,
  made,
  notCommitted,
  notMade,
  type Owned,
  ownedOf,
  type Pending,
  previousDeleting,
  sending,
  takenBack,
  waitedFor
} from "../fleet/Ledger.ts"
import { memberText } from "../fleet/Member.ts"
import type { Change, Plan } from "../fleet/Change.ts"
import { replacingOf, stoppedOf, unsettledOf, youngerOf } from "../fleet/beforeDeletes.ts"
import { lane, withListed } from "../nodes/allNodes.ts"
import { deleteRead } from "../nodes/deleteRead.ts"
import { SendNotes } from "../nodes/SendNotes.ts"
import { untilCreatedRuns, untilDeletedGone } from "../nodes/waitFor.ts"
import { printNote } from "../output/Output.ts"
import { type ShowState, withProgress } from "../output/progress.ts"
import type { LedgerFile } from "./LedgerFile.ts"
import { freshPrices, type TimedPrices } from "./freshPrices.ts"
import { untilReady } from "./readyCommand.ts"
import type { Done } from "./rows.ts"
import { seeCommitment, type SentLog } from "./sent.ts"
import { type Replacing, stillRuns } from "./stillRuns.ts"

/** How many deletes run at a time. */
const concurrency = 4

/** How many creates run at a time. Creates that begin together share the reads that find the highest node id at that time. */
const createsTogether = 25

/** The options and services of an execution. */
export interface Means {
  readonly file: LedgerFile
  /** The name of this machine. */
  readonly machine: string
  /** The prices that the user saw. */
  readonly prices: TimedPrices
  readonly scriptsOf: ReadonlyMap<string, ReadonlyArray<string>>
  readonly wait: boolean
  readonly timeout: Duration.Duration | undefined
  readonly maxUnavailable: number
  readonly readyCommand: string | undefined
  readonly readyTimeout: Duration.Duration
  /** The ledger before this run has recorded anything. */
  readonly before: Ledger
  /** The result of each change so far. `perform` fills this map. */
  readonly done: Map<Change, Done>
  /** The requests sent so far. `perform` fills this log. */
  readonly sent: SentLog
}

type Create = Extract<Change, { readonly action: "create" }>
type Replace = Extract<Change, { readonly action: "replace" }>
type Delete = Extract<Change, { readonly action: "delete" }>
type Commit = Extract<Change, { readonly action: "commit" }>

type Since = Pick<Pending, "by" | "since" | "byService">

/** The present time in a form that other machines can compare: the service's time if it is known, otherwise the wall clock's. */
const sinceOf = ({ serviceMillis, wallMillis }: Instant, machine: string): Since => ({
  by: machine,
  since: DateTime.formatIso(DateTime.makeUnsafe(serviceMillis > 0 ? serviceMillis : wallMillis)),
  ...(serviceMillis > 0 && { byService: true })
})

/** Records the beginning of a create. */
const beginning =
  ({ group, member, name }: Create | Replace, since: Since) =>
  (ledger: Ledger) =>
    begun(ledger, member, {
      pending: { name, plan: group.order.plan, image: group.order.image, ...since },
      sent: sentOf(group.order, group.scripts),
      protect: group.protect
    })

/** The order of a create. A create that an earlier run has sent is repeated with the order of that run. */
const specOf = (ledger: Ledger, change: Create | Replace, scriptsOf: Means["scriptsOf"]): NodeSpec => {
  const { group, member } = change
  const entry = ledger.members.get(memberText(member))
  const scripts = scriptsOf.get(group.group) ?? []
  const startScripts = scripts.length === 0 ? {} : { startScripts: scripts }
  if (!change.isResumed || entry?.pending === undefined) return { ...group.order, name: change.name, ...startScripts }
  const { image, name, plan } = entry.pending
  const { startScripts: digests, ...sent } = entry.sent ?? {}
  return { ...sent, name, plan, image, ...(digests !== undefined && startScripts) } as NodeSpec
}

/** Whether a create with this key may still make a node. */
const mayBeMade = Effect.fnUntraced(function* (key: string) {
  const recorded = yield* recordedCreate(key)
  // If the record cannot be read, the create may have been sent.
  return recorded === undefined || (recorded !== null && recorded.sentAt !== null)
})

type Fresh = Effect.Success<ReturnType<typeof freshPrices>>

/** The hint if names must be unique: the replacement needs the name of the old node, which is deleted only after the new one runs. */
const nameTaken = ({ group, member, old }: Replace, failure: Failure): FleetStep | undefined => {
  if (failure._tag !== "BerthError") return undefined
  const { reason } = failure
  if (reason._tag !== "Conflict" && reason._tag !== "PreconditionFailed" && reason._tag !== "InvalidRequest")
    return undefined
  if (!/\bname/i.test(reason.detail) || !/exist|taken|already|in use|unique|duplicate/i.test(reason.detail))
    return undefined
  return new FleetStep({
    member: memberText(member),
    id: old.id,
    message: `${failure.message} The new node of ${memberText(member)} would have the name of the old one, ${whatOf(old)}, which was not deleted.`,
    hint: `Give the group ${group.group} another name in the file, such as "name: ${group.group}-b-{n}", and run the same command again; or do without a node in the meantime: berth node delete ${old.id}, and then berth apply makes the new one.`
  })
}

/** Sends a create that the ledger already records as begun, and records the time of each attempt. */
const create = Effect.fnUntraced(function* (
  change: Create | Replace,
  { file, machine, scriptsOf, sent }: Means,
  fresh: Fresh
) {
  const member = memberText(change.member)
  const ledger = yield* file.current
  const entry = ledger.members.get(member)
  const key = keyOf(ledger, entry ?? { member, generation: 1 })
  const spec = specOf(ledger, change, scriptsOf)
  // The create of an earlier run may have made a node, so it stays in the ledger.
  const withdraw = change.isResumed ? Effect.void : file.update((before) => notMade(before, member))
  yield* Effect.tapError(fresh.ensureOrder(change.group), () => withdraw)
  const nodes = yield* Nodes
  const at = sent.begin({ action: "create", member, id: null, name: spec.name })
  const unlessMade = Effect.map(mayBeMade(key), (mayBe) => mayBe || sent.drop(at))
  const noting = yield* SendNotes
  const noteSend = (sentAt: Instant) =>
    Effect.mapError(
      file.update((before) => sending(before, member, sinceOf(sentAt, machine))),
      ({ message, path }) => new IntentStoreFailed({ detail: message, code: null, path })
    )
  const sendNoted = noting(key, noteSend)(nodes.create(spec, { key, plans: yield* knownPlans }))
  const result = yield* Effect.result(Effect.onInterrupt(sendNoted, () => Effect.ignore(unlessMade)))
  if (Result.isFailure(result)) {
    if (!(yield* mayBeMade(key))) {
      sent.drop(at)
      yield* file.update((before) => notMade(before, member))
    }
    return yield* result.failure
  }
  const { node } = result.success
  sent.done(at, node)
  const whole = withListed(node, { plan: spec.plan, image: String(spec.image), memoryMib: null, region: null })
  yield* Effect.mapError(
    // Record the ordered slug, because the node may show its plan's SKU instead.
    file.update((before) => made(before, member, { ...ownedOf(whole), plan: spec.plan })),
    ({ hint, message }) =>
      new FleetStep({
        member,
        id: node.id,
        message: `Created ${whatOf(node)}, which is billed, and the ledger does not have it: ${message}`,
        // An older ledger that the user restores may lack this create, so the hint says how the ledger gets the node.
        hint: `${hint} That adds the node to the fleet, or names the command that does.`
      })
  )
  return whole
})

/** Sets the commitment that the file states. A purchase is sent once, because a second request may begin another period. */
const commit = Effect.fnUntraced(function* ({ group, member: at }: Commit, node: Node, means: Means, fresh: Fresh) {
  const { file } = means
  const { commitment } = group
  if (commitment === null) return
  const member = memberText(at)
  const text = commitmentText(commitment)
  const option = yield* fresh.optionFor(group)
  const skuId = option?.skuId
  yield* file.update((before) => committing(before, member, text))
  const request = means.sent.begin({ action: "commit", member, id: node.id, name: node.name, commitment: text })
  const order = { setting: commitment.setting, skuId }
  const sent = yield* Effect.result(sendCommitment(node, order, option))
  // Another command has bought the period since the plan was made.
  const isBought = Result.isFailure(sent) && sent.failure._tag === "CommitmentBought"
  if (isBought) means.sent.drop(request)
  else if (Result.isFailure(sent)) {
    const isUnknown =
      sent.failure._tag === "BerthError" ? mayBeSet(sent.failure) : sent.failure._tag === "CommitmentUnknown"
    if (!isUnknown) {
      means.sent.drop(request)
      yield* file.update((before) => notCommitted(before, member))
      return yield* sent.failure
    }
    const unknown = `It is not known whether the commitment ${text} of ${whatOf(node)} was set`
    const because = problemOf(sent.failure).message
    return yield* new FleetStep({
      member,
      id: node.id,
      ...(buysPeriod(order)
        ? {
            message: `${unknown}, and it is not sent again: ${because}`,
            hint: seeCommitment(node.id, member, quoted(text))
          }
        : {
            message: `${unknown}: ${because}`,
            hint: "Run the same command again: it sends the setting again, which buys nothing."
          })
    })
  } else means.sent.done(request, node)
  yield* Effect.mapError(
    file.update((before) => committed(before, member, text)),
    ({ hint, message }) =>
      new FleetStep({
        member,
        id: node.id,
        message: `Set the commitment ${text} of ${whatOf(node)}, which is paid if it buys a period, and the ledger does not have it: ${message}`,
        hint
      })
  )
})

/** Deletes a node after a read has confirmed its identity, and after `ensure` has confirmed that its replacement runs. */
const remove = Effect.fnUntraced(function* <E extends Failure, R>(
  member: string,
  owned: Owned,
  ensure: (isAgain: boolean) => Effect.Effect<unknown, E, R>,
  before: Effect.Effect<unknown, LocalFileFault>,
  sent: SentLog
) {
  const nodes = yield* Nodes
  const read = yield* nodes.get(owned.id as Node["id"], { lane })
  const ensureOwned = (node: Node) =>
    isOwned(owned, node)
      ? Effect.void
      : Effect.fail(
          new FleetStep({
            member,
            id: owned.id,
            message: `Node ${owned.id} is ${node.name === owned.name ? "another one" : `named ${node.name}`} now, and the ledger has it as ${owned.name}: it was not deleted.`,
            hint: `See the node: berth node get ${owned.id}`
          })
        )
  yield* ensureOwned(read)
  if (read.status === "terminate") return
  yield* ensure(false)
  yield* before
  const at = sent.begin({ action: "delete", member, id: read.id, name: read.name })
  const ensureStill = (node: Node) => Effect.andThen(ensureOwned(node), ensure(true))
  yield* Effect.tapError(deleteRead(read.id, ensureStill), (failure) =>
    Effect.sync(() => void (failure._tag === "BerthError" && !failure.reason.mayBeProcessed && sent.drop(at)))
  )
  sent.done(at, read)
})

/** The node of a member in the form of the ledger, with the fields that identify it. */
const ownedIn = (ledger: Ledger, member: string, node: Node): Owned => {
  const entry = ledger.members.get(member)
  return [entry?.node, entry?.previous].find((owned) => owned?.id === node.id) ?? ownedOf(node)
}

const whatOf = ({ id, name }: Pick<Owned, "id" | "name">) => `${name} (${id})`

/** Executes the plan. */
export const perform = Effect.fnUntraced(function* ({ changes }: Plan, means: Means) {
  const { done, file, machine, timeout, wait } = means
  const failed = (change: Change, failure: Failure, node: Node | null = null) =>
    Effect.sync(() => void done.set(change, { outcome: "failed", node, failure }))
  const finish = (change: Change, result: Done) =>
    Effect.suspend(() => {
      done.set(change, result)
      return printNote(
        `${memberText(change.member)}: ${result.outcome}${result.node === null ? "" : ` ${whatOf(result.node)}`}`
      )
    })

  const creates = changes.filter((change): change is Create => change.action === "create")
  const replaces = changes.filter((change): change is Replace => change.action === "replace")
  const deletes = changes.filter((change): change is Delete => change.action === "delete")
  const commits = changes.filter((change): change is Commit => change.action === "commit")
  const ofMember = (change: Change) => memberText(change.member)
  const commitOf = new Map(commits.map((change) => [ofMember(change), change]))
  const sinceNow = Effect.map(instantNow, (now) => sinceOf(now, machine))
  const groups = new Set(changes.flatMap((change) => ("group" in change ? change.group : [])))
  const fresh = yield* freshPrices(means.prices, Array.from(groups))
  const running = stillRuns()

  const commitOne = (change: Commit, node: Node) =>
    commit(change, node, means, fresh).pipe(
      Effect.andThen(finish(change, { outcome: "committed", node })),
      Effect.catch((failure) => failed(change, failure, node))
    )

  /** Sets the commitment of a node that this run created. */
  const commitMade = (change: Create | Replace, node: Node) => {
    const commitment = commitOf.get(ofMember(change))
    return commitment === undefined ? Effect.void : commitOne(commitment, node)
  }

  const createOne = (change: Create) =>
    Effect.gen(function* () {
      const created = yield* create(change, means, fresh)
      yield* finish(change, { outcome: "created", node: created })
      yield* commitMade(change, created)
      return created
    }).pipe(Effect.catch((failure) => Effect.as(failed(change, failure), null)))

  if (creates.length > 0) {
    // Write once for all creates. If this process crashes, a later run finds out which of them were not sent.
    const fresh = creates.filter(({ isResumed }) => !isResumed)
    const since = yield* sinceNow
    yield* file.update((ledger) => fresh.reduce((before, change) => beginning(change, since)(before), ledger))
    const together = (chunk: ReadonlyArray<Create>) =>
      Effect.forEach(chunk, (change) => Effect.map(createOne(change), (node) => ({ change, node })), {
        concurrency: "unbounded"
      })
    const nodes = (yield* withProgress({ goal: "created", total: creates.length }, () =>
      Effect.forEach(Arr.chunksOf(creates, createsTogether), together)
    )).flat()
    const made = nodes.flatMap(({ change, node }) => (node === null ? [] : [{ change, node }]))
    if ((wait || deletes.length > 0) && made.length > 0) {
      yield* withProgress({ goal: "running", total: made.length }, (show) =>
        Effect.forEach(
          made,
          ({ change, node }) =>
            untilCreatedRuns(node, { isPublic: change.group.order.publicIp !== false, timeout }, show).pipe(
              Effect.flatMap((running) => finish(change, { outcome: "running", node: running })),
              Effect.catch((failure) => failed(change, failure, node))
            ),
          { concurrency: "unbounded", discard: true }
        )
      )
    }
  }

  for (const change of commits) {
    if (change.node !== null) yield* commitOne(change, change.node)
  }

  /** Waits until the ready command, if any, exits with 0 for a node. */
  const readied = Effect.fnUntraced(function* (change: Change, node: Node, what: string, show: ShowState) {
    const { readyCommand, readyTimeout } = means
    if (readyCommand === undefined) return
    yield* show({ what: whatOf(node), state: "getting ready" })
    const later = Nodes.use((nodes) => nodes.get(node.id, { lane }))
    yield* Effect.mapError(
      untilReady(readyCommand, node, readyTimeout, later),
      ({ code }) =>
        new FleetStep({
          member: memberText(change.member),
          id: node.id,
          message: `The ready command ${code === null ? "did not end" : `exits ${code}`} for ${whatOf(node)}, ${what}.`,
          hint: "Correct the node or the command, and run the same command again; it continues with this node."
        })
    )
  })

  let isStopped = false
  const replaceOne = (change: Replace, show: ShowState) => {
    const member = memberText(change.member)
    let node: Node | null = change.made
    return Effect.gen(function* () {
      if (change.isTakenBack) yield* file.update((before) => takenBack(before, member))
      if (node === null) {
        if (!change.isResumed) yield* file.update(beginning(change, yield* sinceNow))
        node = yield* Effect.mapError(create(change, means, fresh), (failure) => nameTaken(change, failure) ?? failure)
      }
      const made = (node = yield* untilCreatedRuns(
        node,
        { isPublic: change.group.order.publicIp !== false, timeout },
        show
      ))
      yield* readied(
        change,
        made,
        `the new node of ${member}: the old node ${change.old.id} was not deleted, and both are billed`,
        show
      )
      yield* commitMade(change, made)
      if ((yield* file.current).members.get(member)?.committing !== undefined) {
        return yield* new FleetStep({
          member,
          id: made.id,
          message: `It is not known what was bought for ${whatOf(made)}, the new node of ${member}: the old node ${change.old.id} was not deleted, and both are billed.`,
          hint: "See above, and then run the same command again; it continues with this node."
        })
      }
      const old = ownedIn(yield* file.current, member, change.old)
      yield* remove(
        member,
        old,
        (isAgain) => running.ensure({ member, node: made }, old, "replaces", isAgain),
        file.update((ledger) => previousDeleting(ledger, member)),
        means.sent
      )
      yield* finish(change, { outcome: "replaced", node: made })
    }).pipe(
      Effect.catch((failure) => {
        isStopped = true
        return failed(change, failure, node)
      })
    )
  }
  const skip = (change: Replace) =>
    Effect.sync(
      () => void done.set(change, { outcome: "skipped", node: change.old, reason: "a replacement before it failed" })
    )
  if (replaces.length > 0) {
    yield* withProgress({ goal: "replaced", total: replaces.length }, (show) =>
      Effect.forEach(
        replaces,
        (change) => Effect.suspend(() => (isStopped ? skip(change) : replaceOne(change, show))),
        {
          concurrency: Math.max(1, means.maxUnavailable),
          discard: true
        }
      )
    )
  }

  const staying =
    deletes.length === 0
      ? []
      : replacingOf(
          changes,
          deletes.map(({ node }) => node),
          means.before
        )
  const replacingAs = ([change, node]: readonly [Change, Node]): Replacing => ({ member: ofMember(change), node })
  /** The nodes that may replace a deleted one: those created in this run, and those that stay. */
  const replacing = (): ReadonlyArray<readonly [Change, Node]> => [
    ...[...creates, ...replaces].flatMap((change) => {
      const { node = null } = done.get(change) ?? {}
      return node === null ? [] : [[change, node] as const]
    }),
    ...staying
  ]

  /** Why nothing may be deleted yet: a possible replacement is missing or does not run. */
  const blockedBy = Effect.gen(function* () {
    const isFailed = (change: Change) => ["failed", "skipped"].includes(done.get(change)?.outcome ?? "")
    const unmade = [...creates, ...replaces].find(isFailed)
    if (unmade !== undefined) return unmade
    const inTheWay = new Set<Change>()
    /**
     * Marks a change as a reason why nothing may be deleted. If the change has set a commitment or finished a replacement, that is still
     * reported as its outcome.
     */
    const blocks = (change: Change, failure: Failure) =>
      Effect.sync(() => {
        inTheWay.add(change)
        const before = done.get(change)
        const isDone = before?.outcome === "committed" || before?.outcome === "replaced"
        const outcome = isDone ? before.outcome : "failed"
        done.set(change, { outcome, node: before?.node ?? null, failure })
      })
    for (const change of changes) {
      if (change.action !== "doubted" || !change.isWanted) continue
      const { owned } = change
      const failure = new FleetStep({
        member: ofMember(change),
        id: owned.id,
        message: `${whatOf(owned)} stays and cannot be found: nothing was deleted.`,
        hint: "Run the same command again."
      })
      yield* blocks(change, failure)
    }
    const deleted = deletes.map(({ node }) => node)
    for (const [change, node] of stoppedOf(changes, deleted, yield* file.current)) {
      const failure = new FleetStep({
        member: ofMember(change),
        id: node.id,
        message: `${whatOf(node)} may replace a node that is to be deleted, and is ${label(node.status)}: nothing was deleted.`,
        hint: "Start it in the account portal, or delete it, and run the same command again."
      })
      yield* blocks(change, failure)
    }
    const unsettled = unsettledOf(changes)
    yield* withProgress({ goal: "running", total: unsettled.length }, (show) =>
      Effect.forEach(
        unsettled,
        (change) =>
          change.node === null
            ? Effect.void
            : Effect.catch(
                Effect.asVoid(untilCreatedRuns(change.node, { isPublic: false, timeout }, show)),
                (failure) => blocks(change, failure)
              ),
        { concurrency: "unbounded", discard: true }
      )
    )
    if (means.readyCommand !== undefined) {
      const made = creates.flatMap((change) => {
        const { node = null } = done.get(change) ?? {}
        return node === null ? [] : [[change, node] as const]
      })
      const young = [...made, ...youngerOf(changes, deleted)].filter(([change]) => !inTheWay.has(change))
      yield* withProgress({ goal: "ready", total: young.length }, (show) =>
        Effect.forEach(
          young,
          ([change, node]) =>
            Effect.catch(
              readied(change, node, "which may replace a node that is to be deleted: nothing was deleted", show),
              (failure) => blocks(change, failure)
            ),
          { concurrency, discard: true }
        )
      )
    }
    const [first] = deletes
    if (inTheWay.size === 0 && first !== undefined) {
      yield* running.readMany(staying.map(replacingAs))
      yield* Effect.forEach(
        replacing(),
        (each, at) =>
          Effect.catch(running.ensure(replacingAs(each), (deletes[at] ?? first).node, "may replace"), (failure) =>
            blocks(each[0], failure)
          ),
        { concurrency, discard: true }
      )
    }
    return changes.find((change) => inTheWay.has(change) || (change.action !== "commit" && isFailed(change)))
  })
  const blocked = deletes.length === 0 ? undefined : yield* blockedBy
  const leave = (change: Delete, member: string) =>
    Effect.sync(
      () =>
        void done.set(change, { outcome: "skipped", node: change.node, reason: `left, because ${member} does not run` })
    )
  if (blocked !== undefined) {
    yield* Effect.forEach(deletes, (change) => leave(change, ofMember(blocked)), { discard: true })
    return
  }

  const others = replacing()
  /** Set if a check during the deletes finds that the node of this member does not run. */
  let stoppedBy: string | undefined
  /** Before each delete, reads one of the possible replacements again, in turn. */
  const ensureReplaced = (change: Delete, old: Owned) => (isAgain: boolean) => {
    const each = others[deletes.indexOf(change) % Math.max(1, others.length)]
    if (each === undefined) return Effect.void
    return Effect.tapError(running.ensure(replacingAs(each), old, "may replace", isAgain), () =>
      Effect.sync(() => (stoppedBy = ofMember(each[0])))
    )
  }
  const deleteOne = (change: Delete, show: ShowState) => {
    const member = memberText(change.member)
    return Effect.gen(function* () {
      const ledger = yield* file.current
      const owned = ownedIn(ledger, member, change.node)
      const old = change.old === null ? null : ownedIn(ledger, member, change.old)
      if (old !== null) {
        yield* remove(
          member,
          old,
          ensureReplaced(change, old),
          file.update((before) => previousDeleting(before, member)),
          means.sent
        )
      }
      yield* remove(
        member,
        owned,
        ensureReplaced(change, owned),
        file.update((before) => deleting(before, member)),
        means.sent
      )
      yield* file.update((ledger) => deleting(ledger, member))
      if (wait) {
        const asked = old === null ? [owned] : [old, owned]
        for (const { id } of asked) yield* untilDeletedGone({ id: id as Node["id"], node: null }, timeout, show)
        yield* file.update((ledger) => waitedFor(ledger, member, new Set(asked.map(({ id }) => id))))
      }
      yield* finish(change, { outcome: wait ? "deleted" : "deleting", node: change.node })
    }).pipe(Effect.catch((failure) => failed(change, failure, change.node)))
  }
  if (deletes.length > 0) {
    yield* withProgress({ goal: wait ? "deleted" : "deleting", total: deletes.length }, (show) =>
      Effect.forEach(
        deletes,
        (change) =>
          Effect.suspend(() => (stoppedBy === undefined ? deleteOne(change, show) : leave(change, stoppedBy))),
        { concurrency, discard: true }
      )
    )
  }
})
