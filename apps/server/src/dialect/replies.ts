/** Replies about nodes in the dialect of their world, documented or today's, for faults that answer instead of the service. */
import { succeed } from "@berthkit/core/api/Envelope"
import { prefix } from "@berthkit/core/api/Routes"
import { HttpServerResponse } from "effect/http"
import type { Reply } from "../http/Exchange.ts"
import { failureResponse } from "../http/failures.ts"
import { createdNode, listedNode, nodeAttributes } from "../http/records.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import type { World } from "../world/World.ts"
import { madeReply } from "./creation.ts"
import { succeeded } from "./envelope.ts"
import { asToday, noNode } from "./failures.ts"
import { pageReply } from "./nodes.ts"
import { attributesToday } from "./records.ts"

/** The status of a create that made a node. */
export const createdStatus = ({ settings }: World): number => (settings.today === undefined ? 202 : 200)

export const nodeReply = (world: World, node: NodeRecord, asOf: number): Reply =>
  world.settings.today === undefined
    ? HttpServerResponse.jsonUnsafe(succeed(nodeAttributes(world, node, asOf)))
    : succeeded(attributesToday(world, node, asOf))

export const unknownNodeReply = ({ settings }: World, id: number): Reply =>
  settings.today === undefined ? failureResponse(404, `There is no node ${id}.`) : noNode(settings.today)

/** Translates a failure of the mock into the dialect of its world. */
export const inWordsOf = ({ settings }: World, failed: Reply): Reply =>
  settings.today === undefined ? failed : asToday(failed)

/** A reply to a create like `reply`, but about another node. */
export const createdReply = (world: World, node: NodeRecord, reply: Reply, isNested: boolean): Reply =>
  world.settings.today === undefined
    ? HttpServerResponse.setBody(
        HttpServerResponse.setHeader(reply, "location", `${prefix}/nodes/${node.id}/`),
        HttpServerResponse.jsonUnsafe(succeed(createdNode(world, node))).body
      )
    : HttpServerResponse.setBody(reply, madeReply(world, [node], isNested).body)

export const listedReply = (
  world: World,
  nodes: ReadonlyArray<NodeRecord>,
  asOf: number,
  total: number,
  size: number
): Reply =>
  world.settings.today === undefined
    ? HttpServerResponse.jsonUnsafe(succeed(nodes.map((node) => listedNode(world, node, asOf))))
    : pageReply(world, nodes, asOf, total, size)
