/**
 * The node endpoints: create, get, list, delete (interface.md §4).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authorization } from "./Authorization.ts"
import { describe } from "./Document.ts"
import { Empty, failures, success } from "./Envelope.ts"
import * as examples from "./Examples.ts"
import { CreatedNode, ListedNode, NodeAttributes, NodeCreation } from "./NodeRecords.ts"
import { chosen, documented, observed } from "./Stated.ts"
import { pageSize, routes } from "./Routes.ts"

const pageNumber = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

const nodeId = {
  node_id: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).annotate(
    documented("4 note 2", "The integer id of a node.")
  )
}

const create = HttpApiEndpoint.post("create", routes.nodes.create.path, {
  payload: NodeCreation,
  success: success(CreatedNode)
    .annotate({ identifier: "NodeAccepted", ...documented("4", "The new node.") })
    .pipe(HttpApiSchema.status(202)),
  error: [failures[409], failures[415], failures[422]]
}).annotateMerge(
  describe({
    summary: "Create a node",
    ...documented("4", "Accepts the node; its creation completes after the reply."),
    example: examples.createNode
  })
)

const get = HttpApiEndpoint.get("get", routes.nodes.get.path, {
  params: nodeId,
  success: success(NodeAttributes).annotate({
    identifier: "NodeFound",
    ...documented("4", "The attributes of the node.")
  }),
  error: [failures[404]]
}).annotateMerge(
  describe({ summary: "Get a node", ...documented("4", "One node by its id."), example: examples.oneNode })
)

const list = HttpApiEndpoint.get("list", routes.nodes.list.path, {
  query: {
    page_no: Schema.optional(pageNumber).annotate(chosen(7, "Page, from 1; default 1.")),
    page: Schema.optional(pageNumber).annotate(
      documented("4 note 1", "An alias of `page_no`, which takes precedence.")
    ),
    per_page: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: pageSize.maximum }))).annotate(
      chosen(7, `Nodes per page, 1 to ${pageSize.maximum}; default ${pageSize.default}.`)
    )
  },
  success: success(Schema.Array(ListedNode)).annotate({
    identifier: "NodePage",
    ...documented("4", "The nodes of the page.")
  }),
  error: [failures[422]]
}).annotateMerge(
  describe({
    summary: "List nodes",
    ...chosen(7, "One page of the account's nodes, ascending by id; past the end an empty array."),
    example: examples.listNodes
  })
)

const remove = HttpApiEndpoint.delete("delete", routes.nodes.delete.path, {
  params: nodeId,
  success: [
    HttpApiSchema.NoContent.annotate(
      chosen(12, "The node is being terminated. HTTP forbids the documented body here; its content type stays.")
    ),
    success(Empty)
      .annotate({ identifier: "NodeDeleted", ...observed(12, "The envelope with empty `data`.") })
      .pipe(HttpApiSchema.status(200))
  ],
  error: [failures[404], failures[409]]
}).annotateMerge(
  describe({
    summary: "Delete a node",
    ...chosen(
      11,
      "The node becomes `terminate` and is gone when termination ends; another delete before that is 204 again."
    ),
    example: examples.oneNode
  })
)

export class NodesGroup extends HttpApiGroup.make("nodes")
  .add(create, get, list, remove)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Nodes", description: "Virtual machines of the account." })) {}
