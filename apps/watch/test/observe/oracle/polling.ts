/**
 * The daemon's polling with its real client, in virtual time, of a `World` behind a service that lies, fails and lets reads of single nodes
 * hang. The result is when each life of a node was first reported.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import type { Node } from "@berthkit/core/domain/Node"
import { failure, layer, nodeRecord, ok, type Reply, type Request } from "@berthkit/core/testing"
import { Clock, DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { WatchedAccount } from "../../../src/account/WatchedAccount.ts"
import { diff } from "../../../src/diff/diff.ts"
import { defaultRules, makeSnapshot, unwatched } from "../../../src/diff/Snapshot.ts"
import { makeMoments } from "../../../src/observe/Moments.ts"
import { makePoller } from "../../../src/observe/Poller.ts"
import { hourly } from "../../../src/observe/RequestShare.ts"
import { chanceFrom } from "../../diff/Chance.ts"
import { type FaultKind, Service } from "../../diff/oracle/Service.ts"
import { type Life, World } from "../../diff/oracle/World.ts"

export interface PolledHistory {
  readonly seed: number
  /** Nodes at the beginning. */
  readonly size: number
  readonly minutes: number
  readonly kinds: ReadonlyArray<FaultKind>
  /** The part of the nodes for which every read hangs. */
  readonly hanging: number
  /** The maximum time between two changes of nodes. */
  readonly changeMillis: number
}

export interface Polled {
  readonly world: World
  /** When each life was reported first, by `lifeOf`. */
  readonly reported: ReadonlyMap<string, number>
  /** The requests for a sweep or for the end of the list. */
  readonly lists: ReadonlyArray<{ readonly atMillis: number; readonly hasFailed: boolean }>
  readonly reads: number
}

export const lifeOf = ({ createdMillis, id }: Pick<Life, "createdMillis" | "id">) => `${id} of ${createdMillis}`

const stepMillis = 250

/** An allowance that is larger than needed. */
const allowance = { "ratelimit-limit": "100000", "ratelimit-remaining": "99999", "ratelimit-reset": "3600" }

/** A turn of the event loop, in which answers arrive. It takes no virtual time. */
const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

const record = ({ createdAt, id, name, status }: Node) =>
  nodeRecord({ id, name, status, created_at: DateTime.formatIso(createdAt!) })

/** Plays a history; returns what was reported. */
export const polled = Effect.fnUntraced(function* (history: PolledHistory) {
  const chance = chanceFrom(history.seed)
  const world = new World(chance, history.size, 0)
  const service = new Service(world, chance, history, 0)
  const lists: Array<Polled["lists"][number]> = []
  const reported = new Map<string, number>()
  let reads = 0
  let underWay = 0

  const answer = ({ path, query }: Request, atMillis: number): Reply | "hang" => {
    const id = Number(/^\/nodes\/(\d+)\/$/.exec(path)?.[1] ?? 0)
    if (id > 0) reads++
    if (id > 0 && (id * 7) % 10 < 10 * history.hanging) return "hang"
    const hasFailed = service.fails()
    if (id === 0) lists.push({ atMillis, hasFailed })
    if (hasFailed) return failure(503, "Maintenance.")
    if (id > 0) {
      const read = service.read(id, atMillis)
      if (read === "missing") return failure(404, "Not found.")
      return read === "failed" ? failure(503, "Maintenance.") : ok(record(read))
    }
    const size = Number(query["per_page"])
    const start = (Number(query["page_no"] ?? query["page"] ?? 1) - 1) * size
    return ok(service.page(start, size, atMillis, true).nodes.map(record))
  }
  const script = (request: Request) =>
    Effect.gen(function* () {
      const reply = answer(request, yield* Clock.currentTimeMillis)
      if (reply === "hang") return yield* Effect.never
      underWay++
      return reply === "lost" ? reply : { ...reply, headers: { ...reply.headers, ...allowance } }
    })
  /** Waits until no answer is under way. */
  const quiet = Effect.gen(function* () {
    for (let turns = 0; turns < 4; turns++) {
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
          for (const { data } of difference.facts) {
            const node = ("after" in data ? data.after : null) ?? ("before" in data ? data.before : null)
            if (node === null || !("createdAt" in node)) continue
            const life = lifeOf({ id: node.id, createdMillis: DateTime.toEpochMillis(node.createdAt!) })
            if (!reported.has(life)) reported.set(life, observation.answered.monotonicMillis)
          }
          return difference.facts
        })
    }
    const poller = yield* makePoller({
      nodes: yield* Nodes,
      moments,
      watch,
      rules: defaultRules,
      intervalMillis: null,
      fastIntervalMillis: null,
      budget: Effect.succeed(hourly(720)),
      areCredentialsNew: false
    })
    yield* Effect.forkChild(poller.run)
    let changeAt = 60_000
    let turnAt = 60_000
    for (let now = 0; now < history.minutes * 60_000; now += stepMillis) {
      if (now >= changeAt) {
        world.happen(now)
        changeAt = now + chance.below(history.changeMillis)
      }
      if (now >= turnAt) {
        const known = [...snapshot.nodes].map(
          ([
            id,
            {
              state: { node }
            }
          ]): [number, number] => [id, DateTime.toEpochMillis(node.createdAt!)]
        )
        service.turn(now, new Map(known))
        turnAt = now + chance.below(40_000)
      }
      yield* quiet
      yield* TestClock.adjust(stepMillis)
    }
  }).pipe(Effect.provide(layer(script)))
  return { world, reported, lists, reads } satisfies Polled
})
