/**
 * Checks how SQLite finds rows for the store's frequent queries. The query plans come from the real statements on empty tables: without
 * `ANALYZE`, which nothing here runs, they do not depend on the number of rows.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentTransformer } from "effect/sql/Statement"
import { beginning } from "../../src/events/Cursor.ts"
import { defaultRetention } from "../../src/store/retention.ts"
import type { Delivery } from "../../src/store/deliveries.ts"
import { Store } from "../../src/store/Store.ts"
import { created } from "./facts.ts"
import { memoryStore as store } from "./memory.ts"

/** Tables that have a row for each node, event or delivery; the others are small. */
const isAboutMany = (step: string) => /^(?:SCAN|SEARCH) (?:node|event|delivery|dead_letter|silenced_event)\b/.test(step)

/** The steps of the query plan that a use of the store needs on those tables. */
const stepsOf = Effect.fnUntraced(function* <A, E>(use: (store: Store["Service"]) => Effect.Effect<A, E>) {
  const sql = yield* SqlClient.SqlClient
  const service = yield* Store
  yield* service.claim("a")
  const statements: Array<readonly [text: string, params: ReadonlyArray<unknown>]> = []
  yield* Effect.provideService(use(service), CurrentTransformer, (statement) =>
    Effect.sync(() => {
      statements.push(statement.compile())
      return statement
    })
  )
  const plans = yield* Effect.forEach(statements, ([text, params]) =>
    sql.unsafe<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, params)
  )
  return plans
    .flat()
    .map(({ detail }) => detail.replace(/sqlite_autoindex_\w+/, "key"))
    .filter(isAboutMany)
})

const key = { account: "a", seq: 1, node: 1 }
const delivery: Delivery = { ...key, id: "id", attempt: 1, dueMillis: 0, held: null, body: null }
const sink = "ops"

const reads = (
  title: string,
  use: (store: Store["Service"]) => Effect.Effect<unknown, unknown>,
  steps: Array<string>
) =>
  it.effect(title, () =>
    Effect.gen(function* () {
      expect(yield* stepsOf(use)).toEqual(steps)
    }).pipe(Effect.provide(store))
  )

