/**
 * Carries a plan out: creates, then replaces, then deletes. The ledger is written before each step that is sent and after it, so that a
 * run that is killed at any instant leaves a ledger from which the next one goes on. The failure of one member leaves the others.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import type { Node } from "@berthkit/core/domain/Node"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import type { PriceList } from "@berthkit/core/domain/Price"
import { Array as Arr, Clock, DateTime, type Duration, Effect, Result } from "effect"
import { keepSetting } from "../commitmentLog/CommitmentLog.ts"
import { FleetStep, type LocalFileFault } from "../failure/CliFailure.ts"
import type { Failure } from "../failure/Problem.ts"
import { commitmentText } from "../fleet/FleetFile.ts"
import { sentOf } from "../fleet/differences.ts"
import {
  begun,
  committed,
  deleting,
  ended,
  isSameNode,
  keyOf,
  type Ledger,
  made,
  notDeleted,
  notMade,
  type Owned,
  ownedOf,
  previousDeleting,
  protectedBy,
  released
} from "../fleet/Ledger.ts"
import { memberText } from "../fleet/Member.ts"
import type { Change, LoadedGroup, Plan } from "../fleet/plan.ts"
import { lane, withListed } from "../nodes/allNodes.ts"
import { recordedCreate } from "../nodes/nodeOfCreate.ts"
import { untilCreatedRuns, untilDeletedGone } from "../nodes/waitFor.ts"
import { printNote } from "../output/Output.ts"
import { type ShowState, withProgress } from "../output/progress.ts"
import type { LedgerFile } from "./LedgerFile.ts"
import { untilReady } from "./readyCommand.ts"
import type { Done } from "./rows.ts"

/** So many deletes go at a time. */
const concurrency = 4

/** So many creates go at a time: those that begin together share the reads which show the highest id before them. */
const createsTogether = 25

/** How a plan is carried out. */
export interface Means {
  readonly file: LedgerFile
  /** The name of this machine. */
  readonly machine: string
  readonly prices: PriceList
  readonly scriptsOf: ReadonlyMap<string, ReadonlyArray<string>>
  readonly wait: boolean
  readonly timeout: Duration.Duration | undefined
  readonly maxUnavailable: number
  readonly readyCommand: string | undefined
  readonly readyTimeout: Duration.Duration
  /** What came of each change so far; written here. */
  readonly done: Map<Change, Done>
}

type Create = Extract<Change, { readonly action: "create" }>
type Replace = Extract<Change, { readonly action: "replace" }>
type Delete = Extract<Change, { readonly action: "delete" }>
type Commit = Extract<Change, { readonly action: "commit" }>

/** How the ledger changes by each kind of settling. */
const settledBy = { member: ended, previous: released, restore: notMade, undelete: notDeleted }

/** The ledger once what only it has to learn is in it. */
export const settledLedger = (ledger: Ledger, { changes }: Plan): Ledger =>
  changes.reduce((before, change) => {
    const member = memberText(change.member)
    if (change.action === "settle") return settledBy[change.what](before, member)
    // A create of a member whose node is gone begins a new generation.
    return change.action === "create" && change.was !== null ? ended(before, member) : before
  }, ledger)

/** The ledger with what the file protects, for when it is not in the file any more. */
export const withProtection = (ledger: Ledger, { changes }: Plan, groups: ReadonlyArray<LoadedGroup>): Ledger =>
  changes.reduce((before, { member }) => {
    const name = memberText(member)
    const group = groups.find((each) => each.group === member.group)
    const entry = before.members.get(name)
    return group === undefined ||
      entry === undefined ||
      entry.state === "none" ||
      (entry.protect === true) === group.protect
      ? before
      : protectedBy(before, name, group.protect)
  }, ledger)

/** The begin of a create in the ledger. */
const beginning =
  ({ group, member, name }: Create | Replace, machine: string, since: string) =>
  (ledger: Ledger) =>
    begun(ledger, member, {
      pending: { name, plan: group.order.plan, image: group.order.image, by: machine, since },
      sent: sentOf(group.order, group.scripts),
      protect: group.protect
    })

/** The node that a create asks for: for one that an earlier run sent, the same that was sent. */
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

/** Whether a create of that key may still make a node. */
const mayBeMade = Effect.fnUntraced(function* (key: string) {
  const recorded = yield* recordedCreate(key)
  // What cannot be read is not known.
  return recorded === undefined || (recorded !== null && recorded.sentAt !== null)
})

/** Sends the create of a member, which the ledger has as begun. */
const create = Effect.fnUntraced(function* (change: Create | Replace, { file, scriptsOf }: Means) {
  const member = memberText(change.member)
  const ledger = yield* file.current
  const entry = ledger.members.get(member)
  const key = keyOf(ledger, entry ?? { member, generation: 1 })
  const spec = specOf(ledger, change, scriptsOf)
  const nodes = yield* Nodes
  const result = yield* Effect.result(nodes.create(spec, { key }))
  if (Result.isFailure(result)) {
    if (!(yield* mayBeMade(key))) yield* file.update((before) => notMade(before, member))
    return yield* result.failure
  }
  const { node } = result.success
  const whole = withListed(node, { plan: spec.plan, image: String(spec.image), memoryMib: null, region: null })
  yield* file.update((before) => made(before, member, ownedOf(whole)))
  return whole
})

