/**
 * Published events: CloudEvents 1.0 in JSON. An event has the same id each time it is made. Types and data come from the facts
 * of `diff/`. The events with which a new sink starts are here as well.
 */
import { createHash } from "node:crypto"
import { DateTime, Schema } from "effect"
import { type AllowanceFact, catalogueFacts, type EntryFact } from "../diff/CatalogueFact.ts"
import { type Fact, facts, type Identity, type Known } from "../diff/Fact.ts"
import { type CostFact, costFacts } from "../spend/CostFact.ts"
import { type DaemonFact, daemonFacts } from "./DaemonFact.ts"

/** Digits of `sequence`, padded so that strings sort like numbers. */
const sequenceDigits = 16

/** The attributes of every event. `id` is the same on every replay. */
const attributes = {
  specversion: Schema.Literal("1.0"),
  id: Schema.String,
  source: Schema.String.annotate({ description: "`/accounts/{name}`." }),
  sequence: Schema.String.annotate({ description: "Position in the order of events, zero-padded." }),
  time: Schema.DateTimeUtc.annotate({ description: "When it was known: the end of `observedBetween`." }),
  datacontenttype: Schema.Literal("application/json")
}

/** All reported facts. Each fact states its event type, subject and data. */
const reported = [...facts, ...catalogueFacts, ...costFacts, ...daemonFacts] as const

type EventOf<F> = F extends Schema.Struct<infer Fields> ? Schema.Struct<typeof attributes & Fields> : never

/** Every type of event. */
export const eventTypes: ReadonlyArray<string> = reported.map(({ fields }) => fields.type.literal)

/** The name of a type in a JSON Schema: `berth.node.status_changed` is `NodeStatusChanged`. */
export const identifierOf = (type: string): string =>
  type.replace(/^berth/, "").replace(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase())

export const Event = Schema.Union(
  reported.map(({ fields }) =>
    Schema.Struct({ ...attributes, ...fields }).annotate({ identifier: identifierOf(fields.type.literal) })
  ) as unknown as { readonly [Index in keyof typeof reported]: EventOf<(typeof reported)[Index]> }
)
export type Event = typeof Event.Type

/** 128 bits in hexadecimal digits. */
export const hashOf = (identity: ReadonlyArray<unknown>): string =>
  createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 32)

/**
 * The id of an event: a hash of its subject only, so that every replay and every process computes the same id. `accountId` is
 * unique to the account in all stores, because a name may be reused for another account.
 */
export const eventId = (
  accountId: string,
  type: string,
  { incarnation, life, nodeId, version }: Identity<number | string>
): string => hashOf([accountId, nodeId, incarnation, life, type, version])

/** The content of an event: a fact about an account, or about the daemon itself. */
export type EventFact = Fact | EntryFact | AllowanceFact | CostFact | (DaemonFact & Known<number | string>)

/** `sequence`, as events and cursors in URLs show it. */
const sequenceText = (sequence: number): string => String(sequence).padStart(sequenceDigits, "0")

export const sourceOf = (account: string): string => `/accounts/${encodeURIComponent(account)}`

/**
 * The event of a fact about an account. `sequence` is its number in the order of the account's events. `accountId` is the
 * store's id of the account; without a store, the account's name.
 */
export const toEvent = (
  { atMillis, identity, ...content }: EventFact,
  account: string,
  sequence: number,
  accountId = account
): Event => ({
  specversion: "1.0",
  id: eventId(accountId, content.type, identity),
  source: sourceOf(account),
  sequence: sequenceText(sequence),
  time: DateTime.makeUnsafe(atMillis),
  datacontenttype: "application/json",
  ...content
})

/** The JSON of an event: the bytes that every sink gets. */
export const toJson = Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(Event)))

/** One event as one line of NDJSON, with its line feed. */
export const toLine = (event: Event): string => `${toJson(event)}\n`

interface SinkBaseline {
  readonly sink: string
  readonly account: string
  readonly accountId: string
  /** The sequence of the account's last event before this one; the sink's cursor starts there. */
  readonly seq: number
  readonly nodeId: number
  /** The node as JSON. */
  readonly record: unknown
  readonly atMillis: number
}

/**
 * The event that tells a new sink about an existing node. It is made for this sink only, so it has no place in the order of the
 * account's events. Its id is the same on every attempt.
 */
export const sinkBaseline = ({
  account,
  accountId,
  atMillis,
  nodeId,
  record,
  seq,
  sink
}: SinkBaseline): { readonly id: string; readonly body: string } => {
  const id = hashOf([accountId, "baseline", sink, seq, nodeId])
  const body = JSON.stringify({
    specversion: "1.0",
    id,
    source: sourceOf(account),
    type: "berth.node.discovered",
    subject: `nodes/${nodeId}`,
    time: new Date(atMillis).toISOString(),
    datacontenttype: "application/json",
    data: { before: null, after: record, baseline: true }
  })
  return { id, body }
}
