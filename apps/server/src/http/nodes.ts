/**
 * The node endpoints of `NodesGroup`: they translate between the wire and the world, and decide nothing.
 */
import { succeed } from "@berth/core/api/Envelope"
import { pageSize, prefix } from "@berth/core/api/Routes"
import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { createNode, deleteNode, getNode, listNodes } from "../world/nodes.ts"
import { callersJson, callersWorld, withHeader } from "./Exchange.ts"
import { refusalFailure } from "./failures.ts"
import { readNodeOrder } from "./nodeOrder.ts"
import { createdNode, listedNode, nodeAttributes } from "./records.ts"
import { ServedApi } from "./query.ts"

const create = Effect.fnUntraced(function* () {
  const body = yield* callersJson
  const { now, world } = yield* callersWorld
  const made = Result.flatMap(readNodeOrder(world, body), (order) => createNode(world, order, now))
  const node = yield* Effect.mapError(Effect.fromResult(made), (refusal) => refusalFailure(refusal))
  // The path of the new node (A13).
  yield* withHeader("location", `${prefix}/nodes/${node.id}/`)
  return succeed(createdNode(world, node))
})

export const layer = HttpApiBuilder.group(ServedApi, "nodes", (handlers) =>
  handlers
    .handleRaw("create", create)
    .handle("get", ({ params }) =>
      Effect.flatMap(callersWorld, ({ now, world }) =>
        Effect.fromResult(
          Result.mapBoth(getNode(world, params.node_id), {
            onFailure: (refusal) => refusalFailure(refusal),
            onSuccess: (node) => succeed(nodeAttributes(world, node, now))
          })
        )
      )
    )
    .handle("list", ({ query }) =>
      Effect.map(callersWorld, ({ now, world }) =>
        succeed(
          listNodes(world, query.page_no ?? query.page ?? 1, query.per_page ?? pageSize.default).map((node) =>
            listedNode(world, node, now)
          )
        )
      )
    )
    .handle("delete", ({ params }) =>
      Effect.flatMap(callersWorld, ({ now, world }) => {
        const deleted = deleteNode(world, params.node_id, now)
        if (Result.isFailure(deleted)) return Effect.fail(refusalFailure(deleted.failure))
        // The response itself: to the schemas, which are tried in order, an envelope is as good as no content.
        if (world.settings.deleteStyle === "enveloped") {
          return Effect.succeed(HttpServerResponse.jsonUnsafe(succeed({})))
        }
        // HTTP forbids a body here; the media type stays as documented (A12).
        return withHeader("content-type", "application/octet-stream")
      })
    )
)
