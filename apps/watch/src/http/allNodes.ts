/**
 * All nodes that the daemon knows of one account or of all, page by page.
 */
import { Effect } from "effect"
import type { Daemon } from "./Daemon.ts"
import type { WatchedNode } from "./records.ts"

const pageSize = 5000

/** Of an account that there is, nothing is refused. */
export const allNodes = Effect.fnUntraced(function* (daemon: Daemon["Service"], account: string | undefined) {
  const all: Array<WatchedNode> = []
  let after: string | undefined
  while (true) {
    const page = yield* Effect.orDie(daemon.nodes({ account, after, limit: pageSize }))
    all.push(...page.nodes)
    if (page.next === null) return all
    after = page.next
  }
})
