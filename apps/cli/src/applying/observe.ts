/**
 * Finds out which nodes of a fleet exist, from the account's list and from single reads of nodes that are missing from the list or
 * contradict it. Before a member counts as gone, this module repeats the list and the reads as `fleet/missing.ts` requires. A *suspect* is
 * a node of the ledger that may be gone.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import { monotonicMillis } from "@berthkit/core/client/time/Monotonic"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { Clock, DateTime, type Duration, Effect, Result } from "effect"
import { type Bought, boughtByNode, commitmentLog, endingNodes, lossesOf } from "../commitmentLog/CommitmentLog.ts"
import { ListNotWhole } from "../failure/CliFailure.ts"
import { entriesOf, isOwned, type Ledger, type Owned } from "../fleet/Ledger.ts"
import { nextStep, rulesWith, type Suspect, suspected, take } from "../fleet/missing.ts"
import type { Conflict } from "../fleet/Change.ts"
import type { World } from "../fleet/plan.ts"
import { concurrency, lane, wholeList, withListed } from "../nodes/allNodes.ts"
import { elapsed, nodeCount } from "../output/format.ts"
import { printNote } from "../output/Output.ts"

/** The observed nodes, and the suspects that may still exist. */
export interface Observed {
  readonly world: World
  readonly conflicts: ReadonlyArray<Conflict>
  /** Nodes of the ledger that neither the list nor a read shows. */
  readonly suspects: ReadonlyArray<Suspect>
}

/** A node in the ledger, and whether its deletion was requested. */
interface Held {
  readonly member: string
  readonly owned: Owned
  readonly isAsked: boolean
}

const heldBy = (ledger: Ledger): ReadonlyArray<Held> =>
  entriesOf(ledger).flatMap(({ member, node, previous, previousAsked, state }) => [
    ...(node === undefined ? [] : [{ member, owned: node, isAsked: state === "deleting" }]),
    ...(previous === undefined ? [] : [{ member, owned: previous, isAsked: previousAsked === true }])
  ])

/** The whole list. An incomplete list proves nothing about the nodes that are missing from it. */
const listed = Effect.gen(function* () {
  const list = yield* wholeList
  if (!list.isWhole) return yield* new ListNotWhole({ all: true })
  const nodes = new Map<number, Node>(list.nodes.map((node) => [node.id, node]))
  const unreadable = new Set(list.unreadable.map(({ id }) => id))
  // A record with an unreadable id could belong to any node.
  const isComplete = !unreadable.has(null)
  return {
    nodes,
    ids: new Set<number>([...nodes.keys(), ...Array.from(unreadable).filter((id) => id !== null)]),
    isComplete
  }
})

const read = Effect.fnUntraced(function* (id: number) {
  const nodes = yield* Nodes
  return yield* Effect.result(nodes.get(id as NodeId, { lane }))
})

const isMissing = ({ reason }: BerthError): boolean => reason._tag === "NodeNotFound"

const stranger = ({ member, owned }: Held, node: Node): Conflict => ({
  kind: "conflict",
  message:
    node.name === owned.name
      ? `Node ${owned.id} (${member}) was created at ${node.createdAt && DateTime.formatIso(node.createdAt)}, and the ledger has ${owned.createdAt}: it may be another node, so nothing is done.`
      : `Node ${owned.id} is named ${node.name}, and the ledger has it as ${owned.name} (${member}): it may be another node, so nothing is done.`,
  hint: `If node ${owned.id} is no longer the member: berth fleet forget ${member}; if it still is, run that and then: berth fleet adopt ${owned.id} --as ${member}`
})

/** Fills in plan and image from the ledger, because a reply to a get may lack both, and the list lacks the image. */
const whole = (node: Node, { image, plan }: Owned): Node =>
  withListed(node, { plan, image, memoryMib: null, region: null })

/** Maximum number of missing nodes that a preview reads one by one. */
const maxPreviewed = 20

