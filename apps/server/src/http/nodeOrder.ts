/**
 * Reads the body of a create into an order for a node: wire names and types are checked here, what they mean in
 * `world/nodeOrder.ts`, and the problems of both are reported together.
 */
import { NodeCreation } from "@berth/core/api/NodeRecords"
import { Predicate, Result } from "effect"
import { readFields } from "../transport/fields.ts"
import { checkOrder, type NodeDraft, type NodeOrder } from "../world/nodeOrder.ts"
import { type Invalid, invalid } from "../world/Refusal.ts"
import type { World } from "../world/World.ts"
import { onWire } from "./failures.ts"

const read = readFields(NodeCreation)

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

export const readNodeOrder = (world: World, body: unknown): Result.Result<NodeOrder, Invalid> => {
  const { errors, raw } = read(Predicate.isObject(body) ? withoutFalseSku(body) : body)
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
  // What is wrong with the type of a field comes before what is wrong with its value.
  const all = { ...problems, ...errors }
  return Object.keys(all).length === 0 ? order : Result.fail(invalid(all))
}
