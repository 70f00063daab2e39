/**
 * The daemon polls a service with its real client, in virtual time. Many nodes vanish at once and a few appear, while the service lies
 * about others. The test counts the reports of deletions, and measures how long reports of new nodes take.
 */
import * as Berth from "@berthkit/core/client/Berth"
import { Nodes } from "@berthkit/core/client/Nodes"
import { Transport } from "@berthkit/core/client/transport/Transport"
import { failure, type HttpReply, nodeRecord } from "@berthkit/core/testing"
import { Clock, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { WatchedAccount } from "../../../src/account/WatchedAccount.ts"
import { diff } from "../../../src/diff/diff.ts"
import { defaultRules, makeSnapshot, unwatched } from "../../../src/diff/Snapshot.ts"
import { makeMoments } from "../../../src/observe/Moments.ts"
import type { Budget } from "../../../src/observe/RequestShare.ts"
import { makePoller } from "../../../src/observe/Poller.ts"
import { chanceFrom } from "../../diff/Chance.ts"

/** The lasting faults of the service. */
export interface Lies {
  /** The part of all requests that fail. */
  readonly failing: number
  /** For how long lists and reads show the nodes that have vanished. */
  readonly staleMillis: number
  /** The part of the remaining nodes for which every read hangs. */
  readonly hanging: number
  /** From the loss on, each page of the list leaves out up to this many nodes, drawn anew for every page. New nodes are never left out. */
  readonly lacking: number
  /** One in this many nodes may be left out. The fewer nodes can be left out, the more lists in a row leave out the same one. */
  readonly lackingOf: number
}

export const noLies: Lies = { failing: 0, staleMillis: 0, hanging: 0, lacking: 0, lackingOf: 1 }

export interface Loss {
  /** Nodes at the beginning. */
  readonly size: number
  /** How many of them vanish at once, spread over the list. */
  readonly lost: number
  /** How long after the baseline the nodes vanish. */
  readonly atMillis: number
  /** Whether the service hides a fifth of all nodes for twelve seconds, half a minute before the loss. */
  readonly isIll: boolean
  readonly intervalMillis: number | null
  readonly budget: Budget
  readonly lies: Lies
  readonly seed: number
  readonly graceMillis: number
  readonly holdMillis: number
  /** How long the run waits for the reports. */
  readonly withinMillis: number
}

/** When new nodes appear after the loss: before its proof begins, and during it. */
const newAfterMillis = [5000, 45_000, 150_000, 400_000, 1_000_000]

/** A success with this data as JSON text. */
const okText = (data: string): HttpReply => ({
  status: 200,
  body: `{"message":"Success","code":200,"data":${data},"errors":{}}`
})

/** How often the test checks whether everything is reported. */
const lookMillis = 5000

const allowance = { "ratelimit-limit": "1000000", "ratelimit-remaining": "999999", "ratelimit-reset": "3600" }

/**
 * The real client over replies that arrive at once and whole. Reading one takes no turn of the event loop, because virtual time would not
 * wait for that. So the clock alone decides the order, even on a busy machine.
 */
const clientOf = (
  answer: (path: string, query: ReadonlyMap<string, string>, nowMillis: number) => HttpReply | "hang"
) =>
  Berth.layerOver(
    {
      baseUrl: "https://berth.test",
      credentials: { apiKey: Redacted.make("test-key"), accessToken: Redacted.make("test-token") }
    },
    Layer.succeed(Transport, {
      send: ({ query, url }, begun) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
          const texts = new Map(query.map(([name, value]) => [name, String(value)]))
          const reply = answer(new URL(url).pathname, texts, nowMillis)
          if (reply === "hang") return Effect.never
          const { body = "", headers, status } = reply
          const head = { status, headers: { ...headers, ...allowance } }
          begun(head)
          return Effect.succeed({ ...head, body, whole: true })
        })
    })
  )

/** Never warn about real time: code that virtual time wakes may take any real time. */
const clock = TestClock.layer({ warningDelay: "1 day" })

/**
 * The result: after how many milliseconds each vanished node was reported deleted, in order, without those that were not reported in time;
 * which other nodes were falsely reported; and after how many milliseconds each new node was reported.
 */
