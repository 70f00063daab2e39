/**
 * The daemon polls a service with its real client, in virtual time. Many nodes vanish at once and a few appear, while the service lies about
 * others; the reports of their deletions are counted, and how long it takes until the new ones are reported.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import { failure, layer, nodeRecord, ok, type Request } from "@berthkit/core/testing"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { WatchedAccount } from "../../../src/account/WatchedAccount.ts"
import { diff } from "../../../src/diff/diff.ts"
import { defaultRules, makeSnapshot, unwatched } from "../../../src/diff/Snapshot.ts"
import { makeMoments } from "../../../src/observe/Moments.ts"
import { type Budget, perHourOf } from "../../../src/observe/RequestShare.ts"
import { makePoller } from "../../../src/observe/Poller.ts"
import { chanceFrom } from "../../diff/Chance.ts"

/** What the service does wrong all the time. */
export interface Lies {
  /** The part of all requests that fail. */
  readonly failing: number
  /** For how long lists and reads show the nodes that have vanished. */
  readonly staleMillis: number
  /** The part of the nodes that stay of which every read hangs. */
  readonly hanging: number
  /** From the loss on, so many nodes at most does a page of the list lack, drawn anew for every page. */
  readonly lacking: number
  /** Of so many nodes one may be lacking: the fewer there are, the more lists in a row lack the same one. */
  readonly lackingOf: number
}

export const noLies: Lies = { failing: 0, staleMillis: 0, hanging: 0, lacking: 0, lackingOf: 1 }

export interface Loss {
  /** Nodes at the beginning. */
  readonly size: number
  /** How many of them vanish at once, spread over the list. */
  readonly lost: number
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

/** From the loss on, when a new node appears. */
const newAfterMillis = [5000, 45_000]

/** Shorter where requests are closer together. */
const stepOf = (budget: Budget): number =>
  Math.min(2000, Math.max(500, Math.round(360_000 / perHourOf(budget) / 500) * 500))

/** A turn of the event loop, in which answers arrive without any virtual time. */
const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/**
 * How many of the vanished nodes are reported deleted in time, which of the others are falsely, and after how many milliseconds each new one
 * is reported.
 */
export const afterLoss = Effect.fnUntraced(function* (loss: Loss) {
  const { atMillis, budget, graceMillis, holdMillis, intervalMillis, isIll, lies, lost, size, withinMillis } = loss
  const chance = chanceFrom(loss.seed)
  const stepMillis = stepOf(budget)
  const ids = Array.from({ length: size }, (_, index) => index + 1)
  const vanishing = new Set(ids.filter((id) => id % Math.floor(size / lost) === 0).slice(0, lost))
  const remaining = ids.filter((id) => !vanishing.has(id))
  const shown = ids.filter((id) => id % 5 !== 1)
  const added = newAfterMillis.map((afterMillis, index) => ({ id: size + 1 + index, atMillis: atMillis + afterMillis }))
  const bornMillis = new Map(added.map(({ atMillis, id }) => [id, atMillis]))
  const reportedMillis = new Map<number, number>()
  let present = ids
  let known = new Set(present)
  let nowMillis = 0
  let underWay = 0
  let deleted = 0
  const falsely: Array<string> = []
  const record = (id: number) => {
    const created = new Date(bornMillis.get(id) ?? -2_678_400_000).toISOString()
    return nodeRecord({ id, name: `web-${id}`, created_at: created })
  }
  const answer = ({ path, query }: Request) => {
    const id = Number(/^\/nodes\/(\d+)\/$/.exec(path)?.[1] ?? 0)
    if (id > 0 && !vanishing.has(id) && (id * 7) % 10 < 10 * lies.hanging) return "hang"
    if (chance.happens(lies.failing)) return failure(503, "Maintenance.")
    if (id > 0) return known.has(id) ? ok(record(id)) : failure(404, "Not found.")
    const perPage = Number(query["per_page"])
    const start = (Number(query["page_no"] ?? query["page"] ?? 1) - 1) * perPage
    const page = present.slice(start, start + perPage + lies.lacking)
    const lacking = nowMillis < atMillis ? 0 : chance.below(lies.lacking + 1)
    const candidates = lacking === 0 ? [] : page.slice(0, perPage).filter((id) => id % lies.lackingOf === 0)
    const lacked = new Set(Array.from({ length: lacking }, () => candidates[chance.below(candidates.length)]))
    const shown = lacked.size === 0 ? page : page.filter((id) => !lacked.has(id))
    return ok(shown.slice(0, perPage).map(record))
  }
  const allowance = { "ratelimit-limit": "1000000", "ratelimit-remaining": "999999", "ratelimit-reset": "3600" }
  const script = (request: Request) =>
    Effect.suspend(() => {
      const reply = answer(request)
      if (reply === "hang") return Effect.never
      underWay++
      return Effect.succeed({ ...reply, headers: { ...reply.headers, ...allowance } })
    })
  /** Waits until no answer is under way. */
  const quiet = Effect.gen(function* () {
    for (let turns = 0; turns < 3; turns++) {
      if (underWay > 0) turns = 0
      underWay = 0
      yield* turn
    }
  })
  yield* Effect.gen(function* () {
    const moments = yield* makeMoments
    const { apply, snapshot } = makeSnapshot(unwatched, { fingerprint: null, begun: yield* moments.now })
    const watch: WatchedAccount = {
      snapshot,
      observe: (observation, rules) =>
        Effect.sync(() => {
          const difference = diff(snapshot, observation, rules)
          apply(difference)
          for (const fact of difference.facts) {
            if (fact.type !== "berth.node.deleted") continue
            if (vanishing.has(fact.data.before.id) && nowMillis >= atMillis) deleted++
            else falsely.push(fact.subject)
          }
          for (const { id } of added) {
            if (!reportedMillis.has(id) && snapshot.nodes.has(id as never)) reportedMillis.set(id, nowMillis)
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
    yield* Effect.forkChild(poller.run)
    const isDone = () => deleted >= lost && reportedMillis.size === added.length
    for (let now = 0; now < atMillis + withinMillis && !isDone(); now += stepMillis) {
      const isHiding = isIll && now >= atMillis - 30_000 && now < atMillis - 18_000
      const old = now >= atMillis + lies.staleMillis ? remaining : isHiding ? shown : ids
      present = [...old, ...added.filter((each) => now >= each.atMillis).map(({ id }) => id)]
      known = new Set(present)
      nowMillis = now
      yield* quiet
      yield* TestClock.adjust(stepMillis)
    }
  }).pipe(Effect.provide(layer(script)))
  const newMillis = added.map((each) => (reportedMillis.get(each.id) ?? Infinity) - each.atMillis)
  return { deleted, falsely, newMillis: Math.max(...newMillis), stepMillis }
})