/**
 * The committed periods that were bought together with a node and still run. The machine that adopted the node has recorded them in the
 * ledger.
 */
const runningPeriods = (held: ReadonlyArray<Held>, nowMillis: number) =>
  held.flatMap(({ owned: { id, period } }) => {
    if (period === undefined || !(Date.parse(period.until) > nowMillis)) return []
    const { days, until } = period
    const loss = `its committed period of ${days} days runs until ${until.slice(0, 10)}, and the rest of it is lost`
    return [{ id, days, loss }]
  })

/** Observes the account; `elsewhere` are the nodes of other fleets on this machine. */
export const observe = Effect.fnUntraced(function* (ledger: Ledger, elsewhere: World["elsewhere"]) {
  const list = yield* listed
  const nodes = new Map(list.nodes)
  const conflicts: Array<Conflict> = []
  const gone = new Set<number>()
  const suspects: Array<Suspect> = []
  const held = heldBy(ledger)
  // A list that still shows a node whose deletion was requested may be stale.
  const doubtful = held.filter(({ isAsked, owned }) => {
    const node = nodes.get(owned.id)
    return node === undefined || !isOwned(owned, node) || (isAsked && node.status !== "terminate")
  })
  const toRead = doubtful.filter(({ owned }) => nodes.has(owned.id) || list.ids.has(owned.id))
  const missing = doubtful.filter((each) => !toRead.includes(each))
  // If many nodes are missing, read only some of them here. Others are read when their absence must be proved.
  const reads = new Map(
    yield* Effect.forEach(
      [...toRead, ...missing.slice(0, maxPreviewed)],
      ({ owned }) => Effect.map(read(owned.id), (result) => [owned.id, result] as const),
      { concurrency }
    )
  )
  // The list does not state the image.
  for (const { owned } of held) {
    const node = nodes.get(owned.id)
    if (node !== undefined && isOwned(owned, node)) nodes.set(owned.id, whole(node, owned))
  }
  for (const each of doubtful) {
    const { isAsked, owned } = each
    const result = reads.get(owned.id)
    if (result !== undefined && Result.isSuccess(result)) {
      const node = whole(result.success, owned)
      if (isOwned(owned, node)) nodes.set(owned.id, node)
      else conflicts.push(stranger(each, node))
      continue
    }
    if (result !== undefined && !isMissing(result.failure)) return yield* result.failure
    nodes.delete(owned.id)
    if (list.ids.has(owned.id) && !isAsked) continue
    // The deletion was requested, the node is missing from the list, and a read answered 404.
    if (isAsked && result !== undefined && !list.ids.has(owned.id)) gone.add(owned.id)
    // If the deletion was requested, a list that still shows the node may be stale.
    else suspects.push({ id: owned.id, expectation: !isAsked ? "stays" : list.ids.has(owned.id) ? "goes" : "asked" })
  }
  const lossWith = yield* lossesOf
  const ownLosses = Array.from(nodes.keys()).flatMap((id) => {
    const loss = lossWith(id)
    return loss === undefined ? [] : [[id, loss] as const]
  })
  const periods = runningPeriods(held, yield* Clock.currentTimeMillis)
  // The records of this machine override the ledger.
  const losses = new Map([...periods.map(({ id, loss }) => [id, loss] as const), ...ownLosses])
  const bought = new Map<number, Pick<Bought, "days" | "setting">>([
    ...periods.map(({ days, id }) => [id, { setting: null, days }] as const),
    ...(yield* boughtByNode)
  ])
  const opens = yield* commitmentLog.opens
  const ending = yield* endingNodes
  return { world: { nodes, gone, elsewhere, losses, bought, opens, ending }, conflicts, suspects } satisfies Observed
})

/** Treats all suspects as gone, which is enough for a plan that is only shown. */
export const presumed = ({ conflicts, suspects, world }: Observed): Observed => ({
  world: { ...world, gone: new Set([...world.gone, ...suspects.map(({ id }) => id)]) },
  conflicts,
  suspects
})

