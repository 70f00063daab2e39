/** The endpoints for operators of the daemon: health, readiness, metrics, targets for Prometheus. */
import { Clock, Context, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import pkg from "../../package.json" with { type: "json" }
import { Daemon } from "./Daemon.ts"
import { fail, orFailure } from "./failures.ts"
import { formatAccountMetrics, formatMetrics } from "./metrics.ts"
import { ownPart, readinessOf } from "./readiness.ts"
import { believedNodes, type LastGood, targetGroups } from "./targets.ts"
import type { WatchedNode } from "./records.ts"
import { WatchApi } from "./WatchApi.ts"

const pageSize = 5000

/**
 * All nodes that the daemon knows, read page by page. The daemon cannot refuse this query, because it names no account.
 */
const allNodes = Effect.fnUntraced(function* (daemon: Daemon["Service"]) {
  const all: Array<WatchedNode> = []
  for (let after: string | undefined; ;) {
    const page = yield* Effect.orDie(daemon.nodes({ after, limit: pageSize }))
    all.push(...page.nodes)
    if (page.next === null) return all
    after = page.next
  }
})

/** Whether the caller of a request may read data. `app.ts` sets it for every request. */
export const MayRead = Context.Reference<boolean>("@berthkit/watch/http/MayRead", { defaultValue: () => false })

const defaultPort = 9100

/** Maximum age of the list of targets while no event is committed. */
const maxKnownMillis = 60_000

export const layer = HttpApiBuilder.group(WatchApi, "operations", (handlers) =>
  Effect.gen(function* () {
    const daemon = yield* Daemon
    let lastGood: LastGood = new Map()
    let known: {
      readonly cursor: string
      readonly atMillis: number
      readonly running: ReadonlyArray<WatchedNode>
    } | null = null

    /**
     * All running nodes. They are read again after a commit, and at least once a minute, because some changes have no event.
     */
    const runningNodes = Effect.fnUntraced(function* (nowMillis: number) {
      const cursor = yield* daemon.cursor
      if (known?.cursor === cursor && nowMillis - known.atMillis < maxKnownMillis) return known.running
      const nodes = yield* allNodes(daemon)
      const running = nodes.filter(({ status }) => status === "running")
      known = { cursor, atMillis: nowMillis, running }
      return running
    })

    const targets = Effect.fnUntraced(function* (only: string | undefined) {
      const all = yield* daemon.accounts
      const accounts = only === undefined ? all : all.filter(({ account }) => account === only)
      if (only !== undefined && accounts.length === 0)
        return yield* Effect.fail(fail(404, `There is no account ${only}.`))
      const now = yield* Clock.currentTimeMillis
      const running = yield* runningNodes(now)
      const believed = believedNodes(lastGood, accounts, running, now)
      lastGood = new Map([...lastGood, ...believed.lastGood])
      return believed.nodes ?? (yield* Effect.fail(fail(503, "No complete list of an account is known yet.")))
    })
    return handlers
      .handle("health", () => Effect.succeed({ status: "ok" as const, version: pkg.version }))
      .handle("ready", ({ query: { fleet } }) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const [accounts, troubles] = [yield* daemon.accounts, yield* daemon.troubles]
          const own = ownPart(accounts, troubles)
          const all =
            fleet === undefined ? readinessOf(own.accounts, own.troubles, now) : readinessOf(accounts, troubles, now)
          const readiness = (yield* MayRead) ? all : { ready: all.ready }
          return yield* all.ready ? Effect.succeed(readiness) : Effect.fail(readiness)
        })
      )
      .handle("metrics", ({ query: { account } }) =>
        account === undefined ? formatMetrics : orFailure(formatAccountMetrics(account))
      )
      .handle("targets", ({ query: { account, address = "public", port = defaultPort } }) =>
        Effect.map(targets(account), (nodes) => targetGroups(nodes, { address, port }))
      )
  })
)
