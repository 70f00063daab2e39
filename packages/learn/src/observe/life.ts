/**
 * The life of nodes that were created and deleted within the evidence (assumptions A11 to A14, A16 in docs/interface/assumptions.md):
 * transitions and their durations, the replies to creates and deletes, and the reads after them.
 */
import { status as readStatus } from "@berthkit/core/api/fields/Status"
import type { Behaviour } from "@berthkit/profile/Profile"
import { isObject, type JsonObject } from "@berthkit/profile/values"
import { isKnown, isUnstated } from "@berthkit/core/domain/NodeStatus"
import { claim, each, type Evidenced, first, is, observation, type Observation, once } from "./Claim.ts"
import { endOf, type Exchange, hasAllHeaders, idOf, isRefusal, isSuccess, json, listIn, recordsIn } from "./Exchange.ts"

/** One read of a node: its record, or its absence. */
interface Sight {
  readonly exchange: Exchange
  readonly by: "create" | "get" | "list"
  readonly status: string | undefined
  readonly isThere: boolean
}

interface Life {
  readonly id: number
  /**
   * In the order of the requests. If two requests overlap, nobody knows which reply is newer, so only the first one counts.
   */
  readonly sights: ReadonlyArray<Sight>
  readonly created: Exchange | undefined
  readonly deleted: Exchange | undefined
}

const wordOf = (record: JsonObject): string | undefined =>
  typeof record["status"] === "string" ? record["status"] : undefined

const isRunning = (word: string | undefined): boolean => word !== undefined && readStatus(word) === "running"

/** Identifies a node. The account is part of the key because two accounts may have nodes with the same id. */
const keyOf = ({ account }: Exchange, id: number): string => `${account} ${id}`

/** The lives of nodes whose create or delete is in the evidence. */
const lives = once((evidence): ReadonlyArray<Life> => {
  const found = new Map<string, { id: number; created?: Exchange; deleted?: Exchange; sights: Array<Sight> }>()
  const lifeOf = (exchange: Exchange, id: number) => {
    const key = keyOf(exchange, id)
    const life = found.get(key) ?? { id, sights: [] }
    found.set(key, life)
    return life
  }
  for (const exchange of evidence) {
    if (!isSuccess(exchange)) continue
    const id = exchange.operation === "nodes.create" ? recordsIn(exchange).map(idOf)[0] : undefined
    if (id !== undefined && !Number.isNaN(id)) lifeOf(exchange, id).created ??= exchange
    if (exchange.operation === "nodes.delete" && exchange.nodeId !== undefined)
      lifeOf(exchange, exchange.nodeId).deleted ??= exchange
  }
  if (found.size === 0) return []
  for (const exchange of evidence) {
    for (const [id, sight] of sightsIn(exchange)) {
      const sights = found.get(keyOf(exchange, id))?.sights
      const last = sights?.at(-1)
      if (last === undefined || exchange.at >= endOf(last.exchange)) sights?.push(sight)
    }
  }
  return Array.from(found.values(), (life) => ({ created: undefined, deleted: undefined, ...life }))
})

/** What a reply shows about nodes. A reply without a date shows nothing, because it may come from a cache. */
const sightsIn = (exchange: Exchange): ReadonlyArray<readonly [id: number, sight: Sight]> => {
  const { nodeId, operation } = exchange
  if (!hasAllHeaders(exchange)) return []
  const seen = (record: JsonObject, by: Sight["by"]) =>
    [idOf(record), { exchange, by, isThere: true, status: wordOf(record) }] as const
  if (operation === "nodes.get" && nodeId !== undefined) {
    const [record] = recordsIn(exchange)
    if (record !== undefined) return [[nodeId, seen(record, "get")[1]]]
    return isRefusal(exchange) ? [[nodeId, { exchange, by: "get", isThere: false, status: undefined }]] : []
  }
  if (operation === "nodes.create")
    return recordsIn(exchange)
      .slice(0, 1)
      .map((record) => seen(record, "create"))
  if (operation !== "nodes.list") return []
  return (listIn(exchange) ?? []).filter(isObject).map((record) => seen(record, "list"))
}

/** Minimum and maximum duration in milliseconds. They differ because a change is noticed only at the next read. */
interface Range {
  readonly min: number
  readonly max: number
}

/** Durations, each with the exchange in which it ended. */
export type Durations = ReadonlyArray<Observation<Range>>

/** How long a change took: at least until the last read that did not show its effect, and at most until the first read that did. */
const lasted = (change: Exchange, before: Exchange | undefined, after: Exchange, what: string): Observation<Range> => {
  const min = Math.max(0, (before?.at ?? 0) - endOf(change))
  const max = Math.max(min, endOf(after) - change.at)
  const [least, most] = [min, max].map((millis) => (millis / 1000).toFixed(1))
  return observation(after, { min, max }, `${what} after ${least === most ? most : `${least} to ${most}`} s`)
}

export const provisioning = (evidence: Evidenced): Durations =>
  lives(evidence).flatMap(({ created, sights }) => {
    const at = sights.findIndex(({ by, status }) => by !== "create" && isRunning(status))
    if (created === undefined || at < 0) return []
    return [lasted(created, sights[at - 1]?.exchange, sights[at]!.exchange, "running")]
  })

