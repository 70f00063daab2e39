/**
 * The silences (periods in which some events are withheld from sinks), and the events that each silence withholds from a sink.
 * `deliver/Silences.ts` decides which events silences cover.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type Delivery, type DeliveryKey, keyOf, makeDeliveryRows, type NodeKey } from "./deliveries.ts"
import type { Ownership } from "./ownership.ts"
import type { Peers } from "./peers.ts"
import { forGroups, inGroups } from "./rows.ts"
import { StoreFailed } from "./StoreFailed.ts"

/** What happens to held events when a silence ends. */
export const silenceEnds = ["deliver", "drop"] as const
export type SilenceEnd = (typeof silenceEnds)[number]

/** A silence is shown for this long after its end. */
export const silenceShownMillis = 86_400_000

/** A period in which some events are not delivered. */
export interface Silence {
  readonly id: string
  /** Patterns of node names, in which `*` matches any text. Empty: all events of the accounts. */
  readonly nodes: ReadonlyArray<string>
  /** Names of accounts. Empty: all accounts. */
  readonly accounts: ReadonlyArray<string>
  /** Names of sinks. Empty: all sinks. */
  readonly sinks: ReadonlyArray<string>
  readonly fromMillis: number
  /** When the silence ends or ended. */
  readonly untilMillis: number
  readonly reason: string
  readonly atEnd: SilenceEnd
}

/** The state of a silence. */
export const silenceStates = ["planned", "active", "over"] as const
type SilenceState = (typeof silenceStates)[number]

export const silenceState = ({ fromMillis, untilMillis }: Silence, nowMillis: number): SilenceState =>
  nowMillis >= untilMillis ? "over" : nowMillis < fromMillis ? "planned" : "active"

/** The effect of a silence on an event in a sink. `delivered`: the event was delivered later. */
export interface SilencedEvent extends DeliveryKey {
  readonly silence: string
  /** Id of the event. */
  readonly id: string
  readonly outcome: "held" | "delivered" | "dropped"
}

/**
 * A waiting delivery, with the ids of the silences that cover it. If no silence covers it, it waits because an earlier delivery
 * about the same node is covered.
 */
export interface HeldDelivery extends Delivery {
  readonly silences: ReadonlyArray<string>
}

/**
 * The numbers of events that a silence holds and has dropped. An event counts once, even if it is withheld from several sinks.
 */
export interface SilenceCount {
  readonly held: number
  readonly dropped: number
}

/** Functions that record what silences cover; they are called within a transaction. */
export const makeSilencedRows = (sql: SqlClient.SqlClient) => {
  const { isOneOf } = makeDeliveryRows(sql)

  const note = (sink: string, events: ReadonlyArray<SilencedEvent>) =>
    forGroups(
      events.map((event) => ({ sink, ...event })),
      (group) => sql`INSERT INTO silenced_event ${sql.insert(group)}
        ON CONFLICT (silence, account, seq, node, sink) DO UPDATE SET outcome = excluded.outcome`
    )

  /** Forgets held events that will not be delivered for a reason other than the silence. */
  const forgetHeld = (sink: string, keys: ReadonlyArray<DeliveryKey>) =>
    forGroups(
      keys,
      (group) => sql`DELETE FROM silenced_event
        WHERE sink = ${sink} AND outcome = 'held' AND ${isOneOf("silenced_event", group)}`
    )

  const settle = (sink: string, keys: ReadonlyArray<DeliveryKey>, outcome: "delivered" | "dropped") =>
    forGroups(
      keys,
      (group) => sql`UPDATE silenced_event SET outcome = ${outcome}
        WHERE sink = ${sink} AND ${isOneOf("silenced_event", group)}`
    )

  return { note, forgetHeld, settle }
}

