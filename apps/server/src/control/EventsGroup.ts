/** A live stream of all journals: one event for each request, and one for the end of each world. */
import { failures } from "@berthkit/core/api/Envelope"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

const watch = HttpApiEndpoint.get("watch", "/events", {
  query: { world: Schema.optional(Schema.String).annotate({ description: "Only requests to this world." }) },
  headers: { "last-event-id": Schema.optional(Schema.String) },
  success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" })),
  error: [failures[400], failures[404], failures[503]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Watch the requests",
    description:
      "Server-sent events: `request`, whose data is an entry of the journal with its `world`, and `world-ended` with `world` " +
      "and `reason`, after which a stream of that world ends. With `Last-Event-ID`, a stream begins with the later events that " +
      "the journals still have; a stream of all worlds has at most the latest 1000 of them."
  })
)

export class EventsGroup extends HttpApiGroup.make("events")
  .add(watch)
  .annotateMerge(OpenApi.annotations({ title: "Events", description: "Requests as they are answered." })) {}
