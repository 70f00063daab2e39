/**
 * Semantic faults about which nodes exist: well-formed but false replies, replies from the world's past, or changes of the
 * world that the reply does not show.
 */
import { createdReply, createdStatus, inWordsOf, nodeReply, unknownNodeReply } from "../dialect/replies.ts"
import type { Reply } from "../http/Exchange.ts"
import { failureResponse } from "../http/failures.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import { phase, put, type World } from "../world/World.ts"
import { integer } from "../faults/Fault.ts"
import { nodeIdOf } from "@berthkit/profile/operations"
import { duration, faultKind, millis } from "./FaultKind.ts"
import { isNested, recordsOf, successOf, withBodyOf } from "./replyBody.ts"

/** These faults fire only at creates, and their triggers count only creates. */
const only = ["nodes.create"] as const

/** The id of the new node, from the reply to a create. */
const madeId = (world: World, reply: Reply): number | undefined => {
  const envelope = reply.status === createdStatus(world) ? successOf(reply) : undefined
  const id = envelope === undefined ? undefined : recordsOf(envelope)[0]?.["id"]
  return typeof id === "number" ? id : undefined
}

const madeNode = (world: World, reply: Reply): NodeRecord | undefined => {
  const id = madeId(world, reply)
  return id === undefined ? undefined : world.nodes.get(id)
}

const asOf = (age: string | undefined, now: number): number => now - millis(age ?? "10 seconds")

/**
 * A reply with the node as it was at an earlier instant, even if it is gone by now; a 404 if it did not exist at that
 * instant.
 */
const pastNode = (world: World, id: number, asOf: number): Reply | undefined => {
  const node = world.nodes.get(id) ?? world.gone.findLast((gone) => gone.id === id)
  if (node === undefined) return undefined
  if (node.createdAt > asOf || phase(world, node, asOf) === "gone") return unknownNodeReply(world, id)
  return nodeReply(world, node, asOf)
}

export const nodeFaults = [
  faultKind({
    name: "create-lost-reply",
    summary: "Creates the node, then resets the connection: the reply of the create is lost.",
    only,
    steps: (_, { world }) => ({
      wire: (served) => (served !== undefined && madeId(world, served) !== undefined ? { _tag: "Reset" } : undefined)
    })
  }),
  faultKind({
    name: "create-false-negative",
    summary: "Creates the node, but replies with a failure.",
    options: { status: integer(400, 599, "Its status, 400 to 599; default 500.") },
    only,
    steps: ({ fault: { status = 500 } }, { world }) => ({
      reply: (reply) =>
        madeNode(world, reply) === undefined
          ? undefined
          : withBodyOf(reply, inWordsOf(world, failureResponse(status, "The node could not be created.")))
    })
  }),
  faultKind({
    name: "duplicate-create",
    summary: "Creates two nodes and answers with the first. Both stay.",
    only,
    steps: (_, { world }) => ({
      worldChange: (reply) => {
        const node = madeNode(world, reply)
        if (node === undefined) return undefined
        put(world, { ...node, id: world.nodes.nextId })
        return reply
      }
    })
  }),
  faultKind({
    name: "id-reuse",
    summary: "A new node gets, and keeps, the id of the node that disappeared last.",
    only,
    steps: (_, { world }) => ({
      worldChange: (reply) => {
        const node = madeNode(world, reply)
        const id = world.gone.findLast((gone) => world.nodes.get(gone.id) === undefined)?.id
        if (node === undefined || id === undefined) return undefined
        const renamed = { ...node, id }
        world.nodes.remove(node.id)
        world.nodes.restore(renamed)
        put(world, renamed)
        return createdReply(world, renamed, reply, isNested(successOf(reply) ?? {}))
      }
    })
  }),
  faultKind({
    name: "stuck-provisioning",
    summary: "A new node stays in created indefinitely, even after the fault is disarmed.",
    only,
    steps: (_, { world }) => ({
      worldChange: (reply) => {
        const node = madeNode(world, reply)
        if (node === undefined || node.forced === "created") return undefined
        put(world, { ...node, forced: "created" })
        return reply
      }
    })
  }),
  faultKind({
    name: "list-stale",
    summary: "The list shows the nodes of an earlier instant.",
    options: { age: duration("How old, in the world's time; default 10 seconds.") },
    only: ["nodes.list"],
    steps: ({ fault: { age } }, { world }) => ({
      list: (view) => ({ ...view, asOf: Math.min(view.asOf, asOf(age, world.latest)) })
    })
  }),
  faultKind({
    name: "list-shifts",
    summary: "All nodes move up the list from one page to the next, and the first ones to its end.",
    options: {
      by: integer(-1000, 1000, "Places towards the front each time, negative towards the end; default 1.")
    },
    only: ["nodes.list"],
    // Counts requests (`seen`), not firings. A request at which the list is back at its start is no firing, but the
    // list must move on after it.
    steps: ({ fault: { by = 1 }, seen }) => ({ list: (view) => ({ ...view, shift: view.shift + (seen - 1) * by }) })
  }),
  faultKind({
    name: "listed-but-404",
    summary: "Answers 404 for a node that is in the list.",
    only: ["nodes.get"],
    steps: (_, { request, world }) => ({
      instead: () => {
        const id = nodeIdOf(request.url)
        return id === undefined || world.nodes.get(id) === undefined
          ? undefined
          : { _tag: "Answer", reply: unknownNodeReply(world, id) }
      }
    })
  }),
  faultKind({
    name: "get-lags",
    summary: "A get shows the node as it was a while ago, or 404 if it did not exist yet.",
    options: { age: duration("How far behind, in the world's time; default 10 seconds.") },
    only: ["nodes.get"],
    steps: ({ fault: { age } }, { request, world }) => ({
      reply: (reply) => {
        const id = [200, 404].includes(reply.status) ? nodeIdOf(request.url) : undefined
        const past = id === undefined ? undefined : pastNode(world, id, asOf(age, world.latest))
        return past === undefined ? undefined : withBodyOf(reply, past)
      }
    })
  })
] as const
