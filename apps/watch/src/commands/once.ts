/**
 * `berth-watch once`: reads the node list once, and prints a baseline event and one event per node. It does not compare the
 * list with earlier ones.
 */
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { Effect } from "effect"
import { Nodes } from "@berthkit/core/client/Nodes"
import { between, type Fact, instantsOf, ofAccount } from "../diff/Fact.ts"
import { incarnationOf } from "../diff/Belief.ts"
import type { SweepCompleted } from "../diff/Observation.ts"
import { Stdout } from "../deliver/Stdout.ts"
import { toEvent, toLine } from "../events/Event.ts"
import { makeMoments, type Moments } from "../observe/Moments.ts"
import { beginSweep, nextPage, takePage } from "../observe/Sweep.ts"
import { CommandFailed, endedBy, fromBerthError } from "../process/CommandFailed.ts"

/** Reads the list once and prints it; prints nothing unless the whole list was read. */
export const once = Effect.fn("once")(function* (account: string) {
  const nodes = yield* Nodes
  const { write } = yield* Stdout
  const moments = yield* makeMoments
  // The user waits for this, so requests are not spaced out, and do not wait for other calls.
  const { completed, counted, isReadToEnd, listed } = yield* sweepOnce(nodes, moments).pipe(
    Effect.mapError(fromBerthError)
  )
  const { unreadable } = completed
  if (unreadable !== undefined) {
    const what = `${unreadable.count} ${unreadable.count === 1 ? "record" : "records"} of the list cannot be read: ${unreadable.example}`
    if (listed.size === 0) {
      return yield* new CommandFailed({
        exit: "unavailable",
        message: `${what}.`,
        hint: "Compare the example with the API's documentation; a newer berth-watch may be able to read it."
      })
    }
    yield* Effect.logWarning(`${what}. Nothing is reported about ${unreadable.count === 1 ? "it" : "them"}.`)
  }
  const shown = completed.listed + completed.nameless
  if (counted > shown) {
    yield* Effect.logWarning(`The service counts ${counted} nodes and lists ${shown}: there may be more nodes.`)
  } else if (!isReadToEnd) {
    yield* Effect.logWarning("The list does not show where it ends: there may be more nodes.")
  }
  const lines = factsOf(listed, completed).map((fact, index) => toLine(toEvent(fact, account, index + 1)))
  yield* Effect.catchTag(write(lines.join("")), "StreamClosed", endedBy)
})

/**
 * Reads the list, and returns its nodes, when it was read, and whether it is certainly complete by the rule of the client's
 * lists.
 */
const sweepOnce = Effect.fnUntraced(function* (nodes: Nodes["Service"], moments: Moments) {
  const listed = new Map<NodeId, Node>()
  /** The number of nodes that the list states; 0 if it states none. */
  let counted = 0
  let isSteady = true
  let isOne = false
  let longest = 0
  let sweep = beginSweep(1)
  for (;;) {
    const { answer, ...exchange } = yield* moments.around(nodes.readPage({ ...nextPage(sweep), lane: "interactive" }))
    const step = takePage(sweep, exchange, answer)
    isSteady &&= sweep.requests === 0 || answer.isMissing || answer.total === counted
    isOne ||= answer.isWhole
    longest = Math.max(longest, answer.records.length)
    counted = answer.total ?? counted
    for (const node of step.page.nodes) listed.set(node.id, node)
    if (step.completed !== null) {
      const shown = step.completed.listed + step.completed.nameless
      const isCounted = isSteady && counted === shown && (isOne || shown > longest)
      return {
        completed: step.completed,
        counted,
        listed,
        isReadToEnd: isCounted || step.sweep.progress.complete !== false
      }
    }
    sweep = step.sweep
  }
})

/** The baseline, and every node as discovered. */
const factsOf = (
  listed: ReadonlyMap<NodeId, Node>,
  { answered: { atMillis }, asked }: SweepCompleted
): ReadonlyArray<Fact> => {
  const observedBetween = instantsOf(between(asked.atMillis, atMillis))
  const baseline: Fact = {
    identity: ofAccount(0),
    atMillis,
    type: "berth.watch.baseline",
    data: { count: listed.size, observedBetween, sweep: 1 }
  }
  const discovered = Array.from(listed.values(), (after): Fact => ({
    identity: { nodeId: after.id, incarnation: incarnationOf(after), life: 1, version: 0 },
    atMillis,
    subject: `nodes/${after.id}`,
    type: "berth.node.discovered",
    data: { before: null, after, observedBetween, sweep: 1 }
  }))
  return [baseline, ...discovered]
}
