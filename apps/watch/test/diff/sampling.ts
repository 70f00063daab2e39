/**
 * Watches a `RandomWorld` the way the daemon does, through a service that shifts, loses and refuses: sweeps read the
 * list page by page while the world goes on, polls read single nodes at the same time, and any reply may be late.
 */
import type { Node, NodeId } from "@berth/core/domain/Node"
import { diff, type Rules } from "../../src/diff/diff.ts"
import type { Fact } from "../../src/diff/Fact.ts"
import type { Exchange, Moment, Observation } from "../../src/diff/Observation.ts"
import { makeSnapshot, type Snapshot } from "../../src/diff/Snapshot.ts"
import { schedule } from "../../src/poll/Schedule.ts"
import { chanceFrom } from "./Chance.ts"
import type { RandomWorld } from "./RandomWorld.ts"
import { RandomWorld as World } from "./RandomWorld.ts"

/** A history that can be repeated: the same numbers give the same one. */
export interface History {
  readonly seed: number
  /** Nodes at the beginning. */
  readonly size: number
  /** How often the world and the daemon take turns before everything comes to rest. */
  readonly turns: number
  /** Nodes on a page. */
  readonly perPage: number
  /** The order of the list is not documented; it may even be another one for every page. */
  readonly order: "oldest-first" | "newest-first" | "any"
}

/** A fact and when it was reported. */
export interface Reported {
  readonly fact: Fact
  readonly atMillis: number
}

export interface Watched {
  readonly world: RandomWorld
  readonly snapshot: Snapshot
  readonly reported: ReadonlyArray<Reported>
}

const rules: Rules = { graceMillis: 5000, terminatingGraceMillis: 1000, holdMillis: 60_000 }
const cadence = { fastIntervalMillis: 1000 }

/** A wrong 404 lasts less than any grace, and comes again only after a while. */
const blipMillis = 900
const blipPauseMillis = 30_000

/** A step of the daemon: it sends a request, then the service replies, then the reply arrives. */
type Lane = Generator<void, void>

export const watch = ({ order: listOrder, perPage, seed, size, turns }: History): Watched => {
  const chance = chanceFrom(seed)
  const world = new World(chance, size)
  const { apply, snapshot } = makeSnapshot()
  const reported: Array<Reported> = []
  const blips = new Map<number, number>()
  let order = 0
  let calm = false
  let hiddenUntil = 0

  const now = (): Moment => ({ order: ++order, atMillis: world.nowMillis, monotonicMillis: world.nowMillis })
  const observe = (observation: Observation) => {
    const { facts, ...change } = diff(snapshot, observation, rules)
    apply(change)
    for (const fact of facts) reported.push({ fact, atMillis: world.nowMillis })
  }

  const page = (number: number): ReadonlyArray<Node> => {
    if (!calm && chance.happens(0.01)) return []
    if (!calm && chance.happens(0.004)) hiddenUntil = world.nowMillis + chance.below(120_000)
    if (!calm && world.nowMillis < hiddenUntil) return []
    const listed = world.alive.filter(() => calm || !chance.happens(0.05))
    if (listOrder === "newest-first") listed.reverse()
    if (listOrder === "any" && !calm) listed.sort(() => chance.below(3) - 1)
    return listed.slice((number - 1) * perPage, number * perPage).map((life) => world.node(life))
  }

  function* exchange<A>(answer: () => A): Generator<void, Exchange & { readonly answer: A }> {
    const asked = now()
    yield
    const sampled = answer()
    yield
    return { asked, answered: now(), answer: sampled }
  }

  function* sweeps(): Lane {
    for (let sweep = 1; ; sweep++) {
      const began = now()
      const listed = new Set<NodeId>()
      const extent = () => ({ asked: began, answered: now(), sweep, requests: 1, listed: listed.size, repeated: 0 })
      for (let number = 1; ; number++) {
        const { answer: nodes, ...times } = yield* exchange(() =>
          !calm && chance.happens(0.04) ? undefined : page(number)
        )
        if (nodes === undefined) {
          observe({ _tag: "SweepFailed", ...extent(), message: "The service failed." })
          break
        }
        if (nodes.length === 0) {
          observe({ _tag: "SweepCompleted", ...extent() })
          break
        }
        for (const { id } of nodes) listed.add(id)
        observe({ _tag: "PageRead", ...times, sweep, nodes })
      }
      for (let pause = chance.below(8); pause > 0; pause--) yield
    }
  }

  const read = (id: NodeId): Node | "missing" | "failed" => {
    if (!calm && chance.happens(0.05)) return "failed"
    const blip = blips.get(id) ?? -Infinity
    if (!calm && world.nowMillis > blip + blipPauseMillis && chance.happens(0.25)) {
      blips.set(id, world.nowMillis + blipMillis)
      return "missing"
    }
    if (world.nowMillis <= blip) return "missing"
    const life = world.find(id)
    return life === undefined ? "missing" : world.node(life)
  }

  function* polls(): Lane {
    while (true) {
      const [nodeId] = schedule(snapshot, world.nowMillis, rules, cadence).polls
      yield
      if (nodeId === undefined) continue
      const { answer, ...times } = yield* exchange(() => read(nodeId))
      if (answer === "missing") observe({ _tag: "NodeMissing", ...times, nodeId })
      else if (answer !== "failed") observe({ _tag: "NodeFound", ...times, node: answer })
    }
  }

  const lanes = [sweeps(), polls(), polls()]
  const turn = () => {
    world.pass(chance.below(400))
    chance.oneOf(lanes).next()
  }
  for (let n = 0; n < turns; n++) {
    world.happen()
    turn()
  }
  calm = true
  // At rest everything has to come out, a freeze included.
  for (const rest = world.nowMillis + 4 * rules.holdMillis; world.nowMillis < rest;) turn()
  return { world, snapshot, reported }
}