/** Sets the commitment that the file wants. */
const commit = Effect.fnUntraced(function* (member: string, node: Node, group: LoadedGroup, { file, prices }: Means) {
  const { commitment, order } = group
  if (commitment === null) return
  const text = commitmentText(commitment)
  if ((yield* file.current).members.get(member)?.commitment === text) return
  const option = prices.ofOrder(order).committedOptions.find(({ days }) => days === commitment.days)
  const skuId = option?.skuId
  yield* Nodes.use((nodes) => nodes.setCommitment(node.id, commitment.setting, { skuId }))
  yield* keepSetting(node.id, commitment.setting, skuId, option)
  yield* file.update((before) => committed(before, member, text))
})

/** Asks a node to go, once a read shows that it is the one which is meant. */
const remove = Effect.fnUntraced(function* (
  member: string,
  owned: Owned,
  before: Effect.Effect<unknown, LocalFileFault>
) {
  const nodes = yield* Nodes
  const read = yield* nodes.get(owned.id as Node["id"], { lane })
  if (!isSameNode(owned, read)) {
    return yield* new FleetStep({
      member,
      id: owned.id,
      message: `Node ${owned.id} is named ${read.name} now, and the ledger has it as ${owned.name}: it was not deleted.`,
      hint: `See the node: berth node get ${owned.id}`
    })
  }
  if (read.status === "terminate") return
  yield* before
  yield* nodes.delete(read.id)
})

/** The owned node of a member, as the ledger has it: with what names it for certain. */
const ownedIn = (ledger: Ledger, member: string, node: Node): Owned => {
  const entry = ledger.members.get(member)
  return [entry?.node, entry?.previous].find((owned) => owned?.id === node.id) ?? ownedOf(node)
}

const whatOf = ({ id, name }: Pick<Owned, "id" | "name">) => `${name} (${id})`

/** Carries the plan out. */
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
  const since = DateTime.formatIso(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))

  const createOne = (change: Create) => {
    const member = memberText(change.member)
    let node: Node | null = null
    return Effect.gen(function* () {
      const created = (node = yield* create(change, means))
      yield* commit(member, created, change.group, means)
      yield* finish(change, { outcome: "created", node: created })
      return created
    }).pipe(Effect.catch((failure) => Effect.as(failed(change, failure, node), null)))
  }

  if (creates.length > 0) {
    // In one write: what is not sent before a crash is found not to have been.
    const fresh = creates.filter(({ isResumed }) => !isResumed)
    yield* file.update((ledger) => fresh.reduce((before, change) => beginning(change, machine, since)(before), ledger))
    const together = (chunk: ReadonlyArray<Create>) =>
      Effect.forEach(chunk, (change) => Effect.map(createOne(change), (node) => ({ change, node })), {
        concurrency: "unbounded"
      })
    const nodes = (yield* withProgress({ goal: "created", total: creates.length }, () =>
      Effect.forEach(Arr.chunksOf(creates, createsTogether), together)
    )).flat()
    const made = nodes.flatMap(({ change, node }) => (node === null ? [] : [{ change, node }]))
    if (wait && made.length > 0) {
      yield* withProgress({ goal: "running", total: made.length }, (show) =>
        Effect.forEach(
          made,
          ({ change, node }) =>
            untilCreatedRuns(node, timeout, show).pipe(
              Effect.flatMap((running) => finish(change, { outcome: "running", node: running })),
              Effect.catch((failure) => failed(change, failure, node))
            ),
          { concurrency: "unbounded", discard: true }
        )
      )
    }
  }

  for (const change of commits) {
    const member = memberText(change.member)
    yield* commit(member, change.node, change.group, means).pipe(
      Effect.andThen(finish(change, { outcome: "committed", node: change.node })),
      Effect.catch((failure) => failed(change, failure, change.node))
    )
  }

  let isStopped = false
  const replaceOne = (change: Replace, show: ShowState) => {
    const member = memberText(change.member)
    let node: Node | null = change.made
    return Effect.gen(function* () {
      if (node === null) {
        if (!change.isResumed) yield* file.update(beginning(change, machine, since))
        node = yield* create(change, means)
        yield* commit(member, node, change.group, means)
      }
      const running = (node = yield* untilCreatedRuns(node, timeout, show))
      if (means.readyCommand !== undefined) {
        yield* show({ what: whatOf(running), state: "getting ready" })
        yield* untilReady(means.readyCommand, running, means.readyTimeout).pipe(
          Effect.mapError(
            ({ code }) =>
              new FleetStep({
                member,
                id: running.id,
                message: `The ready command ${code === null ? "did not end" : `exits ${code}`} for ${whatOf(running)}, the new node of ${member}: the old node ${change.old.id} was not deleted, and both are billed.`,
                hint: "Put the node or the command right and run the same command again; it goes on with this node."
              })
          )
        )
      }
      const old = ownedIn(yield* file.current, member, change.old)
      yield* remove(
        member,
        old,
        file.update((ledger) => previousDeleting(ledger, member))
      )
      yield* finish(change, { outcome: "replaced", node: running })
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
          file.update((before) => previousDeleting(before, member))
        )
      }
      yield* remove(
        member,
        owned,
        file.update((before) => deleting(before, member))
      )
      yield* file.update((ledger) => deleting(ledger, member))
      if (wait) {
        for (const each of old === null ? [owned] : [old, owned])
          yield* untilDeletedGone({ id: each.id as Node["id"], node: null }, timeout, show)
        yield* file.update((ledger) => ended(ledger, member))
      }
      yield* finish(change, { outcome: wait ? "deleted" : "deleting", node: change.node })
    }).pipe(Effect.catch((failure) => failed(change, failure, change.node)))
  }
  if (deletes.length > 0) {
    yield* withProgress({ goal: wait ? "deleted" : "deleting", total: deletes.length }, (show) =>
      Effect.forEach(deletes, (change) => deleteOne(change, show), { concurrency, discard: true })
    )
  }
})