describe("a store with many nodes and events reads no more of them than an answer takes, for", () => {
  const eventsBehind = "SEARCH event USING INDEX key (position>?)"
  reads("the events behind a cursor", ({ after }) => after(1, 9), [eventsBehind])
  reads("the last events", ({ latest }) => latest(9), [eventsBehind])
  reads("the events that a sink has not read", ({ eventsOf }) => eventsOf("a", 1, 9), [
    "SEARCH event USING INDEX key (account=? AND seq>?)"
  ])
  reads("the events of an account", ({ after }) => after(1, 9, { account: "a" }), [
    "SEARCH event USING INDEX event_by_account (account=? AND position>?)"
  ])
  const ofNode = "SEARCH event USING INDEX event_by_node (node=? AND position>?)"
  reads("the events of a node", ({ after }) => after(1, 9, { node: 1 }), [ofNode])
  reads("the events of a node of an account", ({ after }) => after(1, 9, { node: 1, account: "a" }), [ofNode])
  // The places of the first events of each type, then those events.
  const ofType = "SEARCH event USING COVERING INDEX event_by_type (type=? AND position>?)"
  const there = "SEARCH event USING INDEX key (position=?)"
  reads("the events of a type", ({ after }) => after(1, 9, { type: "berth.plan.added" }), [there, ofType])
  reads("the events of a type in an account", ({ after }) => after(1, 9, { type: "berth.plan.added", account: "a" }), [
    there,
    "SEARCH event USING COVERING INDEX event_by_account_and_type (account=? AND type=? AND position>?)"
  ])
  reads("the last events of some types", ({ latest }) => latest(9, { type: "berth.image.*" }), [there, ofType, ofType])
  // Both are the minimum of a column of an index, so the first entry of the index is the answer.
  reads("the first event that is kept", ({ firstKept }) => firstKept, [
    "SEARCH event USING COVERING INDEX key (account=?)"
  ])
  reads("the oldest event", ({ oldest }) => oldest("a"), [
    "SEARCH event USING COVERING INDEX event_by_time (account=?)"
  ])
  // The query starts from all nodes, and undoes the events since then.
  reads("the nodes at a time", ({ nodesAt }) => nodesAt(1, "a"), [
    "SEARCH event USING INDEX key (account=? AND seq=?)",
    "SEARCH event USING INDEX event_by_time (account=? AND happened_at>?)",
    "SEARCH node USING INDEX key (account=?)"
  ])
  reads("a page of nodes", ({ presentNodes }) => presentNodes("a", 9, 9), [
    "SEARCH node USING INDEX key (account=? AND id>?)"
  ])
  // The index has everything that is counted, so no body is parsed.
  reads("the numbers of nodes", ({ nodeCounts }) => nodeCounts, ["SCAN node USING INDEX node_by_status"])
  const ended = [
    "SEARCH dead_letter USING COVERING INDEX key (sink=? AND id=?)",
    "SEARCH dead_letter USING INDEX dead_letter_by_end (died_at<?)",
    "SEARCH node USING COVERING INDEX key (account=? AND id=?)",
    "SEARCH node USING INDEX node_by_end (gone_at<?)",
    "SEARCH silenced_event USING COVERING INDEX silenced_event_by_outcome (outcome=? AND silence=?)"
  ]
  const firsts = [
    "SEARCH event USING COVERING INDEX key (account=?)",
    "SEARCH event USING COVERING INDEX event_by_time (account=?)"
  ]
  reads("whether something is too old or too much", ({ prune }) => prune(defaultRetention, [sink]), [
    ...firsts,
    ...ended
  ])
  reads(
    "what is too old or too much",
    ({ claim, commit, prune }) =>
      Effect.gen(function* () {
        const { owner } = yield* claim("a")
        yield* commit(owner, { events: [created(1, 1), created(2, 2)] })
        yield* prune({ ...defaultRetention, maxEvents: 1 }, [sink])
      }),
    [
      ...firsts,
      "SEARCH delivery USING INDEX delivery_by_node (sink=? AND account=?)",
      "SEARCH event USING COVERING INDEX key (account=? AND seq=?)",
      "SEARCH event USING COVERING INDEX key (account=? AND seq<?)",
      "SEARCH event USING COVERING INDEX key (account=? AND seq=?)",
      "SEARCH event USING INDEX event_by_time (account=? AND happened_at<?)",
      ...ended
    ]
  )
  const oneDelivery = "INDEX delivery_by_node (sink=? AND account=? AND node=? AND seq=?)"
  const ends = [
    { _tag: "Delivered", delivery },
    { _tag: "Due", delivery }
  ] as const
  reads("attempts that ended", ({ record }) => record(sink, ends, null), [
    "SEARCH delivery USING INDEX key (sink=? AND account=? AND seq=? AND node=?)",
    `SEARCH delivery USING COVERING ${oneDelivery}`
  ])
  reads("the bodies of deliveries", ({ bodiesOf }) => bodiesOf(sink, [key]), [
    `SEARCH delivery USING ${oneDelivery}`,
    "SEARCH event USING INDEX key (account=? AND seq=?) LEFT-JOIN"
  ])
  reads(
    "a sink that is put back",
    ({ claim, commit, replay, take }) =>
      Effect.gen(function* () {
        const { owner } = yield* claim("a")
        yield* commit(owner, { events: [created(1, 1)] })
        yield* take({ sink, after: null, account: "a", seq: 1, deliveries: [], dropped: [] })
        yield* replay(sink, beginning)
      }),
    [
      "SEARCH event USING INDEX event_by_account (account=? AND position>?)",
      "SEARCH delivery USING INDEX key (sink=? AND account=? AND seq>?)",
      "SEARCH event USING COVERING INDEX key (id=?)",
      "SEARCH silenced_event USING INDEX silenced_event_by_delivery (sink=? AND account=? AND seq>?)",
      "SEARCH event USING COVERING INDEX key (id=?)"
    ]
  )
  const oneSilenced =
    "silenced_event USING COVERING INDEX silenced_event_by_delivery (sink=? AND account=? AND seq=? AND node=?)"
  const silenced = {
    held: [delivery],
    events: [{ ...key, silence: "s", id: "id", outcome: "held" }]
  } as const
  reads(
    "what silences hold",
    ({ heldDeliveries, take }) =>
      Effect.andThen(
        take({ sink, after: null, account: "a", seq: 1, deliveries: [], dropped: [], silenced }),
        heldDeliveries(sink, 9, key)
      ),
    ["SEARCH delivery USING INDEX delivery_silenced (sink=? AND (account,seq,node)>(?,?,?))"]
  )
  reads("what silences held, once they are over", ({ settleHeld }) => settleHeld(sink, [delivery], [key]), [
    "SEARCH delivery USING INDEX key (sink=? AND account=? AND seq=? AND node=?)",
    `SEARCH delivery USING COVERING ${oneDelivery}`,
    `SEARCH ${oneSilenced}`,
    `SEARCH ${oneSilenced}`
  ])
  reads("the last change of a node that a silence holds", ({ heldChange }) => heldChange(sink, key), [
    "SEARCH delivery USING INDEX delivery_by_node (sink=? AND account=? AND node=?)"
  ])
  reads("how many events each silence holds", ({ silenceCounts }) => silenceCounts, [
    "SEARCH silenced_event USING COVERING INDEX silenced_event_by_outcome (outcome=?)"
  ])
  reads("the events that a silence covered", ({ after }) => after(1, 9, { silence: "s" }), [
    "SEARCH event USING INDEX key (account=? AND seq=?)",
    "SEARCH silenced_event USING COVERING INDEX key (silence=?)"
  ])
})
