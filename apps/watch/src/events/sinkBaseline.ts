/**
 * The event by which a new sink gets a node that existed before: made for this sink alone, so it has no place in the order
 * of the account's events. Its id is the same on every attempt.
 */
import { sourceOf } from "./Event.ts"
import { hashOf } from "./eventId.ts"

export interface SinkBaseline {
  readonly sink: string
  readonly account: string
  readonly accountId: string
  /** The sink's cursor: the events after it come next. */
  readonly seq: number
  readonly nodeId: number
  /** The node as JSON. */
  readonly record: unknown
  readonly atMillis: number
}

export const sinkBaseline = ({
  account,
  accountId,
  atMillis,
  nodeId,
  record,
  seq,
  sink
}: SinkBaseline): { readonly id: string; readonly body: string } => {
  const id = hashOf([accountId, "baseline", sink, seq, nodeId])
  const body = JSON.stringify({
    specversion: "1.0",
    id,
    source: sourceOf(account),
    type: "berth.node.discovered",
    subject: `nodes/${nodeId}`,
    time: new Date(atMillis).toISOString(),
    datacontenttype: "application/json",
    data: { before: null, after: record, baseline: true }
  })
  return { id, body }
}
