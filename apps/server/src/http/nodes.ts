/** The node endpoints of `NodesGroup`: they translate between the wire and the world, and contain no rules. */
import { succeed } from "@berthkit/core/api/Envelope"
import { NodeCreation } from "@berthkit/core/api/NodeRecords"
import { pageSize, prefix } from "@berthkit/core/api/Routes"
import { Effect, Predicate, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { readFields } from "@berthkit/core/api/readFields"
import {
  checkOrder,
  createNode,
  deleteNode,
  getNode,
  listNodes,
  type NodeDraft,
  type NodeOrder
} from "../world/nodes.ts"
import { type Invalid, invalid } from "../world/Refusal.ts"
import type { World } from "../world/World.ts"
import { callersJson, callersWorld, withHeader } from "./Exchange.ts"
import { onWire, refusalFailure } from "./failures.ts"
import { createdNode, listedNode, nodeAttributes } from "./records.ts"
import { ServedApi } from "./query.ts"

const readCreation = readFields(NodeCreation)

const wireNames: { readonly [field in keyof NodeDraft]?: string } = {
  isSavedImage: "is_saved_image",
  templateId: "saved_image_template_id",
  skuId: "cn_id"
}

/** `cn_id` is documented with the default FALSE (interface.md §2.2), so `false` means the same as 0 and as an absent field. */
const withoutFalseSku = (body: object): unknown => {
  if (!("cn_id" in body) || body.cn_id !== false) return body
  const { cn_id: _, ...rest } = body
  return rest
}

const ifString = (value: unknown): string | undefined => (Predicate.isString(value) ? value : undefined)
const ifNumber = (value: unknown): number | undefined => (Predicate.isNumber(value) ? value : undefined)
const ifBoolean = (value: unknown): boolean | undefined => (Predicate.isBoolean(value) ? value : undefined)

/**
 * Parses the body of a create. This function checks the names and types of fields, the world checks their values, and all
 * problems are reported together.
 */
export const readNodeOrder = (world: World, body: unknown): Result.Result<NodeOrder, Invalid> => {
  const { errors, raw } = readCreation(Predicate.isObject(body) ? withoutFalseSku(body) : body)
  if (!Predicate.isObject(body)) return Result.fail(invalid(errors))
  const order = checkOrder(world, {
    name: ifString(raw["name"]),
    region: ifString(raw["region"]),
    plan: ifString(raw["plan"]),
    image: ifString(raw["image"]) ?? ifNumber(raw["image"]),
    isSavedImage: ifBoolean(raw["is_saved_image"]),
    templateId: ifNumber(raw["saved_image_template_id"]),
    backups: ifBoolean(raw["backups"]),
    skuId: ifNumber(raw["cn_id"])
  })
  const problems = Result.isFailure(order) ? onWire(order.failure.problems, wireNames) : {}
  // If a field's type is wrong, report only that, and not the world's objection to its value.
  const all = { ...problems, ...errors }
  return Object.keys(all).length === 0 ? order : Result.fail(invalid(all))
}

const create = Effect.fnUntraced(function* () {
  const body = yield* callersJson
  const { now, world } = yield* callersWorld
  const made = Result.flatMap(readNodeOrder(world, body), (order) => createNode(world, order, now))
  const node = yield* Effect.mapError(Effect.fromResult(made), (refusal) => refusalFailure(refusal))
  // The path of the new node (assumption A13 in docs/interface/assumptions.md).
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
        // A finished response, because effect tries the schemas of the reply in order, and the schema for an empty body
        // would also accept an envelope.
        if (world.settings.deleteStyle === "enveloped") {
          return Effect.succeed(HttpServerResponse.jsonUnsafe(succeed({})))
        }
        // The reply has the documented media type (A12), although HTTP forbids a body here.
        return withHeader("content-type", "application/octet-stream")
      })
    )
)
