/** The nodes of a world for the control plane: list them without spending allowance, and force their status or lock. */
import { failures } from "@berthkit/core/api/Envelope"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { forcedStatuses } from "../lifecycle/NodeLife.ts"
import { otherStatuses } from "../world/Today.ts"
import { Instant, worldParam } from "./fields.ts"

const nodeParams = { ...worldParam, id: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)) }

/** The current state of a node. The status `gone` appears only in the reply to a change that has ended the node. */
export const NodeView = Schema.Struct({
  id: Schema.Int,
  name: Schema.String,
  status: Schema.Literals([...forcedStatuses, "terminate", "gone"]),
  locked: Schema.Boolean,
  /** Whether a test has forced the status. */
  forced: Schema.Boolean,
  plan: Schema.String,
  createdAt: Instant,
  /** The project, only in a world of today's dialect. The same holds for `location`. */
  project: Schema.optionalKey(Schema.Int),
  location: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "NodeView" })

/** A change of a node. An absent field changes nothing. With a status of `null`, the lifecycle decides again. */
export const NodeChange = Schema.Struct({
  status: Schema.optionalKey(
    Schema.NullOr(Schema.Literals([...forcedStatuses, "terminate"])).annotate({
      description:
        "Stays until the node terminates. `terminate` deletes it, locked or not; null leaves it to the lifecycle."
    })
  ),
  locked: Schema.optionalKey(Schema.Boolean).annotate({ description: "A locked node cannot be deleted by a request." }),
  shows: Schema.optionalKey(Schema.NullOr(Schema.Literals(otherStatuses))).annotate({
    description:
      "Only with the dialect today: a status that no request leads to, shown until the node terminates; null shows its own again."
  })
}).annotate({ identifier: "NodeChange" })

const maxNodes = 1000

const list = HttpApiEndpoint.get("list", "/worlds/:world/nodes", {
  params: worldParam,
  query: {
    skip: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
    count: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxNodes })))
  },
  success: Schema.Array(NodeView),
  error: [failures[400], failures[404], failures[422]]
}).annotateMerge(
  OpenApi.annotations({ title: "List the nodes", description: "By ascending id; 100 unless `count` is given." })
)

const change = HttpApiEndpoint.patch("change", "/worlds/:world/nodes/:id", {
  params: nodeParams,
  payload: NodeChange,
  success: NodeView,
  error: [failures[400], failures[404], failures[413], failures[415], failures[422]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Force a status or a lock",
    description:
      "A forced status stays until the node terminates. `terminate` deletes the node, locked or not; any other status undoes that."
  })
)

export class NodesGroup extends HttpApiGroup.make("nodes")
  .add(list, change)
  .annotateMerge(OpenApi.annotations({ title: "Nodes", description: "The nodes of a world." })) {}
