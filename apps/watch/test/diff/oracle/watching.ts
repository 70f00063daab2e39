/**
 * Watches a `World` through its `Service` like the daemon, in virtual time: sweeps page by page, reads of single nodes at the same time,
 * and a process that may be killed between any two steps, even between a difference and its commit.
 */
import { DateTime, Schema } from "effect"
import type { NodeId } from "@berthkit/core/domain/Node"
import { diff, type Difference } from "../../../src/diff/diff.ts"
import {
  defaultRules,
  type Durable,
  makeSnapshot,
  type Rules,
  type Snapshot,
  unwatched
} from "../../../src/diff/Snapshot.ts"
import type { Fact } from "../../../src/diff/Fact.ts"
import { type NodeState, NodeStateJson } from "../../../src/diff/Belief.ts"
import type { Exchange, Moment, Observation } from "../../../src/diff/Observation.ts"
import { isSweepWanted } from "../../../src/diff/ListGuard.ts"
import { questions } from "../../../src/diff/Question.ts"
import { chanceFrom } from "../Chance.ts"
import { nodeId } from "../aNode.ts"
import { type FaultKind, Service } from "./Service.ts"
import { World } from "./World.ts"

/** What may happen to the process. */
export const processFaults = ["kill", "stop", "clock", "rotation", "stranger"] as const
export type ProcessFault = (typeof processFaults)[number]

/** The values that determine a history, so that it can be repeated. */
export interface History {
  readonly seed: number
  /** Nodes at the beginning. */
  readonly size: number
  readonly perPage: number
  /** How long it takes until the faults end. */
  readonly minutes: number
  readonly kinds: ReadonlyArray<FaultKind>
  readonly process: ReadonlyArray<ProcessFault>
}

/** A fact, when it was published, and by which process. */
export interface Published {
  readonly fact: Fact
  readonly atMillis: number
  readonly run: number
  /** When the last complete sweep before the fact began, as far as this process knew, on a clock that cannot be set. */
  readonly sweptMillis: number
}

/** The steps of the processes, in order: each process begins and then takes in observations. */
type Step =
  | { readonly _tag: "begun"; readonly fingerprint: string; readonly begun: Moment }
  | { readonly _tag: "observed"; readonly observation: Observation }

/** A time in which nothing was observed. */
interface Gap {
  /** How many facts were published before it. */
  readonly published: number
  /** When it ended, on a clock that cannot be set. */
  readonly endMillis: number
  /** The same instant on the daemon's clock. */
  readonly atMillis: number
}

export interface Watched {
  readonly history: History
  readonly rules: Rules
  readonly steps: ReadonlyArray<Step>
  readonly world: World
  readonly service: Service
  readonly snapshot: Snapshot
  readonly published: ReadonlyArray<Published>
  /** The times in which nothing was observed, in order. */
  readonly gaps: ReadonlyArray<Gap>
  /** When the last fault ended. */
  readonly calmMillis: number
  /** Nodes that were written without a report. A quiet sweep must not do that. */
  readonly writes: number
}

const beginMillis = 1_700_000_000_000

/** An actor. Each value that it yields is the time for which it waits. */
type Actor = Generator<number, void>

const encode = Schema.encodeSync(NodeStateJson)
const decode = Schema.decodeSync(NodeStateJson)

/** The longer a node is in transition, the less often it is read. */
const pauseOf = ({ nodes }: Snapshot, id: NodeId, atMillis: number): number =>
  5000 + (atMillis - (nodes.get(id)?.sinceMonotonicMillis ?? atMillis)) / 10

/** Called with what an observation proved, after it is committed and before the process believes it. */
export type Follow = (before: Snapshot, difference: Difference, observation: Observation, rules: Rules) => void

