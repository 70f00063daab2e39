/**
 * The daemon polls an honest service with its real client, in virtual time. Many nodes vanish at once, and the reports of their deletions
 * are counted.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import { failure, layer, nodeRecord, ok, type Request } from "@berthkit/core/testing"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { WatchedAccount } from "../../../src/account/WatchedAccount.ts"
import { diff } from "../../../src/diff/diff.ts"
import { defaultRules, makeSnapshot, unwatched } from "../../../src/diff/Snapshot.ts"
import { makeMoments } from "../../../src/observe/Moments.ts"
import { hourly } from "../../../src/observe/RequestShare.ts"
import { makePoller } from "../../../src/observe/Poller.ts"

export interface Loss {
  /** Nodes at the beginning. */
  readonly size: number
  /** How many of them vanish at once, spread over the list. */
  readonly lost: number
  readonly atMillis: number
  /** Whether the service hides a fifth of all nodes for twelve seconds, half a minute before the loss. */
  readonly isIll: boolean
  readonly intervalMillis: number | null
  readonly requestsPerHour: number
  readonly graceMillis: number
  readonly holdMillis: number
  /** How long the run waits for the reports. */
  readonly withinMillis: number
}

const stepMillis = 500

/** A turn of the event loop, in which answers arrive without any virtual time. */
const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** How many of the vanished nodes are reported deleted in time. */
export const afterLoss = Effect.fnUntraced(function* (loss: Loss) {
  const { atMillis, graceMillis, holdMillis, intervalMillis, isIll, lost, requestsPerHour, size, withinMillis } = loss
  const ids = Array.from({ length: size }, (_, index) => index + 1)
  const vanishing = new Set(ids.filter((id) => id % Math.floor(size / lost) === 0).slice(0, lost))
  const remaining = ids.filter((id) => !vanishing.has(id))
  const shown = ids.filter((id) => id % 5 !== 1)
  let present = ids
  let underWay = 0
  let deleted = 0
  const answer = ({ path, query }: Request) => {
    const id = Number(/^\/nodes\/(\d+)\/$/.exec(path)?.[1] ?? 0)
    const record = (id: number) => nodeRecord({ id, name: `web-${id}`, created_at: "1969-12-01T00:00:00.000000Z" })
    if (id > 0) return present.includes(id) ? ok(record(id)) : failure(404, "Not found.")
    const perPage = Number(query["per_page"])
    const start = (Number(query["page_no"] ?? query["page"] ?? 1) - 1) * perPage
    return ok(present.slice(start, start + perPage).map(record))
  }
  const allowance = { "ratelimit-limit": "100000", "ratelimit-remaining": "99999", "ratelimit-reset": "3600" }
  const script = (request: Request) =>
    Effect.sync(() => {
      underWay++
      const reply = answer(request)
      return { ...reply, headers: { ...reply.headers, ...allowance } }
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
    const { apply, snapshot } = makeSnapshot(unwatched, { seed: 1, fingerprint: null, begun: yield* moments.now })
    const watch: WatchedAccount = {
      snapshot,
      observe: (observation, rules) =>
        Effect.sync(() => {
          const difference = diff(snapshot, observation, rules)
          apply(difference)
          deleted += difference.facts.filter(({ type }) => type === "berth.node.deleted").length
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
      budget: Effect.succeed(hourly(requestsPerHour)),
      areCredentialsNew: false
    })
    yield* Effect.forkChild(poller.run)
    for (let now = 0; now < atMillis + withinMillis && deleted < lost; now += stepMillis) {
      const isHiding = isIll && now >= atMillis - 30_000 && now < atMillis - 18_000
      present = now >= atMillis ? remaining : isHiding ? shown : ids
      yield* quiet
      yield* TestClock.adjust(stepMillis)
    }
  }).pipe(Effect.provide(layer(script)))
  return deleted
})
