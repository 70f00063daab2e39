/**
 * An account as the store keeps it and the diff sees it: loaded once, and changed by observations alone, each of them through
 * `Account.ts`.
 */
import { spelling } from "@berthkit/core/domain/NodeStatus"
import { Effect, Random, Schema, Stream } from "effect"
import { diff, type Difference } from "../diff/diff.ts"
import type { Fact } from "../diff/Fact.ts"
import { type NodeState, NodeStateJson } from "../diff/NodeState.ts"
import type { Moment, Observation } from "../diff/Observation.ts"
import type { Rules } from "../diff/Rules.ts"
import { makeSnapshot, type Snapshot, unwatched } from "../diff/Snapshot.ts"
import { Standing } from "../diff/Standing.ts"
import type { AccountChange, NodeRow } from "../store/accounts.ts"
import type { Owner } from "../store/ownership.ts"
import { Store } from "../store/Store.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { makeAccount } from "./Account.ts"

export interface WatchedAccount {
  /** Only `observe` changes it. */
  readonly snapshot: Snapshot
  /** Takes in an observation; gives what happened by the rules, once it is committed. */
  readonly observe: (observation: Observation, rules: Rules) => Effect.Effect<ReadonlyArray<Fact>, StoreFailed>
}

export interface WatchedAccountOptions {
  /** In `source` and in cursors. */
  readonly name: string
  /** Of the API key in use; null when keys are not compared. */
  readonly fingerprint: string | null
  readonly begun: Moment
}

const StandingJson = Schema.fromJsonString(Schema.toCodecJson(Standing))
export const readStanding = Schema.decodeSync(StandingJson)
const writeStanding = Schema.encodeSync(StandingJson)
const readState = Schema.decodeSync(NodeStateJson)
const writeState = Schema.encodeSync(NodeStateJson)

const maxSeed = 2 ** 31

const rowOf = (state: NodeState): NodeRow => ({
  id: state.node.id,
  incarnation: state.incarnation,
  life: state.life,
  status: spelling(state.node.status),
  changes: state.version,
  goneAtMillis: state.goneMillis,
  body: writeState(state)
})

function* makeRows(before: Snapshot, { exchange, nodes }: Difference): Generator<NodeRow> {
  for (const state of nodes) {
    const known = before.nodes.get(state.node.id)?.state
    if (known !== undefined && known.incarnation !== state.incarnation) {
      yield rowOf({ ...known, goneMillis: exchange.answered.atMillis })
    }
    yield rowOf(state)
  }
}

/** The rows of what changed, each made when it is written. A node whose id another one took leaves a tombstone of its own. */
const rowsOf = (before: Snapshot, difference: Difference): Iterable<NodeRow> =>
  difference.nodes.length === 0 ? [] : { [Symbol.iterator]: () => makeRows(before, difference) }

/** The part of the account's row that differs. A sink that begins with the nodes waits for the sweep: it counts from the baseline on. */
const accountOf = (
  before: Standing,
  after: Standing,
  sweepMillis: number
): Omit<AccountChange, "events" | "nodes"> => ({
  ...(after === before ? {} : { standing: writeStanding(after) }),
  ...(after === before || after.baselineMillis === null || after.sweptMillis === null
    ? {}
    : { sweptAtMillis: after.sweptMillis, sweepMillis }),
  ...(after.fingerprint === null || after.fingerprint === before.fingerprint ? {} : { fingerprint: after.fingerprint })
})

/** An account that this process owns. */
export interface OwnAccount extends WatchedAccount {
  readonly owner: Owner
}

/** Takes the account over from its last owner, and loads it. It is given up with the scope. */
export const openAccount = Effect.fnUntraced(function* (options: WatchedAccountOptions) {
  const store = yield* Store
  const { known, owner } = yield* Effect.acquireRelease(store.claim(options.name), ({ owner }) => store.release(owner))
  const rows = yield* Stream.runCollect(store.nodes(options.name))
  const durable = {
    nodes: rows.map(({ body }) => readState(body)),
    standing: known.standing === null ? unwatched.standing : readStanding(known.standing)
  }
  const seed = yield* Random.nextIntBetween(0, maxSeed)
  const { applying, snapshot } = makeSnapshot(durable, { ...options, seed })
  /** As the rules of the last observation have it. */
  let sweepMillis = 0
  const account = yield* makeAccount({
    owner,
    belief: {
      diff: ({ observation, rules }: { readonly observation: Observation; readonly rules: Rules }) =>
        diff(snapshot, observation, rules),
      durable: (difference: Difference) => ({
        nodes: rowsOf(snapshot, difference),
        ...accountOf(snapshot.standing, difference.standing, sweepMillis)
      }),
      apply: applying
    }
  })
  const watched: OwnAccount = {
    owner,
    snapshot,
    observe: (observation, rules) => {
      sweepMillis = rules.sweepMillis
      return account.observe({ observation, rules })
    }
  }
  return watched
})
