/**
 * The journals of all worlds as they are written: one event for each request.
 */
import { failures } from "@berth/core/api/Envelope"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

const watch = HttpApiEndpoint.get("watch", "/events", {
  query: { world: Schema.optional(Schema.String).annotate({ description: "Only requests to this world." }) },
  headers: { "last-event-id": Schema.optional(Schema.String) },
  success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" })),
  error: [failures[400], failures[404]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Watch the requests",
    description:
      "Server-sent events named `request`, whose data is an entry of the journal with its `world`. With `Last-Event-ID` the " +
      "requests since then come first, as far as the journals go."
  })
)

export class EventsGroup extends HttpApiGroup.make("events")
  .add(watch)
  .annotateMerge(OpenApi.annotations({ title: "Events", description: "Requests as they are answered." })) {}