/** Plays one history, and watches it. */
export const watch = (history: History, follow?: Follow): Watched => {
  const { happens, below, oneOf } = chanceFrom(history.seed)
  const chance = { happens, below, oneOf }
  // A sweep takes a while for each page, and waits before the next one.
  const sweepMillis = 40_000 + 1500 * Math.ceil(history.size / history.perPage)
  const rules: Rules = { ...defaultRules, sweepMillis }
  let nowMillis = beginMillis
  let wallOffset = 0
  let order = 0
  let run = 0
  let fingerprint = "first"
  let calm = false
  let writes = 0
  const world = new World(chance, history.size, nowMillis)
  const service = new Service(world, chance, history, nowMillis)
  // If reads deny nodes, `Service` keeps the list in order.
  const isDisordered = history.kinds.includes("disorder") && !history.kinds.includes("denied")
  let count = 0
  const published: Array<Published> = []
  const gaps: Array<Gap> = []
  const rows = new Map<NodeId, string>()
  let standing = unwatched.standing

  const now = (): Moment => ({
    order: ++order,
    atMillis: nowMillis + wallOffset,
    monotonicMillis: nowMillis - beginMillis,
    serviceMillis: Math.floor(nowMillis / 1000) * 1000
  })
  const load = (): Durable => ({ nodes: Array.from(rows.values(), (row): NodeState => decode(row)), standing })
  const steps: Array<Step> = []
  const start = () => {
    const process = { fingerprint, begun: now() }
    steps.push({ _tag: "begun", ...process })
    return makeSnapshot(load(), process)
  }
  let { apply, snapshot } = start()

  const knownNodes = () =>
    new Map(
      [...snapshot.nodes].map(
        ([
          id,
          {
            state: { node }
          }
        ]): [number, number] => [id, DateTime.toEpochMillis(node.createdAt!)]
      )
    )

  let sweptMillis = -Infinity
  let writtenSweptMillis = -Infinity

  const observe = (observation: Observation, isCommitted = true): void => {
    const difference = diff(snapshot, observation, rules)
    const { facts, ...change } = difference
    if (!isCommitted) return
    steps.push({ _tag: "observed", observation })
    follow?.(snapshot, difference, observation, rules)
    for (const state of change.nodes) rows.set(state.node.id, encode(state))
    for (const fact of facts) published.push({ fact, atMillis: nowMillis, run, sweptMillis })
    apply(change)
    const { swept } = snapshot.evidence
    if (swept !== null) sweptMillis = beginMillis + swept.asked.monotonicMillis
    if (change.standing.sweptMillis !== standing.sweptMillis) writtenSweptMillis = sweptMillis
    standing = change.standing
    if (facts.length === 0) writes += change.nodes.length
  }

  function* exchange<A>(answer: () => A): Generator<number, Exchange & { readonly answer: A | "failed" }> {
    const asked = now()
    yield below(700)
    const sampled = service.fails() ? "failed" : answer()
    yield below(700)
    return { asked, answered: now(), answer: sampled }
  }

  function* sweeps(): Actor {
    for (let sweep = 1; ; sweep++) {
      const asked = now()
      const listed = new Set<NodeId>()
      let lastId = 0
      let requests = 0
      let nameless = 0
      for (let start = 0; ;) {
        const size = history.perPage + (isDisordered ? 0 : 1)
        const { answer, ...times } = yield* exchange(() => service.page(start, size, nowMillis, true))
        requests++
        if (answer === "failed") {
          observe({ _tag: "RequestFailed", ...times, message: "The service failed." })
          yield 1000 + below(9000)
          continue
        }
        const length = answer.nodes.length + answer.unreadable.length + answer.nameless
        // As in `observe/Sweep.ts`, pages overlap by a node. If a page does not, the list has moved, and the sweep goes back.
        if (!isDisordered && start > 0 && (answer.firstId === null || answer.firstId > lastId)) {
          start = Math.max(0, start - history.perPage)
          continue
        }
        if (length === 0) break
        nameless += answer.nameless
        for (const { id } of answer.nodes) listed.add(id)
        for (const id of answer.unreadable) listed.add(id)
        const { nodes, unreadable } = answer
        const isEnd = length < size && !isDisordered
        observe({ _tag: "PageRead", ...times, sweep, isEnd, nodes, unreadable })
        count = start + length
        if (isEnd) break
        lastId = Math.max(lastId, answer.lastId)
        start = isDisordered ? count : count - 1
      }
      const extent = { sweep, requests, listed: listed.size, nameless }
      observe({ _tag: "SweepCompleted", asked, answered: now(), ...extent })
      const planned = 10_000 + below(20_000)
      yield isSweepWanted(snapshot, rules, nowMillis - beginMillis) ? 2000 : planned
    }
  }

  /** Reads the page that was the last one in the last sweep. */
  function* tails(): Actor {
    while (true) {
      yield 5000 + below(10_000)
      const start = count - (count % history.perPage)
      const { answer, ...times } = yield* exchange(() => service.page(start, history.perPage, nowMillis))
      if (answer === "failed") continue
      const { nameless, nodes, unreadable } = answer
      const length = nodes.length + unreadable.length + nameless
      const isEnd = length > 0 && length < history.perPage && !isDisordered
      observe({ _tag: "PageRead", ...times, sweep: null, isEnd, nodes, unreadable })
    }
  }

  function* reads(): Actor {
    while (true) {
      const at = nowMillis - beginMillis
      const due = questions(snapshot, rules).filter(
        ({ dueMonotonicMillis, id, kind }) =>
          dueMonotonicMillis + (kind === "transition" ? pauseOf(snapshot, id, at) : 0) <= at
      )
      if (due.length === 0) {
        yield 1000
        continue
      }
      const { id } = oneOf(due)
      const { answer, ...times } = yield* exchange(() => service.read(id, nowMillis))
      if (answer === "failed") yield 1000 + below(4000)
      else if (answer === "missing") observe({ _tag: "NodeMissing", ...times, nodeId: nodeId(id) })
      else observe({ _tag: "NodeFound", ...times, node: answer })
    }
  }

  function* turning(): Actor {
    while (true) {
      yield 5000
      observe({ _tag: "TimePassed", asked: now(), answered: now() })
    }
  }

  function* worldly(): Actor {
    while (true) {
      yield below(60_000)
      world.happen(nowMillis)
    }
  }

  function* troubling(): Actor {
    while (true) {
      yield below(40_000)
      service.turn(nowMillis, knownNodes())
      if (calm) continue
      const fault = oneOf(history.process.length === 0 ? (["none"] as const) : history.process)
      if (fault === "kill" && happens(0.05)) yield* restart()
      if (fault === "stop" && happens(0.05)) {
        const asked = now()
        nowMillis += below(900_000)
        noteGap()
        observe({ _tag: "Paused", asked, answered: now() })
      }
      if (fault === "clock" && happens(0.1)) wallOffset = below(7_200_000) - 3_600_000
      if (fault === "rotation" && happens(0.02)) {
        fingerprint = `${fingerprint}+`
        yield* restart()
      }
      if (fault === "stranger" && happens(0.01) && standing.baselineMillis !== null && snapshot.nodes.size > 0) {
        const own = fingerprint
        fingerprint = "another"
        service.stranger = true
        yield* restart()
        yield below(600_000)
        fingerprint = own
        service.stranger = false
        yield* restart()
      }
    }
  }

  /** Before the baseline there is nothing that a gap could hide. */
  function noteGap() {
    if (standing.baselineMillis === null) return
    gaps.push({ published: published.length, endMillis: nowMillis, atMillis: nowMillis + wallOffset })
  }

  let daemon: Array<{ readonly actor: Actor; atMillis: number }> = []
  const boot = () => {
    run++
    noteGap()
    sweptMillis = writtenSweptMillis
    ;({ apply, snapshot } = start())
    daemon = [sweeps(), tails(), reads(), reads(), turning()].map((actor) => ({
      actor,
      atMillis: nowMillis + below(1000)
    }))
  }
  /** The process is killed, perhaps before a difference is committed, and started again after a while. */
  function* restart(): Generator<number, void> {
    if (happens(0.3)) observe({ _tag: "RequestFailed", asked: now(), answered: now(), message: "Killed." }, false)
    daemon = []
    yield happens(0.5) ? below(5000) : below(1_200_000)
    boot()
  }

  const around = [worldly(), troubling()].map((actor) => ({ actor, atMillis: nowMillis }))
  boot()
  const runUntil = (untilMillis: number) => {
    while (nowMillis < untilMillis) {
      const all = [...around, ...daemon]
      const next = all.reduce((first, other) => (other.atMillis < first.atMillis ? other : first))
      nowMillis = Math.max(nowMillis, next.atMillis)
      const { done, value } = next.actor.next()
      next.atMillis = nowMillis + (done === true ? Infinity : value)
    }
  }
  runUntil(beginMillis + history.minutes * 60_000)
  calm = true
  service.heal()
  if (fingerprint === "another") fingerprint = standing.fingerprint ?? fingerprint
  boot()
  around.shift()
  const calmMillis = nowMillis
  // Once all faults are over, everything must be reported, even after a freeze and after a restart that was still planned.
  runUntil(nowMillis + 5 * rules.holdMillis)
  return { history, rules, steps, world, service, snapshot, published, gaps, calmMillis, writes }
}
