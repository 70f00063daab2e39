/**
 * `berth node get`: nodes by id, name or pattern.
 */
import { Nodes } from "@berth/core/client/Nodes"
import type { Node } from "@berth/core/domain/Node"
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { failIfSomeFailed, forEachNode, reportFailures } from "../../nodes/forEachNode.ts"
import { completed, resolveNodes } from "../../nodes/resolve.ts"
import { someNodes } from "../../nodes/Target.ts"
import { OutputFormat } from "../../output/OutputFormat.ts"
import { printAll, printOne } from "../../output/print.ts"
import { nodeRecord } from "../../records/node.ts"
import { client } from "../../settings/client.ts"

export const get = Command.make(
  "get",
  { nodes: someNodes },
  Effect.fnUntraced(function* ({ nodes: given }) {
    const nodes = yield* Nodes
    const format = yield* OutputFormat
    const resolution = yield* resolveNodes(given)
    const outcomes = yield* forEachNode(resolution, ({ id, listed }) =>
      Effect.map(nodes.get(id), (node) => ({ outcome: "found", node: Option.some(completed(node, listed)) }))
    )
    const found = outcomes.flatMap(({ error, node }): ReadonlyArray<Node> =>
      error === null && node !== null ? [node] : []
    )
    const [only] = found
    if (resolution.single && only !== undefined) yield* printOne(nodeRecord, only)
    else if (found.length > 0 || format !== "table") yield* printAll(nodeRecord, found)
    yield* reportFailures(outcomes)
    yield* failIfSomeFailed(outcomes)
  })
).pipe(Command.withDescription("Show nodes"), Command.provide(client))
