/**
 * The life of nodes that were created and deleted within the evidence (A10 to A13): transitions with their durations, what a
 * delete answers, what comes after it.
 */
import { status as readStatus } from "@berthkit/core/api/fields/Status"
import type { Behaviour } from "../../profile/Profile.ts"
import { isObject, type JsonObject } from "../../profile/values.ts"
import { type Exchange, idOf, isRefusal, isSuccess, json, listIn, recordsIn } from "./Exchange.ts"
import { type Evidenced, first, observation, type Observation, type Observer, worst } from "./Observation.ts"

/** A look at one node: its record, or that it was not there. */
interface Sight {
  readonly exchange: Exchange
  readonly at: number
  readonly by: "create" | "get" | "list" | "delete"
  readonly status: string | undefined
  readonly isThere: boolean
}

interface Life {
  readonly id: number
  readonly sights: ReadonlyArray<Sight>
  readonly created: Exchange | undefined
  readonly deleted: Exchange | undefined
}

const wordOf = (record: JsonObject): string | undefined =>
  typeof record["status"] === "string" ? record["status"] : undefined

const isRunning = (word: string | undefined): boolean => word !== undefined && readStatus(word) === "running"

/** The lives of nodes that the evidence has a create or a delete of. */
export const lives = (evidence: Evidenced): ReadonlyArray<Life> => {
  const ids = new Map<number, { created?: Exchange; deleted?: Exchange }>()
  for (const exchange of evidence) {
    if (!isSuccess(exchange)) continue
    const id = exchange.operation === "nodes.create" ? recordsIn(exchange).map(idOf)[0] : undefined
    if (id !== undefined && !Number.isNaN(id)) ids.set(id, { ...ids.get(id), created: exchange })
    if (exchange.operation === "nodes.delete" && exchange.nodeId !== undefined) {
      const known = ids.get(exchange.nodeId)
      ids.set(exchange.nodeId, { ...known, deleted: known?.deleted ?? exchange })
    }
  }
  const sights = new Map<number, Array<Sight>>(Array.from(ids.keys(), (id) => [id, []]))
  if (ids.size > 0) for (const exchange of evidence) look(exchange, sights)
  return Array.from(ids, ([id, { created, deleted }]) => ({ id, created, deleted, sights: sights.get(id)! }))
}

const look = (exchange: Exchange, sights: ReadonlyMap<number, Array<Sight>>): void => {
  const { operation } = exchange
  const at = exchange.at + exchange.durationMillis / 2
  if (operation === "nodes.get" && exchange.nodeId !== undefined) {
    const [record] = recordsIn(exchange)
    if (record === undefined && !isRefusal(exchange)) return
    sights
      .get(exchange.nodeId)
      ?.push({ exchange, at, by: "get", isThere: record !== undefined, status: record && wordOf(record) })
  }
  if (operation === "nodes.create") {
    const [record] = recordsIn(exchange)
    if (record !== undefined)
      sights.get(idOf(record))?.push({ exchange, at, by: "create", isThere: true, status: wordOf(record) })
  }
  if (operation === "nodes.list") {
    for (const record of (listIn(exchange) ?? []).filter(isObject)) {
      sights.get(idOf(record))?.push({ exchange, at, by: "list", isThere: true, status: wordOf(record) })
    }
  }
}

/** Durations, each with the exchange in which it ended. */
export type Durations = ReadonlyArray<Observation<number>>

/** The instant between the last look that shows one thing and the first that shows the next. */
const between = (before: number, after: number): number => (before + after) / 2

export const provisioning = (evidence: Evidenced): Durations =>
  lives(evidence).flatMap(({ created, sights }) => {
    if (created === undefined) return []
    const running = sights.find(({ by, status }) => by !== "create" && isRunning(status))
    if (running === undefined) return []
    const before = sights.findLast(({ at, status }) => at <= running.at && !isRunning(status))
    const start = created.at + created.durationMillis / 2
    const millis = Math.max(0, between(before?.at ?? start, running.at) - start)
    return [observation(running.exchange, millis, `running after ${(millis / 1000).toFixed(1)} s`)]
  })

export const termination = (evidence: Evidenced): Durations =>
  lives(evidence).flatMap(({ deleted, sights }) => {
    if (deleted === undefined) return []
    const start = deleted.at + deleted.durationMillis / 2
    const gone = sights.find(({ at, by, isThere }) => by === "get" && at >= start && !isThere)
    if (gone === undefined) return []
    const before = sights.findLast(({ at, by, isThere }) => by === "get" && at < gone.at && isThere)
    const millis = Math.max(0, between(Math.max(start, before?.at ?? start), gone.at) - start)
    return [observation(gone.exchange, millis, `gone after ${(millis / 1000).toFixed(1)} s`)]
  })

