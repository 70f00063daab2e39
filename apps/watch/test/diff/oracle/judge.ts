/** Compares the published events about a history with the truth. Every complaint is a sentence; a good history has none. */
import type { NodeStatus } from "@berthkit/core/domain/NodeStatus"
import { DateTime } from "effect"
import type { NodeFact } from "../../../src/diff/Fact.ts"
import { canFollow } from "../../../src/diff/Transition.ts"
import type { Snapshot } from "../../../src/diff/Snapshot.ts"
import { toEvent } from "../../../src/events/Event.ts"
import type { FaultKind } from "./Service.ts"
import type { Published, Watched } from "./watching.ts"
import { type Life, statusesBetween, statusOf } from "./World.ts"

type AboutNode = Published & { readonly fact: NodeFact }

const isAboutNode = (published: Published): published is AboutNode => "subject" in published.fact

const nodeOf = ({ data, type }: NodeFact) => (type === "berth.node.deleted" ? data.before : data.after)

const lifeOf = ({ world }: Watched, fact: NodeFact): Life | undefined => {
  const node = nodeOf(fact)
  const createdMillis = DateTime.toEpochMillis(node.createdAt!)
  return world.lives.find((life) => life.id === node.id && life.createdMillis === createdMillis)
}

const short = ({ atMillis, fact }: AboutNode) =>
  `${fact.type} of ${fact.subject} (incarnation ${fact.identity.incarnation}) at ${atMillis}`

/** Everything that is wrong with the published events. */
export const judge = (watched: Watched): ReadonlyArray<string> => [
  ...ids(watched),
  ...truth(watched),
  ...order(watched),
  ...marks(watched),
  ...end(watched),
  ...troubles(watched)
]

/** Checks that no id comes twice. */
const ids = ({ published }: Watched): ReadonlyArray<string> => {
  const seen = new Map<string, string>()
  return published.flatMap(({ fact }) => {
    const { id } = toEvent(fact, "acme", 1)
    const text = JSON.stringify(fact)
    const before = seen.get(id)
    seen.set(id, text)
    return before === undefined ? [] : [`id ${id} comes twice: ${before} and ${text}`]
  })
}

const isBetween = (millis: number, [from, to]: readonly [number, number]) => from <= millis && millis <= to

const honest: ReadonlyArray<FaultKind> = ["outage", "errors", "denied", "badRecords"]

const hasStableClock = ({ history }: Watched): boolean => !history.process.includes("clock")

/** Whether the service shows no old state, and the daemon's clock is never set. */
const isHonest = (watched: Watched): boolean =>
  hasStableClock(watched) && watched.history.kinds.every((kind) => honest.includes(kind))

/** Checks that every reported fact happened. */
const truth = (watched: Watched): ReadonlyArray<string> => {
  const { published } = watched
  const isStable = hasStableClock(watched)
  return published.filter(isAboutNode).flatMap((about) => {
    const { atMillis, fact } = about
    const life = lifeOf(watched, fact)
    if (life === undefined) return [`${short(about)}: no such node ever existed`]
    const [from, to] = fact.data.observedBetween.map(DateTime.toEpochMillis) as [number, number]
    switch (fact.type) {
      case "berth.node.deleted":
        if (life.goneMillis > atMillis) return [`${short(about)}: it exists`]
        if (isStable && life.goneMillis > to) return [`${short(about)}: gone only after ${to}`]
        if (isHonest(watched) && life.goneMillis < from) return [`${short(about)}: gone before ${from}`]
        return []
      case "berth.node.created":
        if (life.createdMillis < about.sweptMillis - 3000) return [`${short(about)}: it was there long before`]
        return isStable && !isBetween(life.createdMillis, [from, to])
          ? [`${short(about)}: created at ${life.createdMillis}, not between ${from} and ${to}`]
          : []
      case "berth.node.discovered":
        return fact.identity.life === 1 && life.createdMillis > Math.max(about.sweptMillis, from) + 1000 && isStable
          ? [`${short(about)}: it was created just before`]
          : []
      case "berth.node.status_changed": {
        const { from: before, to: after } = fact.data
        if (!canFollow(before, after)) return [`${short(about)}: ${String(before)} to ${String(after)} is impossible`]
        if (!isHonest(watched)) return []
        const statuses: ReadonlyArray<NodeStatus> = statusesBetween(life, from, to)
        return statuses.includes(before) && statuses.includes(after)
          ? []
          : [`${short(about)}: was ${statuses.join(", ")} between ${from} and ${to}`]
      }
      default:
        return []
    }
  })
}