export const termination = (evidence: Evidenced): Durations =>
  lives(evidence).flatMap(({ deleted, sights }) => {
    if (deleted === undefined) return []
    const gets = sights.filter(({ by }) => by === "get")
    const at = gets.findIndex(({ exchange, isThere }) => !isThere && exchange.at >= endOf(deleted))
    return at < 0 ? [] : [lasted(deleted, gets[at - 1]?.exchange, gets[at]!.exchange, "gone")]
  })

/**
 * How long the list still showed nodes that could no longer be read by their ids; 0 if the list no longer showed them
 * either.
 */
export const ghosts = (evidence: Evidenced): ReadonlyArray<Observation<number>> =>
  lives(evidence).flatMap(({ deleted, id, sights }) => {
    const gone = sights.find(({ by, isThere }) => by === "get" && !isThere)?.exchange
    if (deleted === undefined || gone === undefined) return []
    const listed = sights.findLast(({ by, exchange }) => by === "list" && exchange.at >= endOf(gone))?.exchange
    if (listed !== undefined) {
      const millis = listed.at - gone.at
      const says = `node ${id} was still listed ${(millis / 1000).toFixed(1)} s after a read of it failed`
      return [observation(listed, Math.max(1, millis), says)]
    }
    const list = evidence.find(
      (exchange) =>
        exchange.operation === "nodes.list" &&
        exchange.account === gone.account &&
        exchange.at >= endOf(gone) &&
        listIn(exchange) !== undefined
    )
    return list === undefined ? [] : [observation(list, 0, "a deleted node is not listed")]
  })

/** Status words that Berth does not know, and how often reads show each. */
const unknownWords = once((evidence): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const exchange of evidence) {
    if (exchange.operation !== "nodes.list" && exchange.operation !== "nodes.get") continue
    for (const word of recordsIn(exchange).map(wordOf)) {
      if (word !== undefined && isUnknown(word)) counts.set(word, (counts.get(word) ?? 0) + 1)
    }
  }
  return counts
})

const isUnknown = (word: string): boolean => {
  const status = readStatus(word)
  return !isKnown(status) && !isUnstated(status)
}

/** Maximum number of words that are kept. */
const maxWords = 50

/** The words that Berth does not know. */
export const otherStatuses = (evidence: Evidenced): ReadonlyArray<string> | undefined => {
  const words = Array.from(unknownWords(evidence).keys()).toSorted().slice(0, maxWords)
  return words.length === 0 ? undefined : words
}

/** The service's word for each of our statuses. */
export const statuses = (evidence: Evidenced): Behaviour["statuses"] => {
  const words: { -readonly [K in keyof Behaviour["statuses"]]: string } = {}
  const add = (more: Behaviour["statuses"]) => {
    for (const [name, word] of Object.entries(more)) words[name as keyof typeof words] ??= word
  }
  for (const exchange of evidence) {
    if (!exchange.operation?.startsWith("nodes.")) continue
    for (const word of recordsIn(exchange).map(wordOf)) {
      if (word === undefined) continue
      const known = readStatus(word)
      if (exchange.operation === "nodes.create") add({ create: word })
      else if (known === "creating") add({ created: word })
      else if (isKnown(known)) add({ [known]: word })
    }
  }
  for (const life of lives(evidence)) add(wordsOf(life))
  // Most nodes run, so the most frequent word means running.
  const taken = Object.values(words)
  const [most] = Array.from(unknownWords(evidence))
    .filter(([word]) => !taken.includes(word))
    .toSorted(([, a], [, b]) => b - a)
  if (most !== undefined) add({ running: most[0] })
  return words
}

/**
 * The service's words for `created`, `running` and `terminate`, as the reads of one node show them. The first word is
 * `created`, the last word before the delete is `running` (unless Berth knows another word for it), and the first new word
 * after the delete is `terminate`.
 */
const wordsOf = ({ deleted, sights }: Life) => {
  const told = sights.flatMap(({ by, exchange, status }) =>
    by === "create" || status === undefined
      ? []
      : [{ status, isLate: deleted !== undefined && exchange.at >= endOf(deleted) }]
  )
  const early = told.filter(({ isLate }) => !isLate).map(({ status }) => status)
  const [first, last] = [early[0], early.at(-1)]
  const isLast = last !== undefined && isUnknown(last) && (deleted !== undefined || first !== last)
  const running = early.find(isRunning) ?? (isLast ? last : undefined)
  const created = running === undefined || first === running ? undefined : first
  const terminate = told.find(({ isLate, status }) => isLate && !early.includes(status))?.status
  return {
    ...(created === undefined ? {} : { created }),
    ...(running === undefined ? {} : { running }),
    ...(terminate === undefined ? {} : { terminate })
  }
}

const order = ["creating", "created", "running", "terminate"]

/**
 * Whether the statuses come in the assumed order, in any spelling. `power-off` may come anywhere, because somebody may
 * switch off a node at any time.
 */