export const afterLoss = Effect.fnUntraced(function* (loss: Loss) {
  const { atMillis, budget, graceMillis, holdMillis, intervalMillis, isIll, lies, lost, size, withinMillis } = loss
  const chance = chanceFrom(loss.seed)
  const ids = Array.from({ length: size }, (_, index) => index + 1)
  const vanishing = new Set(ids.filter((id) => id % Math.floor(size / lost) === 0).slice(0, lost))
  const remaining = ids.filter((id) => !vanishing.has(id))
  const shown = ids.filter((id) => id % 5 !== 1)
  const added = newAfterMillis.map((afterMillis, index) => ({ id: size + 1 + index, afterMillis }))
  const reportedMillis = new Map<number, number>()
  const deletedMillis: Array<number> = []
  const falsely: Array<string> = []
  const records = new Map<number, string>()
  let lossMillis = Infinity
  const addedAt = (since: number) => added.filter(({ afterMillis }) => since >= afterMillis)
  const presentAt = (since: number): ReadonlyArray<number> => {
    const isHiding = isIll && since >= -30_000 && since < -18_000
    const old = since >= lies.staleMillis ? remaining : isHiding ? shown : ids
    return since < 0 ? old : [...old, ...addedAt(since).map(({ id }) => id)]
  }
  const record = (id: number): string => {
    const afterMillis = added.find((each) => each.id === id)?.afterMillis
    const created = new Date(afterMillis === undefined ? -2_678_400_000 : lossMillis + afterMillis).toISOString()
    const text = records.get(id) ?? JSON.stringify(nodeRecord({ id, name: `web-${id}`, created_at: created }))
    records.set(id, text)
    return text
  }
  const answer = (path: string, query: ReadonlyMap<string, string>, nowMillis: number) => {
    const id = Number(/\/nodes\/(\d+)\/$/.exec(path)?.[1] ?? 0)
    if (id > 0 && !vanishing.has(id) && (id * 7) % 10 < 10 * lies.hanging) return "hang"
    if (chance.happens(lies.failing)) return failure(503, "Maintenance.")
    const since = nowMillis - lossMillis
    const present = presentAt(since)
    if (id > 0) return present.includes(id) ? okText(record(id)) : failure(404, "Not found.")
    const perPage = Number(query.get("per_page"))
    const start = (Number(query.get("page_no") ?? query.get("page") ?? 1) - 1) * perPage
    const page = present.slice(start, start + perPage + lies.lacking)
    const lacking = since < 0 ? 0 : chance.below(lies.lacking + 1)
    const candidates =
      lacking === 0 ? [] : page.slice(0, perPage).filter((id) => id <= size && id % lies.lackingOf === 0)
    const lacked = new Set(Array.from({ length: lacking }, () => candidates[chance.below(candidates.length)]))
    const listed = lacked.size === 0 ? page : page.filter((id) => !lacked.has(id))
    return okText(`[${listed.slice(0, perPage).map(record)}]`)
  }
  const sinceLoss = Effect.map(Clock.currentTimeMillis, (nowMillis) => nowMillis - lossMillis)
  return yield* Effect.gen(function* () {
    const moments = yield* makeMoments
    const { apply, snapshot } = makeSnapshot(unwatched, { fingerprint: null, begun: yield* moments.now })
    const watch: WatchedAccount = {
      snapshot,
      observe: (observation, rules) =>
        Effect.map(sinceLoss, (since) => {
          const difference = diff(snapshot, observation, rules)
          apply(difference)
          for (const fact of difference.facts) {
            if (fact.type !== "berth.node.deleted") continue
            if (vanishing.has(fact.data.before.id) && since >= 0) deletedMillis.push(since)
            else falsely.push(fact.subject)
          }
          for (const { afterMillis, id } of added) {
            if (!reportedMillis.has(id) && snapshot.nodes.has(id as never)) reportedMillis.set(id, since - afterMillis)
          }
          return difference.facts
        })
    }
    const poller = yield* makePoller({
      nodes: yield* Nodes,
      moments,
      watch,
      rules: { ...defaultRules, graceMillis, holdMillis },
      intervalMillis,
      fastIntervalMillis: null,
      budget: Effect.succeed(budget),
      areCredentialsNew: false
    })
    // The clock drives the poller: time continues only once everything that the clock has woken waits again.
    yield* Effect.forkChild(Effect.delay(poller.run, 1))
    while (snapshot.standing.baselineMillis === null) yield* TestClock.adjust(lookMillis)
    lossMillis = (yield* Clock.currentTimeMillis) + atMillis
    for (;;) {
      yield* TestClock.adjust(lookMillis)
      const since = yield* sinceLoss
      const newMillis = addedAt(since).map(({ id }) => reportedMillis.get(id) ?? Infinity)
      const isDone = deletedMillis.length >= lost && newMillis.every(Number.isFinite)
      if (isDone || since >= withinMillis) return { deletedMillis, falsely, newMillis }
    }
  }).pipe(Effect.provide(Layer.provideMerge(clientOf(answer), clock)))
})
