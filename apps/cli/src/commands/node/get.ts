/**
 * `berth node get`: shows nodes by id, name or pattern.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { Effect } from "effect"
import { command } from "../command.ts"
import { failIfSomeFailed, forEachNode, reportFailures } from "../../nodes/forEachNode.ts"
import { resolveNodes, wholeNode } from "../../nodes/resolve.ts"
import { looking, someNodes } from "../../nodes/Target.ts"
import { OutputFormat } from "../../output/OutputOptions.ts"
import { printAll, printOne } from "../../output/print.ts"
import { nodeRecord } from "../../records/node.ts"
import { client } from "../../settings/client.ts"

export const get = command(
  { nodes: someNodes },
  Effect.fnUntraced(function* ({ nodes: given }) {
    const format = yield* OutputFormat
    const resolution = yield* resolveNodes(given, looking)
    const outcomes = yield* forEachNode(resolution, (found) =>
      Effect.map(wholeNode(found), (node) => ({ outcome: "found", node }))
    )
    const found = outcomes.flatMap(({ error, node }): ReadonlyArray<Node> =>
      error === null && node !== null ? [node] : []
    )
    const [only] = found
    if (resolution.single && only !== undefined) yield* printOne(nodeRecord, only)
    else if (found.length > 0 || format !== "table") yield* printAll(nodeRecord, found)
    yield* reportFailures(outcomes)
    yield* failIfSomeFailed(outcomes)
  }),
  client
)
