/**
 * The events that sinks get: the events of the store, each with the silences that held it back, and one event for each node
 * that existed before the sink.
 */
import { Node } from "@berthkit/core/domain/Node"
import { Schema } from "effect"
import { Event, identifierOf } from "./Event.ts"

/** A silence that held an event back. */
const Silence = Schema.Struct({ id: Schema.String, reason: Schema.String }).annotate({ identifier: "Silence" })

const silenced = Schema.optionalKey(
  Schema.Array(Silence).annotate({
    description: "The silences that held the event back, if it is delivered after one of them has ended."
  })
)

/** The event for a node that existed before the sink. */
const NodeBaseline = Schema.Struct({
  specversion: Schema.Literal("1.0"),
  id: Schema.String,
  source: Schema.String.annotate({ description: "`/accounts/{name}`." }),
  type: Schema.Literal("berth.node.discovered"),
  subject: Schema.String.annotate({ description: "`nodes/{id}`." }),
  time: Schema.DateTimeUtc,
  datacontenttype: Schema.Literal("application/json"),
  data: Schema.Struct({
    before: Schema.Null,
    after: Node,
    baseline: Schema.Literal(true).annotate({
      description: "The node existed before the sink, and only this sink gets the event."
    })
  })
}).annotate({ identifier: "NodeBaseline" })

/** The common parts of all event types that are used here. */
type AnyEvent = Schema.Struct<{
  readonly type: Schema.Literal<string>
  readonly data: Schema.Struct<Schema.Struct.Fields>
}>

/** The event type with one more, optional field: the silences that held the event back. */
const afterSilence = ({ fields: { data, ...attributes } }: AnyEvent): Schema.Top =>
  Schema.Struct({ ...attributes, data: Schema.Struct({ ...data.fields, silenced }) }).annotate({
    identifier: identifierOf(attributes.type.literal)
  })

const events = Event.members as unknown as ReadonlyArray<AnyEvent>

export const Delivered: Schema.Top = Schema.Union([...events.map(afterSilence), NodeBaseline])
