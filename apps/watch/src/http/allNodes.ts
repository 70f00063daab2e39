/**
 * All nodes that the daemon knows, page by page.
 */
import { Effect } from "effect"
import type { Daemon } from "./Daemon.ts"
import type { WatchedNode } from "./records.ts"

const pageSize = 5000

/** Without an account that might not exist, nothing is refused. */
export const allNodes = Effect.fnUntraced(function* (daemon: Daemon["Service"]) {
  const all: Array<WatchedNode> = []
  let after: string | undefined
  while (true) {
    const page = yield* Effect.orDie(daemon.nodes({ after, limit: pageSize }))
    all.push(...page.nodes)
    if (page.next === null) return all
    after = page.next
  }
})
