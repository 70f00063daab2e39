/** `berth-watch nodes`: prints the known nodes, now or at an earlier instant, one per line on stdout. */
import { DateTime, Effect, Option, Schema } from "effect"
import { Stdout } from "../deliver/Stdout.ts"
import type { Answers } from "../http/Daemon.ts"
import { WatchedNode } from "../http/records.ts"
import { endedBy } from "../process/CommandFailed.ts"
import { readTime } from "./readTime.ts"
import { textFlag } from "../settings/textFlag.ts"

const pageSize = 5000

const write = Schema.encodeSync(Schema.toCodecJson(WatchedNode))

export const nodesFlags = {
  at: textFlag("at", "TIME", "Print the nodes as they were at this time: 2026-03-01T10:20:30Z, or 2h for two hours ago")
}

export const nodes = Effect.fn("nodes")(function* (daemon: Answers, flag: Option.Option<string>) {
  const stdout = yield* Stdout
  const at = Option.isSome(flag) ? DateTime.makeUnsafe(yield* readTime("at", flag.value, "ago")) : undefined
  for (let after: string | undefined; ;) {
    const page = yield* daemon.nodes({ at, after, limit: pageSize })
    const lines = page.nodes.map((node) => {
      const { account, ...record } = write(node) as { readonly account: string }
      return `${JSON.stringify({ account, ...record })}\n`
    })
    yield* Effect.catchTag(stdout.write(lines.join("")), "StreamClosed", endedBy)
    if (page.next === null) return
    after = page.next
  }
})