/** Counts a suspect as gone if an earlier observation proved that it is gone. */
export const knownGone = ({ conflicts, suspects, world }: Observed, gone: ReadonlySet<number>): Observed => ({
  world: { ...world, gone: new Set([...world.gone, ...suspects.flatMap(({ id }) => (gone.has(id) ? [id] : []))]) },
  conflicts,
  suspects: suspects.filter(({ id }) => !gone.has(id))
})

/** Proves which suspects are gone. All others are left alone. */
export const proved = Effect.fnUntraced(function* (
  observed: Observed,
  ledger: Ledger,
  graceMillis: number | undefined
) {
  const { suspects, world } = observed
  if (suspects.length === 0) return observed
  const staying = heldBy(ledger).filter(({ isAsked }) => !isAsked).length
  let missing = suspected(suspects, staying, yield* monotonicMillis, rulesWith(graceMillis))
  const owned = new Map(heldBy(ledger).map((each) => [each.owned.id, each.owned]))
  const nodes = new Map(world.nodes)
  let isSaid = false
  for (let step = nextStep(missing); ; step = nextStep(missing)) {
    if (step._tag === "Concluded")
      return {
        ...observed,
        world: { ...world, nodes, gone: new Set([...world.gone, ...step.gone]) }
      } satisfies Observed
    const waitMillis = step.notBeforeMillis - (yield* monotonicMillis)
    if (waitMillis > 0) {
      if (!isSaid) {
        const { graceMillis, holdMillis } = missing.rules
        const [why, millis] = missing.isFrozen
          ? [", so many that the service may be at fault", holdMillis + graceMillis]
          : ["", waitMillis]
        yield* printNote(
          `${nodeCount(suspects.length)} of the ledger cannot be found${why}: asking again for ${elapsed(millis)} before they count as gone.`
        )
      }
      isSaid = true
      yield* Effect.sleep(waitMillis)
    }
    if (step._tag === "List") {
      const { ids, isComplete } = yield* listed
      missing = take(missing, { _tag: "Listed", ids, isComplete, endedMillis: yield* monotonicMillis })
      continue
    }
    const answers = yield* Effect.forEach(
      step.ids,
      (id) =>
        Effect.gen(function* () {
          const askedMillis = yield* monotonicMillis
          const result = yield* read(id)
          return { id, result, askedMillis, answeredMillis: yield* monotonicMillis }
        }),
      { concurrency }
    )
    for (const { answeredMillis, askedMillis, id, result } of answers) {
      if (Result.isSuccess(result)) {
        const known = owned.get(id)
        if (known !== undefined && isOwned(known, whole(result.success, known)))
          nodes.set(id, whole(result.success, known))
        missing = take(missing, { _tag: "Seen", id })
      } else {
        missing = take(
          missing,
          isMissing(result.failure) ? { _tag: "Denied", id, askedMillis, answeredMillis } : { _tag: "Unread", id }
        )
      }
    }
  }
})

/** Members that another program is deleting. */
export const terminatingIn = (ledger: Ledger, { nodes }: World): ReadonlyArray<NodeId> =>
  heldBy(ledger).flatMap(({ isAsked, owned }) => {
    const node = nodes.get(owned.id)
    return !isAsked && node?.status === "terminate" ? [node.id] : []
  })

/** Waits until these nodes are gone. A node that stays too long is left alone. */
export const awaitGone = (ids: ReadonlyArray<NodeId>, timeout: Duration.Duration | undefined) =>
  Effect.gen(function* () {
    yield* printNote(
      `${nodeCount(ids.length)} of the fleet ${ids.length === 1 ? "is" : "are"} being deleted: waiting until ${ids.length === 1 ? "it is" : "they are"} gone.`
    )
    const nodes = yield* Nodes
    yield* Effect.ignore(nodes.awaitDeleted(ids, timeout === undefined ? {} : { timeout }))
  })
