/**
 * A node as the store keeps it, as HTTP shows it.
 */
import { Node } from "@berthkit/core/domain/Node"
import { DateTime, Schema } from "effect"
import type { WatchedNode } from "./records.ts"

/** What HTTP shows of the body of a node's row. */
const Body = Schema.fromJsonString(
  Schema.toCodecJson(Schema.Struct({ node: Node, statusSinceMillis: Schema.optionalKey(Schema.Int) }))
)

const readBody = Schema.decodeUnknownSync(Body)

export const toWatched = (account: string, body: string): WatchedNode => {
  const { node, statusSinceMillis } = readBody(body)
  return {
    ...node,
    account,
    statusSince: statusSinceMillis === undefined ? null : DateTime.makeUnsafe(statusSinceMillis)
  }
}

const readRecord = Schema.decodeUnknownSync(Schema.toCodecJson(Node))

/** Since when a node of the past had its status is not known. */
export const toPast = (account: string, record: unknown): WatchedNode => ({
  ...readRecord(record),
  account,
  statusSince: null
})
