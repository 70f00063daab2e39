/**
 * The daemon's state of an account, as the store keeps it and the diff sees it. The state is loaded once, and changes
 * in only one way: the diff compares an observation with the state, the store commits the difference, and only then
 * does the daemon apply the difference in memory.
 */
import { spelling } from "@berthkit/core/domain/NodeStatus"
import { DateTime, Effect, Schema, Semaphore, Stream } from "effect"
import type { Deletion, Explained } from "../diff/Cause.ts"
import { diff, type Difference } from "../diff/diff.ts"
import type { Fact } from "../diff/Fact.ts"
import { type NodeState, NodeStateJson } from "../diff/Belief.ts"
import type { Moment, Observation } from "../diff/Observation.ts"
import { makeSnapshot, type Rules, type Snapshot, Standing, unwatched } from "../diff/Snapshot.ts"
import type { EventFact } from "../events/Event.ts"
import type { AlertRules } from "../spend/alerts.ts"
import { isCostFact } from "../spend/CostFact.ts"
import type { AccountChange, NodeRow } from "../store/accounts.ts"
import type { Owner } from "../store/ownership.ts"
import { Store } from "../store/Store.ts"
import { mayPass, type StoreFailed } from "../store/StoreFailed.ts"
import { openSpend, type SpendChange, type WatchedSpend } from "./WatchedSpend.ts"

/** A part of an account's state: how an observation differs from it, and how the difference is stored and applied. */
export interface Believer<Observation, Difference extends { readonly facts: ReadonlyArray<EventFact> }> {
  /** Pure: it changes nothing. */
  readonly diff: (observation: Observation) => Difference
  /** Completes a difference with facts from other sources, such as causes of deletions, before it is stored. Default: adds nothing. */
  readonly complete?: (difference: Difference) => Effect.Effect<Difference>
  /** The part of a difference that is stored apart from its facts. Empty after a sweep without changes. */
  readonly durable: (difference: Difference) => Omit<AccountChange, "events">
  /** Applies the difference to the state, possibly in several steps that let other work run in between. */
  readonly apply: (difference: Difference) => Iterable<void> | void
}

/** Pause before retrying a store that failed. */
const storePause = "1 second"

const isEmpty = (change: AccountChange): boolean =>
  Object.values(change).every((value) => value === undefined || (Array.isArray(value) && value.length === 0))

/**
 * Makes the only function that changes a state. The function processes one observation at a time, and neither applies
 * nor reports a difference before it is committed.
 */
export const makeAccount = Effect.fnUntraced(function* <
  Observation,
  Difference extends { readonly facts: ReadonlyArray<EventFact> }
>({
  belief,
  mailbox: shared,
  owner
}: {
  readonly owner: Owner
  readonly belief: Believer<Observation, Difference>
  /** The lock for changes. States that change together share one; by default each state has its own. */
  readonly mailbox?: Semaphore.Semaphore | undefined
}) {
  const store = yield* Store
  const mailbox = shared ?? (yield* Semaphore.make(1))

  /**
   * Retries while the store may recover. The poller waits for this, so nothing is polled during the wait. The wait can be interrupted,
   * because a daemon on a full disk must be able to stop.
   */
  const commit = Effect.fnUntraced(function* (change: AccountChange) {
    let isUnsure = false
    for (;;) {
      const committed = yield* Effect.result(store.commit(owner, change))
      if (committed._tag === "Success") return
      // After a broken connection, nobody knows whether the last commit succeeded. The events of a successful commit
      // are in the store.
      if (isUnsure && committed.failure.fault === "repeated") {
        return yield* store.noteCommitted(owner.account, change.events ?? [])
      }
      if (!mayPass(committed.failure)) return yield* committed.failure
      isUnsure ||= committed.failure.fault === "unavailable"
      yield* Effect.interruptible(Effect.sleep(storePause))
    }
  })

  /**
   * Processes an observation and returns what happened. Fails if another process owns the account now, or if the store is unusable. In both
   * cases the state is unchanged, and the caller must not pass another observation.
   */
  const observe = (observation: Observation): Effect.Effect<Difference["facts"], StoreFailed> =>
    mailbox.withPermit(
      Effect.gen(function* () {
        const proved = belief.diff(observation)
        const difference = belief.complete === undefined ? proved : yield* belief.complete(proved)
        const change = { ...belief.durable(difference), events: difference.facts }
        if (!isEmpty(change)) yield* commit(change)
        for (const _ of belief.apply(difference) ?? []) yield* Effect.yieldNow
        return difference.facts
      }).pipe(Effect.uninterruptible)
    )

  return { observe }
})

export interface WatchedAccount {
  /** The known nodes; only `observe` changes them. */
  readonly snapshot: Snapshot
  /** Processes an observation by the rules, and returns what happened once that is committed. */
  readonly observe: (observation: Observation, rules: Rules) => Effect.Effect<ReadonlyArray<Fact>, StoreFailed>
}

/** Returns the cause of each deletion. */
export type Explain = (deletions: ReadonlyArray<Deletion>) => Effect.Effect<ReadonlyArray<Explained>>

