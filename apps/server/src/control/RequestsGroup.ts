/** The journal of a world: read it, clear it, or compare it with expected calls. */
import { failures } from "@berthkit/core/api/Envelope"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { operations } from "@berthkit/profile/operations"
import { catalogue } from "../injection/catalogue.ts"
import { maxEntries } from "../journal/Journals.ts"
import { JournalEntry } from "../journal/JournalEntry.ts"
import { Expectation, Method } from "../journal/ExpectedCall.ts"
import { Verdict } from "../journal/verify.ts"
import { WorldEnd, worldParam } from "./fields.ts"

const JournalPage = Schema.Struct({
  world: Schema.String,
  seed: Schema.Int,
  ended: Schema.optionalKey(WorldEnd).annotate({ description: "Only for a world that has ended." }),
  count: Schema.Int.annotate({ description: "Entries of the journal so far, including those no longer kept." }),
  requests: Schema.Array(JournalEntry),
  next: Schema.Int.annotate({ description: "The `after` of the next read." }),
  more: Schema.Boolean.annotate({ description: "Whether more entries exist already." }),
  dropped: Schema.Int.annotate({
    description: "Requests after `after`, or from the first, that are no longer kept: a slow reader missed them."
  })
}).annotate({ identifier: "JournalPage" })

const read = HttpApiEndpoint.get("read", "/worlds/:world/requests", {
  params: worldParam,
  query: {
    operation: Schema.optional(Schema.Literals(operations)),
    method: Schema.optional(Method),
    status: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 }))),
    fault: Schema.optional(Schema.Literals(catalogue.map(({ name }) => name))).annotate({
      description: "Only requests at which this fault fired."
    }),
    after: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))).annotate({
      description: "Only requests with a greater `seq`; 0 begins with the first that is kept."
    }),
    limit: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxEntries }))).annotate({
      description: "Maximum number: with `after` the first entries, otherwise the last."
    })
  },
  success: JournalPage,
  error: [failures[400], failures[404], failures[422]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Read the journal",
    description: `The latest ${maxEntries} entries that match the filters, oldest first. A reset and a restored snapshot are entries too.`
  })
)

/** A world that has ended. Its journal is found by its id. */
const EndedWorld = Schema.Struct({
  id: Schema.String,
  seed: Schema.Int,
  ended: WorldEnd,
  count: Schema.Int.annotate({ description: "Requests to the world, including those no longer kept." })
}).annotate({ identifier: "EndedWorld" })

const listEnded = HttpApiEndpoint.get("listEnded", "/ended-worlds", {
  success: Schema.Array(EndedWorld)
}).annotateMerge(
  OpenApi.annotations({
    title: "List the ended worlds",
    description: "Ended worlds whose journals are kept, in the order in which they ended."
  })
)

const har = HttpApiEndpoint.get("har", "/worlds/:world/requests.har", {
  params: worldParam,
  success: Schema.Json,
  error: [failures[404]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Read the journal as an HTTP Archive",
    description: "HAR 1.2 without credentials, for viewers that read it."
  })
)

const forget = HttpApiEndpoint.delete("forget", "/worlds/:world/requests", {
  params: worldParam,
  success: HttpApiSchema.NoContent,
  error: [failures[404]]
}).annotateMerge(OpenApi.annotations({ title: "Clear the journal" }))

const verify = HttpApiEndpoint.post("verify", "/worlds/:world/requests/verify", {
  params: worldParam,
  payload: Expectation,
  success: Verdict,
  error: [failures[400], failures[404], failures[413], failures[415], failures[422]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Compare the journal with what was expected",
    description: "`ok`, or the missing and the surplus calls, with the nearest requests."
  })
)

export class RequestsGroup extends HttpApiGroup.make("requests")
  .add(read, listEnded, har, forget, verify)
  .annotateMerge(OpenApi.annotations({ title: "Requests", description: "The requests to a world." })) {}
