/**
 * Reading the nodes that exist: page by page, and counted.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type StoredInteger, toNumber } from "./rows.ts"
import { fromSqlError } from "./StoreFailed.ts"

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
    const rows = yield* sql<{ id: StoredInteger; body: string }>`SELECT id, body FROM node
      WHERE account = ${account} AND id > ${after} AND gone_at IS NULL ORDER BY id LIMIT ${max}`
    return rows.map(({ body, id }): PresentNode => ({ account, id: toNumber(id), body }))
  }, Effect.mapError(fromSqlError))

  /** As the index `node_by_status` has it: it is used for this expression alone. */
  const plan = sql.onDialectOrElse({
    pg: () => sql`(body::json -> 'node' ->> 'plan')`,
    orElse: () => sql`json_extract(body, '$.node.plan')`
  })
  const nodeCounts = sql<{ account: string; status: string; plan: string | null; count: StoredInteger }>`
    SELECT account, status, ${plan} AS plan, count(*) AS count FROM node WHERE gone_at IS NULL
    GROUP BY account, status, ${plan} ORDER BY account, status, plan`.pipe(
    Effect.map((rows) => rows.map((row): NodeCount => ({ ...row, count: toNumber(row.count) }))),
    Effect.mapError(fromSqlError)
  )

  return { presentNodes, nodeCounts }
}