export interface WatchedAccountOptions {
  /** The account's name in `source` and in cursors. */
  readonly name: string
  /** The fingerprint of the API key in use; null if keys are not compared. */
  readonly fingerprint: string | null
  readonly begun: Moment
  /** Returns the rules for spending alerts; called again for each observation. */
  readonly alertRules?: () => AlertRules
  /** Says why nodes were deleted. Default: all causes are unknown. */
  readonly explain?: Explain
}

const StandingJson = Schema.fromJsonString(Schema.toCodecJson(Standing))
export const readStanding = Schema.decodeSync(StandingJson)
const writeStanding = Schema.encodeSync(StandingJson)
const readState = Schema.decodeSync(NodeStateJson)
const writeState = Schema.encodeSync(NodeStateJson)

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

/** The changed rows; each is made only when the store writes it. If the id of a node was reused, the earlier node leaves a tombstone. */
const rowsOf = (before: Snapshot, difference: Difference): Iterable<NodeRow> =>
  difference.nodes.length === 0 ? [] : { [Symbol.iterator]: () => makeRows(before, difference) }

const isOfNodes = (fact: EventFact): fact is Fact => !isCostFact(fact)

/** The changed part of the account's row. A sink that starts with a baseline waits until the row has the time of a sweep. */
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
  /** The account's trouble according to its last owner: JSON, or null. */
  readonly condition: string | null
  /** The cost of the account's nodes. It changes with the nodes and the prices. */
  readonly spend: WatchedSpend
}

const noAlerts: AlertRules = { budget: null, forgottenMillis: null, leases: new Map() }

/** A difference of the nodes, and its effect on spending. */
interface WithSpend {
  readonly difference: Difference
  readonly spend: SpendChange
  readonly facts: ReadonlyArray<EventFact>
  /** The sweep interval of the rules. */
  readonly sweepMillis: number
}

type DeletedFact = Extract<EventFact, { readonly type: "berth.node.deleted" }>

const isDeleted = (fact: EventFact): fact is DeletedFact => fact.type === "berth.node.deleted"

const deletionOf = ({ data: { before, observedBetween } }: DeletedFact): Deletion => {
  const [fromMillis, toMillis] = observedBetween.map(DateTime.toEpochMillis) as [number, number]
  return { before, fromMillis, toMillis }
}

/** The same facts, with the causes of deletions. */
const withCauses = Effect.fnUntraced(function* (facts: ReadonlyArray<EventFact>, explain: Explain) {
  const deleted = facts.filter(isDeleted)
  if (deleted.length === 0) return facts
  // If the daemon is stopped before that, the next one finds the deletion again.
  const causes = yield* Effect.interruptible(explain(deleted.map(deletionOf)))
  const causeOf = new Map<EventFact, Explained>(deleted.map((fact, at) => [fact, causes[at]!]))
  return facts.map((fact) => (isDeleted(fact) ? { ...fact, data: { ...fact.data, ...causeOf.get(fact) } } : fact))
})

/** Takes over the account from its last owner, and loads it. The process owns the account until the scope closes. */
export const openAccount = Effect.fnUntraced(function* (options: WatchedAccountOptions) {
  const { explain } = options
  const store = yield* Store
  const { known, owner } = yield* Effect.acquireRelease(store.claim(options.name), ({ owner }) => store.release(owner))
  const rows = yield* Stream.runCollect(store.nodes(options.name))
  const durable = {
    nodes: rows.map(({ body }) => readState(body)),
    standing: known.standing === null ? unwatched.standing : readStanding(known.standing)
  }
  const { applying, snapshot } = makeSnapshot(durable, options)
  const money = yield* openSpend(options.name, options.alertRules ?? (() => noAlerts))
  const account = yield* makeAccount({
    owner,
    mailbox: money.mailbox,
    belief: {
      diff: ({ observation, rules }: { readonly observation: Observation; readonly rules: Rules }): WithSpend => {
        const difference = diff(snapshot, observation, rules, money.planNames())
        const spend = money.nodes(snapshot, difference, observation, rules)
        const facts = spend.facts.length === 0 ? difference.facts : [...difference.facts, ...spend.facts]
        return { difference, spend, facts, sweepMillis: rules.sweepMillis }
      },
      ...(explain && {
        complete: (found: WithSpend) => Effect.map(withCauses(found.facts, explain), (facts) => ({ ...found, facts }))
      }),
      durable: ({ difference, spend, sweepMillis }: WithSpend) => ({
        nodes: rowsOf(snapshot, difference),
        ...accountOf(snapshot.standing, difference.standing, sweepMillis),
        ...spend.durable
      }),
      apply: ({ difference, spend }) => {
        money.apply(spend)
        return applying(difference)
      }
    }
  })
  const watched: OwnAccount = {
    owner,
    condition: known.condition,
    snapshot,
    spend: money,
    observe: (observation, rules) =>
      Effect.map(account.observe({ observation, rules }), (facts) => facts.filter(isOfNodes))
  }
  return watched
})