export const makeSilences = (sql: SqlClient.SqlClient, { stillOwned }: Ownership, { announce }: Peers) => {
  const { drop, isOneOf } = makeDeliveryRows(sql)
  const { settle } = makeSilencedRows(sql)

  /** All stored silences, ordered by start. */
  const silences = sql<Silence & Readonly<Record<"nodes" | "accounts" | "sinks", string>>>`SELECT
      id, nodes, accounts, sinks, from_at AS "fromMillis", until_at AS "untilMillis", reason, at_end AS "atEnd"
      FROM silence ORDER BY from_at, id`.pipe(
    Effect.map((rows) =>
      rows.map(({ accounts, nodes, sinks, ...row }): Silence => ({
        ...row,
        nodes: JSON.parse(nodes),
        accounts: JSON.parse(accounts),
        sinks: JSON.parse(sinks)
      }))
    )
  )

  const addSilence = Effect.fn("Store.addSilence")(function* (silence: Silence) {
    const row = {
      id: silence.id,
      nodes: JSON.stringify(silence.nodes),
      accounts: JSON.stringify(silence.accounts),
      sinks: JSON.stringify(silence.sinks),
      from_at: silence.fromMillis,
      until_at: silence.untilMillis,
      reason: silence.reason,
      at_end: silence.atEnd
    }
    yield* sql`INSERT INTO silence ${sql.insert(row)}`
    yield* announce
  }, sql.withTransaction)

  const endSilence = Effect.fn("Store.endSilence")(function* (id: string, untilMillis: number, atEnd: SilenceEnd) {
    yield* sql`UPDATE silence SET until_at = ${untilMillis}, at_end = ${atEnd} WHERE id = ${id}`
    yield* announce
  }, sql.withTransaction)

  /** The counts by the id of the silence. Silences that hold nothing and have dropped nothing are missing. */
  const silenceCounts = sql<{ silence: string; outcome: string; events: number }>`SELECT
      silence, outcome, count(*) AS events FROM (
        SELECT DISTINCT outcome, silence, account, seq, node FROM silenced_event WHERE outcome IN ('held', 'dropped')
      ) AS of_silence GROUP BY outcome, silence`.pipe(
    Effect.map((rows): ReadonlyMap<string, SilenceCount> => {
      const counts = new Map<string, SilenceCount>()
      for (const { events, outcome, silence } of rows) {
        counts.set(silence, { held: 0, dropped: 0, ...counts.get(silence), [outcome]: events })
      }
      return counts
    })
  )

  /**
   * The waiting deliveries of a sink after the delivery `after`, in the order of their events and without their JSON. Returns
   * at most `max`.
   */
  const heldDeliveries = Effect.fn("Store.heldDeliveries")(function* (
    sink: string,
    max: number,
    after: DeliveryKey | null
  ) {
    const { account, node, seq } = after ?? { account: "", seq: 0, node: 0 }
    const rows = yield* sql<Delivery>`SELECT
      account, seq, node, id, attempt, due AS "dueMillis", held, NULL AS body FROM delivery
      WHERE sink = ${sink} AND silenced IS NOT NULL AND (account, seq, node) > (${account}, ${seq}, ${node})
      ORDER BY account, seq, node LIMIT ${max}`
    const covering = new Map<string, Array<string>>()
    for (const group of inGroups(rows)) {
      const found = yield* sql<DeliveryKey & { readonly silence: string }>`SELECT account, seq, node, silence
        FROM silenced_event WHERE sink = ${sink} AND ${isOneOf("silenced_event", group)}`
      for (const { silence, ...key } of found) covering.set(keyOf(key), [...(covering.get(keyOf(key)) ?? []), silence])
    }
    return rows.map((row): HeldDelivery => ({ ...row, silences: covering.get(keyOf(row)) ?? [] }))
  })

  /**
   * The latest change of a node's status that is held for two reasons: a silence has not ended, and the new status may
   * not last.
   */
  const heldChange = Effect.fn("Store.heldChange")(function* (sink: string, { account, node }: NodeKey) {
    const [row] = yield* sql<Delivery>`SELECT
      account, seq, node, id, attempt, due AS "dueMillis", held, body FROM delivery
      WHERE sink = ${sink} AND account = ${account} AND node = ${node} AND silenced IS NOT NULL AND held IS NOT NULL
      ORDER BY seq DESC LIMIT 1`
    return row ?? null
  })

  /**
   * Ends the wait of deliveries in one transaction. The deliveries in `handed` get their JSON and will be delivered; those in
   * `dropped` will not.
   */
  const settleHeld = Effect.fn("Store.settleHeld")(function* (
    sink: string,
    handed: ReadonlyArray<Delivery>,
    dropped: ReadonlyArray<DeliveryKey>
  ) {
    const accounts = new Set([...handed, ...dropped].map(({ account }) => account))
    if ((yield* stillOwned(accounts)).size < accounts.size) {
      return yield* new StoreFailed({ fault: "lost", detail: "another process has one of the accounts now" })
    }
    for (const { account, body, node, seq } of handed) {
      yield* sql`UPDATE delivery SET silenced = NULL, body = ${body}
        WHERE sink = ${sink} AND account = ${account} AND seq = ${seq} AND node = ${node}`
    }
    yield* drop(sink, dropped)
    yield* settle(sink, handed, "delivered")
    yield* settle(sink, dropped, "dropped")
  }, sql.withTransaction)

  /** When a person last made a sink deliver past events again; null if never. */
  const replayedAt = (sink: string) =>
    sql<{ at: number | null }>`SELECT replayed_at AS at FROM sink WHERE name = ${sink}`.pipe(
      Effect.map(([row]) => row?.at ?? null)
    )

  return { silences, addSilence, endSilence, silenceCounts, heldDeliveries, heldChange, settleHeld, replayedAt }
}