const isDocumentedLife = (words: ReadonlyArray<string>): boolean => {
  let at = -1
  return words.every((word) => {
    const status = readStatus(word)
    if (status === "power-off") return true
    const next = order.indexOf(String(status))
    const isNext = next > at || (next === at && status === "running")
    at = next
    return isNext
  })
}

const requestsOf = (operation: Exchange["operation"]) =>
  once((evidence) => evidence.filter((exchange) => exchange.operation === operation))

const creates = requestsOf("nodes.create")
const deletes = requestsOf("nodes.delete")
const commitments = requestsOf("commitments.set")

/** Exchanges that show ids of nodes. */
const withIds = once((evidence) =>
  evidence.filter(({ operation = "" }) => ["nodes.create", "nodes.list", "nodes.get"].includes(operation))
)

/** The reads by id that show that a deleted node is gone. */
const gone = once((evidence) =>
  lives(evidence).flatMap(({ deleted, sights }) =>
    sights
      .filter(
        ({ by, exchange, isThere }) =>
          by === "get" && !isThere && deleted !== undefined && exchange.at >= endOf(deleted)
      )
      .map(({ exchange }) => exchange)
  )
)

/** The second delete of each node, if it was sent while the node terminated and could still be read. */
const secondDeletes = once((evidence) =>
  lives(evidence).flatMap(({ deleted, id, sights }) => {
    if (deleted === undefined) return []
    const again = deletes(evidence).find(
      (exchange) =>
        exchange.nodeId === id &&
        exchange.account === deleted.account &&
        exchange.at >= endOf(deleted) &&
        (isSuccess(exchange) || isRefusal(exchange))
    )
    if (again === undefined) return []
    const isThere = sights.some((sight) => sight.by === "get" && sight.isThere && sight.exchange.at >= endOf(again))
    return isThere ? [again] : []
  })
)

const nameIn = ({ request }: Exchange): string | undefined =>
  isObject(request) && typeof request["name"] === "string" ? request["name"] : undefined

const node = { needs: "a create and a delete" } as const
const unsent = { needs: "a request that the probe does not send" } as const

export const life = {
  transitions: claim("A11", "A node goes Create → created → running → terminate", {
    ...node,
    refutedBy: "A node with other statuses, or with these in another order",
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
  goneStatus: claim("A11", "A deleted node is 404", {
    ...node,
    refutedBy: "A get of a deleted node, which returns another status",
    see: first(gone, ({ status }) => [status, `a deleted node is ${status}`]),
    holds: is(404)
  }),
  ghost: claim("A11", "A node that cannot be read is not listed", {
    ...node,
    refutedBy: "A list with a node after a get of that node returned 404",
    see: ghosts,
    holds: is(0)
  }),
  idsGrow: claim("A11", "Ids grow", {
    ...node,
    refutedBy: "A new node with a lower id than an older one",
    see: function* (evidence) {
      // The nodes that existed when a create was sent. Only replies that had arrived by then count, because later replies
      // may show nodes that were made after it.
      const known = new Map<number, Array<{ readonly end: number; readonly id: number }>>()
      for (const exchange of withIds(evidence)) {
        const before = known.get(exchange.account) ?? []
        known.set(exchange.account, before)
        const ids = recordsIn(exchange)
          .map(idOf)
          .filter((id) => !Number.isNaN(id))
        const [id] = ids
        if (exchange.operation === "nodes.create" && id !== undefined) {
          const highest = before.reduce(
            (most, each) => (each.end <= exchange.at ? Math.max(most, each.id) : most),
            Number.NEGATIVE_INFINITY
          )
          if (Number.isFinite(highest) && highest !== id)
            yield observation(exchange, id > highest, `the new node has id ${id}; the highest before was ${highest}`)
        }
        if (ids.length > 0) before.push({ end: endOf(exchange), id: ids.reduce((a, b) => Math.max(a, b)) })
      }
    }
  }),
  secondDelete: claim("A11", "A second delete is 204 again", {
    ...node,
    refutedBy: "A delete that the service refuses because the node is already terminating",
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
      if (exchange.headers["location"] === undefined && !hasAllHeaders(exchange)) return undefined
      const says = `${exchange.status} ${exchange.headers["location"] === undefined ? "without" : "with"} Location`
      return [says, `a create is ${says}`]
    }),
    holds: is("202 with Location")
  }),
  namesRepeat: claim("A14", "Names may repeat", {
    ...unsent,
    refutedBy: "A create that the service refuses because the name is taken",
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
  commitmentReply: claim("A16", "A commitment request returns vcn_id, node_status and committed_plan", {
    ...unsent,
    refutedBy: "A success of this request with other data",
    see: first(commitments, (exchange) => {
      const data = isSuccess(exchange) ? json(exchange)?.["data"] : undefined
      if (!isObject(data)) return undefined
      return [Object.keys(data), `the data has ${Object.keys(data).join(", ") || "no fields"}`]
    }),
    holds: (names: ReadonlyArray<string>) => names.toSorted().join() === "committed_plan,node_status,vcn_id"
  })
}