/** How long the list had nodes that could not be read any more; 0 for one that it did not have any more. */
export const ghosts = (evidence: Evidenced): Durations =>
  lives(evidence).flatMap(({ deleted, id, sights }) => {
    const gone = sights.find(({ by, isThere }) => by === "get" && !isThere)
    if (deleted === undefined || gone === undefined) return []
    const listed = sights.filter(({ at, by }) => by === "list" && at > gone.at).at(-1)
    if (listed !== undefined) {
      const millis = listed.at - gone.at
      return [
        observation(
          listed.exchange,
          millis,
          `node ${id} was listed ${(millis / 1000).toFixed(1)} s after it could not be read`
        )
      ]
    }
    const list = evidence.find(
      (exchange) => exchange.operation === "nodes.list" && exchange.at > gone.at && listIn(exchange) !== undefined
    )
    return list === undefined ? [] : [observation(list, 0, "a node that is gone is not listed")]
  })

/** The words of statuses: what each of ours is called. */
export const statuses = (evidence: Evidenced): Behaviour["statuses"] => {
  const words: { -readonly [K in keyof Behaviour["statuses"]]: string } = {}
  for (const exchange of evidence) {
    if (!exchange.operation?.startsWith("nodes.")) continue
    for (const record of recordsIn(exchange)) {
      const word = wordOf(record)
      if (word === undefined) continue
      if (exchange.operation === "nodes.create") words.create ??= word
      else {
        const known = readStatus(word)
        if (known === "created" || known === "running" || known === "power-off" || known === "terminate")
          words[known] ??= word
        else if (known === "creating") words.created ??= word
      }
    }
  }
  for (const { deleted, sights } of lives(evidence)) {
    const early = sights.filter(({ at, by }) => by !== "create" && (deleted === undefined || at < deleted.at))
    const runs = early.findIndex(({ status }) => isRunning(status))
    const before = early[0]?.status
    if (runs > 0 && before !== undefined) words.created ??= before
    const late =
      deleted === undefined
        ? undefined
        : sights.find(
            ({ at, isThere, status }) => at > deleted.at && isThere && status !== undefined && !isRunning(status)
          )
    if (late?.status !== undefined) words.terminate ??= late.status
  }
  return words
}

/** The statuses of a node in their order, without repeats. */
export const transitions: Observer<ReadonlyArray<string>> = (evidence) => {
  const found = lives(evidence).flatMap(({ created, sights }) => {
    if (created === undefined) return []
    const words = sights.flatMap(({ status }) => (status === undefined ? [] : [status]))
    const order = words.filter((word, at) => word !== words[at - 1])
    return sights.length < 3
      ? []
      : [observation(sights.at(-1)!.exchange, order as ReadonlyArray<string>, order.join(" → "))]
  })
  return worst(found, isDocumentedLife)
}

const life = ["creating", "created", "running", "terminate"]

/** Whether the statuses come in the order that is assumed, each once, in whatever spelling. */
export const isDocumentedLife = (words: ReadonlyArray<string>): boolean => {
  let at = -1
  return words.every((word) => {
    const next = life.indexOf(String(readStatus(word)))
    const isNext = next > at
    at = next
    return isNext
  })
}

export const deleteReply: Observer<{ readonly status: number; readonly body: boolean }> = (evidence) =>
  first(evidence, (exchange) =>
    exchange.operation === "nodes.delete" && isSuccess(exchange)
      ? observation(
          exchange,
          {
            status: exchange.status,
            body: exchange.status !== 204 && (exchange.body.is === "json" || json(exchange) !== undefined)
          },
          `a delete is ${exchange.status}`
        )
      : undefined
  )

/** What a get answers once a node is gone. */
export const goneStatus: Observer<number> = (evidence) =>
  first(
    lives(evidence).flatMap(({ deleted, sights }) =>
      sights
        .filter(({ at, by, isThere }) => by === "get" && !isThere && deleted !== undefined && at > deleted.at)
        .map(({ exchange }) => exchange)
    ),
    (exchange) => observation(exchange, exchange.status, `a node that is gone is ${exchange.status}`)
  )

/** Whether the id of each new node is higher than every id before. */
export const idsGrow: Observer<boolean> = (evidence) => {
  let highest = Number.NEGATIVE_INFINITY
  const found: Array<Observation<boolean>> = []
  for (const exchange of evidence) {
    const isCreate = exchange.operation === "nodes.create"
    if (!isCreate && exchange.operation !== "nodes.list" && exchange.operation !== "nodes.get") continue
    const ids = recordsIn(exchange)
      .map(idOf)
      .filter((id) => !Number.isNaN(id))
    if (isCreate && ids[0] !== undefined && Number.isFinite(highest)) {
      found.push(observation(exchange, ids[0] > highest, `the new node has the id ${ids[0]} after ${highest}`))
    }
    highest = Math.max(highest, ...ids)
  }
  return worst(found, (value) => value)
}
