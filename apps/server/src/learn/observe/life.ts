/**
 * The life of nodes that were created and deleted within the evidence (A11 to A14, A16): transitions with their durations, what
 * creates and deletes answer, what comes after them.
 */
import { status as readStatus } from "@berthkit/core/api/fields/Status"
import type { Behaviour } from "../../profile/Profile.ts"
import { isObject, type JsonObject } from "../../profile/values.ts"
import { claim, each, type Evidenced, first, is, observation, type Observation, once } from "./Claim.ts"
import { type Exchange, idOf, isRefusal, isSuccess, json, listIn, recordsIn } from "./Exchange.ts"

/** A look at one node: its record, or that it was not there. */
interface Sight {
  readonly exchange: Exchange
  readonly at: number
  readonly by: "create" | "get" | "list"
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
const lives = once((evidence): ReadonlyArray<Life> => {
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
})

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

const order = ["creating", "created", "running", "terminate"]

/** Whether the statuses come in the order that is assumed, each once, in whatever spelling. */
const isDocumentedLife = (words: ReadonlyArray<string>): boolean => {
  let at = -1
  return words.every((word) => {
    const next = order.indexOf(String(readStatus(word)))
    const isNext = next > at
    at = next
    return isNext
  })
}

const requestsOf = (operation: Exchange["operation"]) =>
  once((evidence) => evidence.filter((exchange) => exchange.operation === operation))

const creates = requestsOf("nodes.create")
const deletes = requestsOf("nodes.delete")
const commitments = requestsOf("commitments.set")

/** Those that show ids of nodes. */
const withIds = once((evidence) =>
  evidence.filter(({ operation = "" }) => ["nodes.create", "nodes.list", "nodes.get"].includes(operation))
)

/** The gets of nodes that were deleted and are gone. */
const gone = once((evidence) =>
  lives(evidence).flatMap(({ deleted, sights }) =>
    sights
      .filter(({ at, by, isThere }) => by === "get" && !isThere && deleted !== undefined && at > deleted.at)
      .map(({ exchange }) => exchange)
  )
)

/** Of each node the second delete, while it can be read: it is being terminated then. */
const secondDeletes = once((evidence) =>
  lives(evidence).flatMap(({ deleted, id, sights }) => {
    const again = deletes(evidence).find((exchange) => exchange.nodeId === id && exchange !== deleted)
    if (again === undefined) return []
    return sights.some(({ at, by, isThere }) => by === "get" && at > again.at && isThere) ? [again] : []
  })
)

const nameIn = ({ request }: Exchange): string | undefined =>
  isObject(request) && typeof request["name"] === "string" ? request["name"] : undefined

const node = { needs: "a create and a delete" } as const
const unsent = { needs: "a request that the probe does not send" } as const

export const life = {
  transitions: claim("A11", "A node goes Create → created → running → terminate", {
    ...node,
    refutedBy: "A node that shows other statuses, or these in another order",
    see: (evidence) =>
      lives(evidence).flatMap(({ created, sights }) => {
        const words = sights.flatMap(({ status }) => (status === undefined ? [] : [status]))
        const changes = words.filter((word, at) => word !== words[at - 1])
        return created === undefined || sights.length < 3
          ? []
          : [observation(sights.at(-1)!.exchange, changes, changes.join(" → "))]
      }),
    holds: isDocumentedLife
  }),
  goneStatus: claim("A11", "A node that is gone is 404", {
    ...node,
    refutedBy: "A get after the end of a node, with another status",
    see: first(gone, ({ status }) => [status, `a node that is gone is ${status}`]),
    holds: is(404)
  }),
  ghost: claim("A11", "A node that cannot be read is not listed", {
    ...node,
    refutedBy: "A list that has a node after a get of it was 404",
    see: ghosts,
    holds: is(0)
  }),
  idsGrow: claim("A11", "Ids grow", {
    ...node,
    refutedBy: "A new node with a lower id than one before it",
    see: function* (evidence) {
      let highest = Number.NEGATIVE_INFINITY
      for (const exchange of withIds(evidence)) {
        const ids = recordsIn(exchange)
          .map(idOf)
          .filter((id) => !Number.isNaN(id))
        const [id] = ids
        if (exchange.operation === "nodes.create" && id !== undefined && Number.isFinite(highest))
          yield observation(exchange, id > highest, `the new node has the id ${id} after ${highest}`)
        for (const each of ids) highest = Math.max(highest, each)
      }
    }
  }),
  secondDelete: claim("A11", "A second delete is 204 again", {
    ...node,
    refutedBy: "A delete of a node that is being terminated, refused",
    see: first(secondDeletes, (exchange) => [isSuccess(exchange), `a second delete is ${exchange.status}`])
  }),
  deleteReply: claim("A12", "A delete is 204 without a body", {
    ...node,
    refutedBy: "A delete with another status or a body",
    see: first(deletes, (exchange) => {
      const { body, status } = exchange
      return isSuccess(exchange)
        ? [{ status, body: status !== 204 && body.is === "json" }, `a delete is ${status}`]
        : undefined
    }),
    holds: ({ body, status }: { readonly body: boolean; readonly status: number }) => status === 204 && !body
  }),
  createReply: claim("A13", "A create is 202 with Location", {
    ...node,
    refutedBy: "A create with another status, or without the header",
    see: each(creates, (exchange) => {
      if (!isSuccess(exchange)) return undefined
      const says = `${exchange.status} ${exchange.headers["location"] === undefined ? "without" : "with"} Location`
      return [says, `a create is ${says}`]
    }),
    holds: is("202 with Location")
  }),
  namesRepeat: claim("A14", "Names may repeat", {
    ...unsent,
    refutedBy: "A create that is refused because its name is taken",
    see: function* (evidence) {
      const names = new Set<string>()
      for (const exchange of creates(evidence)) {
        const name = nameIn(exchange)
        if (name === undefined) continue
        if (isSuccess(exchange) && names.has(name))
          return yield observation(exchange, true, "a second node of the same name is created")
        if (exchange.status === 409 && /name/i.test(JSON.stringify(json(exchange) ?? {})))
          return yield observation(exchange, false, "a name that is taken is 409")
        if (isSuccess(exchange)) names.add(name)
      }
    }
  }),
  commitmentReply: claim("A16", "A commitment answers vcn_id, node_status and committed_plan", {
    ...unsent,
    refutedBy: "A success of the endpoint with other data",
    see: first(commitments, (exchange) => {
      const data = isSuccess(exchange) ? json(exchange)?.["data"] : undefined
      if (!isObject(data)) return undefined
      return [Object.keys(data), `its data has ${Object.keys(data).join(", ") || "nothing"}`]
    }),
    holds: (names: ReadonlyArray<string>) => names.toSorted().join() === "committed_plan,node_status,vcn_id"
  })
}