/** Checks that each fact about a node continues the one before it. */
const order = (watched: Watched): ReadonlyArray<string> => {
  const complaints: Array<string> = []
  const baselineAt = watched.published.findIndex(({ fact }) => fact.type === "berth.watch.baseline")
  const baselines = watched.published.filter(({ fact }) => fact.type === "berth.watch.baseline")
  if (baselines.length !== 1) complaints.push(`${baselines.length} baselines`)
  const perNode = Map.groupBy(watched.published.filter(isAboutNode), ({ fact }) => fact.subject)
  if (watched.published.findIndex(isAboutNode) !== -1 && watched.published.findIndex(isAboutNode) < baselineAt) {
    complaints.push("a node before the baseline")
  }
  for (const facts of perNode.values()) {
    let incarnation = -1
    let status: unknown = null
    let isThere = false
    let isFirst = true
    for (const about of facts) {
      const { data, identity, type } = about.fact
      if (identity.incarnation! < incarnation) complaints.push(`${short(about)}: an older one after a newer one`)
      incarnation = identity.incarnation!
      if (type === "berth.node.created" || type === "berth.node.discovered") {
        if (isThere) complaints.push(`${short(about)}: it was there already`)
        if (type === "berth.node.discovered" && identity.life !== 1)
          complaints.push(`${short(about)}: it never returned`)
        isThere = true
        status = data.after.status
      } else {
        // No fact reports a node of the baseline.
        if (!isThere && !isFirst) complaints.push(`${short(about)}: it was not there`)
        isThere = type !== "berth.node.deleted"
        if (type === "berth.node.status_changed") {
          if (status !== null && data.from !== status) complaints.push(`${short(about)}: not from ${String(status)}`)
          status = data.to
        }
        if (type === "berth.node.deleted" && status !== null && data.before.status !== status) {
          complaints.push(`${short(about)}: was ${String(status)}`)
        }
        if (type === "berth.node.deleted") status = null
      }
      isFirst = false
    }
  }
  return complaints
}

/**
 * Checks that a fact is marked if it may be about the last gap: a change may be if it was possible before the end of the gap; a trouble, if
 * it was noticed before a sweep that began after the gap was complete.
 */
const marks = (watched: Watched): ReadonlyArray<string> =>
  watched.published.flatMap((about, index) => {
    const gap = watched.gaps.findLast(({ published }) => published <= index)
    const { atMillis, fact } = about
    const isMarked = "afterGap" in fact.data
    if (gap === undefined) return isMarked ? [`${fact.type} at ${atMillis}: marked without a gap`] : []
    const isExpected = isAboutNode(about)
      ? DateTime.toEpochMillis(about.fact.data.observedBetween[0]) < gap.atMillis
      : about.sweptMillis < gap.endMillis
    const complaints =
      isMarked === isExpected ? [] : [`${fact.type} at ${atMillis}: ${isMarked ? "marked" : "not marked"}`]
    const happenedMillis = isAboutNode(about) && isHonest(watched) ? happened(watched, about.fact) : null
    if (happenedMillis !== null && happenedMillis < gap.endMillis && !isMarked)
      complaints.push(
        `${fact.type} at ${atMillis}: not marked, and it happened at ${happenedMillis}, before the gap ended`
      )
    return complaints
  })

/** When the reported node was created or ended; null for other facts. */
const happened = (watched: Watched, fact: NodeFact): number | null => {
  const life = lifeOf(watched, fact)
  if (life === undefined) return null
  if (fact.type === "berth.node.deleted") return life.goneMillis
  return fact.type === "berth.node.created" ? life.createdMillis : null
}

const isKnown = ({ nodes }: Snapshot, id: number, createdMillis: number): boolean =>
  [...nodes.values()].some(
    ({ state: { node } }) => Number(node.id) === id && DateTime.toEpochMillis(node.createdAt!) === createdMillis
  )

/** Checks that the daemon knows the whole truth in the end. */
const end = ({ published, snapshot, world }: Watched): ReadonlyArray<string> => {
  const complaints: Array<string> = []
  const alive = world.alive
  // Unless one known node is left, the account behind another key cannot be recognized.
  if (
    snapshot.standing.stranger !== null &&
    alive.every(({ createdMillis, id }) => !isKnown(snapshot, id, createdMillis))
  ) {
    return []
  }
  for (const life of alive) {
    const known = [...snapshot.nodes.values()].find(({ state: { node } }) => Number(node.id) === life.id)?.state
    if (known === undefined) complaints.push(`node ${life.id} is not known in the end`)
    else if (known.node.status !== statusOf(life) || known.node.name !== life.name) {
      complaints.push(`node ${life.id} is ${statusOf(life)}, believed to be ${String(known.node.status)}`)
    }
  }
  for (const {
    state: { node }
  } of snapshot.nodes.values()) {
    if (world.find(node.id) === undefined) complaints.push(`node ${node.id} is gone, and is still believed to be there`)
  }
  const { freeze, outage, stranger } = snapshot.standing
  if (freeze !== null || outage !== null || stranger !== null) complaints.push("a trouble does not end")
  if (published.length === 0) complaints.push("nothing was published")
  return complaints
}

/** Checks that troubles begin and end in turn, and that an outage is one trouble. */
const troubles = ({ history, published, service }: Watched): ReadonlyArray<string> => {
  const complaints: Array<string> = []
  const open = new Set<string>()
  let outages = 0
  for (const { fact } of published) {
    if (fact.type !== "berth.watch.degraded" && fact.type !== "berth.watch.recovered") continue
    const kind = fact.data.trouble === "list-empty" ? "nodes-vanished" : fact.data.trouble
    if (open.has(kind) === (fact.type === "berth.watch.degraded")) complaints.push(`${fact.type} of ${kind} twice`)
    if (fact.type === "berth.watch.degraded") open.add(kind)
    else open.delete(kind)
    if (fact.type === "berth.watch.degraded" && kind === "sweep-failed") outages++
  }
  const isOnlyOutages = !history.kinds.includes("errors") && !history.kinds.includes("badRecords")
  if (isOnlyOutages && outages > service.outages.length) {
    complaints.push(`${outages} reports of ${service.outages.length} outages`)
  }
  return complaints
}
