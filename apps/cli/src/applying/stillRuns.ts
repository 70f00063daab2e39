/**
 * Checks right before each delete that the replacing node still runs. The read that first showed the node as running may be old by then,
 * because berth waits for other nodes, for the command that says that a node is ready, or for the reply to a purchase.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node } from "@berthkit/core/domain/Node"
import { label } from "@berthkit/core/domain/NodeStatus"
import { Clock, Effect, Result } from "effect"
import { FleetStep } from "../failure/CliFailure.ts"
import { messageOf } from "../failure/callInWords.ts"
import { lane, wholeList } from "../nodes/allNodes.ts"
import { maxReads } from "../nodes/resolve.ts"

type Named = Pick<Node, "id" | "name">

/** A node that must run before another is deleted. */
export interface Replacing {
  readonly member: string
  readonly node: Named
}

/** How long a read counts as fresh. Deletes that begin together use the same read. */
const freshMillis = 2000

const whatOf = ({ id, name }: { readonly id: number; readonly name: string }) => `${name} (${id})`

/** The problem of a node that was read, with a hint; undefined if it runs. */
const troubleOf = (read: Result.Result<Node, BerthError>): readonly [is: string, hint: string] | undefined => {
  if (Result.isFailure(read)) {
    return read.failure.reason._tag === "NodeNotFound"
      ? ["can no longer be found", "Run the same command again."]
      : [`cannot be read: ${messageOf(read.failure).replace(/\.$/, "")}`, "Run the same command again."]
  }
  const { status } = read.success
  return status === "running"
    ? undefined
    : [`is ${label(status)} now`, "Start it in the account portal, or delete it, and run the same command again."]
}

/** Makes the check for one run of `berth apply`. */
export const stillRuns = () => {
  const seenAt = new Map<number, number>()
  return {
    /**
     * Fails, with both names, if a node that replaces or may replace another node does not run. `isAgain` is set after
     * a failed attempt to delete, and then an earlier read does not count.
     */
    ensure: Effect.fnUntraced(function* (
      { member, node }: Replacing,
      old: { readonly id: number; readonly name: string },
      how: "replaces" | "may replace",
      isAgain = false
    ) {
      const now = yield* Clock.currentTimeMillis
      const seen = seenAt.get(node.id)
      if (!isAgain && seen !== undefined && now - seen < freshMillis) return
      const trouble = troubleOf(yield* Effect.result(Nodes.use((nodes) => nodes.get(node.id, { lane }))))
      if (trouble === undefined) return void seenAt.set(node.id, now)
      const [is, hint] = trouble
      return yield* new FleetStep({
        member,
        id: node.id,
        message: `${whatOf(node)}, which ${how} ${whatOf(old)}, ${is}: ${whatOf(old)} was not deleted.`,
        hint
      })
    }),
    /** If there are many nodes, reads the list first. `ensure` then reads only the nodes that the list does not show as running. */
    readMany: Effect.fnUntraced(function* (replacing: ReadonlyArray<Replacing>) {
      if (replacing.length <= maxReads) return
      const now = yield* Clock.currentTimeMillis
      // If the list cannot be read, `ensure` reads each node by itself.
      const listed = yield* Effect.orElseSucceed(wholeList, () => ({ nodes: [] }))
      for (const { id, status } of listed.nodes) if (status === "running") seenAt.set(id, now)
    })
  }
}
