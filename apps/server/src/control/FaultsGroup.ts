/** The armed faults of a world: list, replace or disarm them. `injection/catalogue.ts` has all faults. */
import { failures } from "@berthkit/core/api/Envelope"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Fault } from "../injection/catalogue.ts"
import { worldParam } from "./fields.ts"

/**
 * An armed fault, with `seen` (how many requests it applied to) and `fired` (how often it fired). Its other fields depend on
 * the kind of fault.
 */
const ArmedFault = Schema.StructWithRest(
  Schema.Struct({
    id: Schema.String.annotate({ description: "Its id among the armed faults of the world, such as `status-1`." }),
    fault: Schema.String,
    seen: Schema.Int.annotate({ description: "Requests so far that were in its scope and time." }),
    fired: Schema.Int.annotate({ description: "How often it has fired." })
  }),
  [Schema.Record(Schema.String, Schema.Json)]
).annotate({ identifier: "ArmedFault" })

const read = HttpApiEndpoint.get("read", "/worlds/:world/faults", {
  params: worldParam,
  success: Schema.Array(ArmedFault),
  error: [failures[404]]
}).annotateMerge(OpenApi.annotations({ title: "List the armed faults" }))

const arm = HttpApiEndpoint.put("arm", "/worlds/:world/faults", {
  params: worldParam,
  payload: Schema.Array(Fault),
  success: Schema.Array(ArmedFault),
  error: [failures[400], failures[404], failures[413], failures[415], failures[422]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Arm these faults and no others",
    description: "Their counts begin at 0. An unknown name or option is 422, and nothing changes."
  })
)

const add = HttpApiEndpoint.post("add", "/worlds/:world/faults", {
  params: worldParam,
  payload: Fault,
  success: ArmedFault.pipe(HttpApiSchema.status(201)),
  error: [failures[400], failures[404], failures[413], failures[415], failures[422]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Arm one more fault",
    description: "It comes after the armed ones, which keep their counts."
  })
)

const disarmOne = HttpApiEndpoint.delete("disarmOne", "/worlds/:world/faults/:fault", {
  params: { ...worldParam, fault: Schema.String },
  success: HttpApiSchema.NoContent,
  error: [failures[404]]
}).annotateMerge(
  OpenApi.annotations({ title: "Disarm one fault", description: "By its `id`; the others keep their counts." })
)

const disarm = HttpApiEndpoint.delete("disarm", "/worlds/:world/faults", {
  params: worldParam,
  success: HttpApiSchema.NoContent,
  error: [failures[404]]
}).annotateMerge(OpenApi.annotations({ title: "Disarm all faults" }))

export class FaultsGroup extends HttpApiGroup.make("faults")
  .add(read, arm, add, disarm, disarmOne)
  .annotateMerge(OpenApi.annotations({ title: "Faults", description: "What goes wrong in a world, by name." })) {}
