/**
 * Reading the nodes that exist: page by page, and counted.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { planOf } from "./migrations.ts"

/** A node that exists: its row's body as JSON. */
export interface PresentNode {
  readonly account: string
  readonly id: number
  readonly body: string
}

/** How many nodes of an account share a status and a plan. */
export interface NodeCount {
  readonly account: string
  readonly status: string
  readonly plan: string | null
  readonly count: number
}

export const makePresent = (sql: SqlClient.SqlClient) => {
  /** At most `max` nodes of an account, by id, behind one. */
  const presentNodes = Effect.fn("Store.presentNodes")(function* (account: string, after: number, max: number) {
    return yield* sql<PresentNode>`SELECT account, id, body FROM node
      WHERE account = ${account} AND id > ${after} AND gone_at IS NULL ORDER BY id LIMIT ${max}`
  })

  const plan = planOf(sql)
  const nodeCounts = sql<NodeCount>`
    SELECT account, status, ${plan} AS plan, count(*) AS count FROM node WHERE gone_at IS NULL
    GROUP BY account, status, ${plan} ORDER BY account, status, plan`

  return { presentNodes, nodeCounts }
}
