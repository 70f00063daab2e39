/** The endpoints of `NodesGroup`: they translate between the wire and the world, and contain no rules. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { refusalFailure } from "../http/failures.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import { forceNode } from "../world/nodes.ts"
import * as World from "../world/World.ts"
import { ControlApi } from "./ControlApi.ts"
import { namedWorld, readBody } from "./ControlledWorlds.ts"
import { instant } from "./fields.ts"
import { NodeChange, type NodeView } from "./NodesGroup.ts"

const view = (world: World.World, node: NodeRecord, now: number): typeof NodeView.Type => ({
  id: node.id,
  name: node.name,
  status: World.phase(world, node, now),
  locked: node.locked,
  forced: node.forced !== undefined,
  plan: node.plan.slug,
  createdAt: instant(node.createdAt),
  ...(node.today === undefined ? {} : { project: node.today.projectId, location: node.today.location })
})

const readChange = readBody(NodeChange)

export const layer = HttpApiBuilder.group(ControlApi, "nodes", (handlers) =>
  handlers
    .handle("list", ({ params, query }) =>
      Effect.map(namedWorld(params.world), ({ now, world }) =>
        world.nodes.slice(query.skip ?? 0, query.count ?? 100).map((node) => view(world, node, now))
      )
    )
    .handleRaw("change", ({ params, request }) =>
      Effect.gen(function* () {
        const change = yield* readChange(request)
        const { now, world } = yield* namedWorld(params.world)
        const forced = Effect.fromResult(forceNode(world, params.id, change, now))
        const node = yield* Effect.mapError(forced, (refusal) => refusalFailure(refusal))
        return view(world, node, now)
      })
    )
)
