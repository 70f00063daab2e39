/**
 * What this process believes of one node: its row in the store, and what it saw of it since and has not concluded from yet. The latter is
 * lost with the process and gathered anew by the next one.
 */
import { Node } from "@berthkit/core/domain/Node"
import { DateTime } from "effect"
import type { Absence } from "./Absence.ts"
import type { Statements } from "./Addresses.ts"
import { incarnationOf, isPassing, type NodeState } from "./NodeState.ts"
import type { Exchange, Moment } from "./Observation.ts"
import type { Return } from "./Return.ts"
import type { Standing } from "./Standing.ts"

/** A node that single reads show although the list lacks it. */
interface Hidden {
  /** How often in a row. */
  readonly proofs: number
  readonly monotonicMillis: number
}

/** A node that exists. Without doubts all fields behind `sinceMonotonicMillis` are null. */
export interface Known {
  readonly state: NodeState
  /** The newest exchange that showed it; null before. */
  readonly seen: Exchange | null
  /** Since when it is in a status that it passes through; null at rest. */
  readonly sinceMonotonicMillis: number | null
  /** The evidence that it is gone. */
  readonly absence: Absence | null
  /** It is there although the list lacks it. */
  readonly hidden: Hidden | null
  /** The first exchange that showed it in a status that cannot follow the one it has. */
  readonly impossible: Exchange | null
  /** Records that do not state how it is showed it since: when it was last seen as it is known, in time of day. */
  readonly unstatedMillis: number | null
  /** What the two shapes of a record stated of its addresses; null where it was not read singly. */
  readonly addresses: Statements | null
}

/** A node that was reported deleted: what is kept of it in memory. */
export interface Gone {
  readonly createdMillis: number
  readonly life: number
  readonly version: number
  /** What showed it since; null where nothing did. */
  readonly returning: Return | null
}

const calm = { absence: null, hidden: null, impossible: null, unstatedMillis: null, addresses: null }

/** `state` is as it is now; nothing else is known. */
export const known = (state: NodeState, nowMonotonicMillis: number): Known => ({
  state,
  seen: null,
  sinceMonotonicMillis: isPassing(state.node.status) ? nowMonotonicMillis : null,
  ...calm
})

/** With another state; a status that it has since now is one from now on. */
export const withState = (belief: Known, state: NodeState, { monotonicMillis }: Moment): Known => ({
  ...belief,
  state,
  sinceMonotonicMillis: !isPassing(state.node.status)
    ? null
    : state.statusSinceMillis === belief.state.statusSinceMillis && state.node.status === belief.state.node.status
      ? belief.sinceMonotonicMillis
      : monotonicMillis
})

/** The state of a node when a reply first shows it, which may be from as early as the request for it. */
export const firstState = (
  node: Node,
  { asked, answered }: Exchange,
  version = 0,
  seenMillis = asked.atMillis
): NodeState => ({
  node,
  incarnation: incarnationOf(node),
  life: 1,
  version,
  seenMillis,
  listed: true,
  statusSinceMillis: answered.atMillis,
  stuck: false,
  goneMillis: null
})

/** The latest instant at which the node is known to have been there as it is known. */
export const seenFromMillis = ({ seen, state, unstatedMillis }: Known, { sweptMillis }: Standing): number =>
  unstatedMillis ??
  seen?.asked.atMillis ??
  (state.listed ? Math.max(state.seenMillis, sweptMillis ?? state.seenMillis) : state.seenMillis)

/** What is kept of a node that is gone. */
export const goneFrom = ({ life, node, version }: NodeState): Gone => ({
  createdMillis: DateTime.toEpochMillis(node.createdAt),
  life,
  version,
  returning: null
})
