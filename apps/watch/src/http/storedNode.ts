/** Converts a stored node to its HTTP form. */
import { Node } from "@berthkit/core/domain/Node"
import { DateTime, Schema } from "effect"
import type { WatchedNode } from "./records.ts"

/** The part of a node's row that HTTP shows. */
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

/** A node at an earlier instant. It is not known when the node got its status. */
export const toPast = (account: string, record: unknown): WatchedNode => ({
  ...readRecord(record),
  account,
  statusSince: null
})
