/**
 * The events as they are published: CloudEvents 1.0 in JSON. Their types and data are those of the facts of `diff/`.
 */
import { DateTime, Schema } from "effect"
import {
  type Fact,
  NodeChanged,
  NodeCreated,
  NodeDeleted,
  NodeDiscovered,
  NodeStatusChanged,
  NodeStuck,
  NodeUnstuck,
  WatchBaseline,
  WatchDegraded,
  WatchRecovered
} from "../diff/Fact.ts"
import { type DaemonFact, SinkDisabled } from "./DaemonFact.ts"
import { type EventIdentity, eventId } from "./eventId.ts"

/** Digits of `sequence`: as text, sequences sort the way the numbers do. */
const sequenceDigits = 16

/** The attributes every event has. `id` is the same on every replay. */
const attributes = {
  specversion: Schema.Literal("1.0"),
  id: Schema.String,
  source: Schema.String.annotate({ description: "`/accounts/{name}`." }),
  sequence: Schema.String.annotate({ description: "Place in the order of events, zero-padded." }),
  time: Schema.DateTimeUtc.annotate({ description: "When it was known: the end of `observedBetween`." }),
  datacontenttype: Schema.Literal("application/json")
}

/** The event of a fact. Its name in a JSON Schema is the fact's. */
const eventOf = <Fields extends Schema.Struct.Fields>(identifier: string, { fields }: Schema.Struct<Fields>) =>
  Schema.Struct({ ...attributes, ...fields }).annotate({ identifier })

export const Event = Schema.Union([
  eventOf("NodeCreated", NodeCreated),
  eventOf("NodeDiscovered", NodeDiscovered),
  eventOf("NodeStatusChanged", NodeStatusChanged),
  eventOf("NodeChanged", NodeChanged),
  eventOf("NodeDeleted", NodeDeleted),
  eventOf("NodeStuck", NodeStuck),
  eventOf("NodeUnstuck", NodeUnstuck),
  eventOf("WatchBaseline", WatchBaseline),
  eventOf("WatchDegraded", WatchDegraded),
  eventOf("WatchRecovered", WatchRecovered),
  eventOf("SinkDisabled", SinkDisabled)
])
export type Event = typeof Event.Type

/** What an event is made of: a fact about an account, or of the daemon itself. */
export type EventFact = Fact | (DaemonFact & { readonly identity: EventIdentity; readonly atMillis: number })

/** `sequence` as events and cursors in URLs show it. */
export const sequenceText = (sequence: number): string => String(sequence).padStart(sequenceDigits, "0")

export const sourceOf = (account: string): string => `/accounts/${encodeURIComponent(account)}`

/**
 * The event of `fact` about an account, number `sequence` in the order of its events. `accountId` is what the store calls the
 * account in ids; without a store its name has to do.
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
