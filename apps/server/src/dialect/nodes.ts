/** The get, list and delete calls of today's dialect: they translate between the wire and the world. */
import { pageSize } from "@berthkit/core/api/Routes"
import { Effect, Result } from "effect"
import { nodeIdOf } from "@berthkit/profile/operations"
import type { Reply } from "../http/Exchange.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import { deleteNode } from "../world/nodes.ts"
import { getNodeAt, nodesAt } from "../world/todaysNodes.ts"
import type { Today } from "../world/Today.ts"
import * as World from "../world/World.ts"
import type { Asked } from "./Asked.ts"
import { succeeded } from "./envelope.ts"
import { noNode, noPage, refusal } from "./failures.ts"
import { attributesToday, deletedToday, listedToday } from "./records.ts"

const nowOf = ({ exchange: { realMillis, world } }: Asked): number => World.enter(world, realMillis())

const findNode = (asked: Asked): Result.Result<NodeRecord, unknown> => {
  const { exchange, place } = asked
  return getNodeAt(exchange.world, place, nodeIdOf(exchange.request.url) ?? 0)
}

export const getReply = (asked: Asked): Effect.Effect<Reply> =>
  Effect.sync(() => {
    const now = nowOf(asked)
    const node = findNode(asked)
    return Result.isFailure(node)
      ? noNode(asked.today)
      : succeeded(attributesToday(asked.exchange.world, node.success, now))
  })

/** A paging parameter as a number: `standard` if it is absent, `undefined` if it is not a whole number from 1. */
const whole = (text: string | null, standard: number): number | undefined =>
  text === null || text === "" ? standard : /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined

export const listReply = (asked: Asked): Effect.Effect<Reply> =>
  Effect.sync(() => {
    const { exchange, place, query, today } = asked
    const now = nowOf(asked)
    const number = whole(query.get("page_no") ?? query.get("page"), 1)
    const size = whole(query.get("per_page"), pageSize.default)
    const oldestFirst = nodesAt(exchange.world, place)
    const nodes = today.order === "descending" ? oldestFirst.toReversed() : oldestFirst
    const only = onlyPageSize(today, nodes.length)
    if (only !== undefined) return pageReply(exchange.world, nodes.slice(0, only), now, nodes.length, only)
    if (number === undefined || size === undefined || size > pageSize.maximum) {
      return refusal(today, 400, { [number === undefined ? "page_no" : "per_page"]: ["A valid integer is required."] })
    }
    const skip = (number - 1) * size
    const shown = nodes.slice(skip, skip + size)
    return isNoPage(today, skip, shown) ? noPage(today) : pageReply(exchange.world, shown, now, nodes.length, size)
  })

/** The length of the page that the list shows for every page number; undefined if it follows the number. */
export const onlyPageSize = ({ paging }: Today, total: number): number | undefined =>
  paging === "ignored" ? total : paging === "cut" ? pageSize.default : undefined

/** Whether a page does not exist because it begins after the end of the list. */
export const isNoPage = ({ paging }: Today, skip: number, shown: ReadonlyArray<unknown>): boolean =>
  paging === "not-found-after-the-end" && skip > 0 && shown.length === 0

/** A page of the list, with the totals of its place unless the list is cut. */
export const pageReply = (
  world: World.World,
  nodes: ReadonlyArray<NodeRecord>,
  now: number,
  total: number,
  size: number
): Reply =>
  succeeded(
    nodes.map((node) => listedToday(world, node, now)),
    world.settings.today?.paging === "cut"
      ? {}
      : { total_count: total, total_page_number: Math.ceil(total / Math.max(1, size)) }
  )

/** `reserve_ip_required` keeps the node's address for the account. Nothing in the interface shows the address afterwards. */
export const deleteReply = (asked: Asked): Effect.Effect<Reply> =>
  Effect.sync(() => {
    const now = nowOf(asked)
    const { exchange, today } = asked
    const node = findNode(asked)
    if (Result.isFailure(node)) return noNode(today)
    return Result.isFailure(deleteNode(exchange.world, node.success.id, now))
      ? refusal(today, 412, "Node is locked")
      : succeeded(deletedToday(node.success))
  })
