/**
 * Reads the records that a list has set aside, because they are unreadable or contradict an earlier record. A search by name must not
 * miss a node, so each such record that may have the requested name is read by its id.
 */
import { Effect } from "effect"
import { BerthError } from "../../domain/BerthError.ts"
import { everyRecordReadable, UnexpectedResponse } from "../../domain/ErrorReason.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import type { LeftOutRecord } from "./Listed.ts"

/** If there are more such records, none is read, because such a list is not believed. */
const maxReads = 20

const concurrency = 4

const uncertain = (excerpt: string) =>
  new BerthError({
    operation: "nodes.list",
    reason: new UnexpectedResponse({ status: 200, path: "data", expected: everyRecordReadable, excerpt }),
    attempts: []
  })

/** Whether the record still has no name when it is read by its id, so it cannot be a node of the requested name. */
const isNameless = (record: LeftOutRecord, { reason }: BerthError) =>
  record.name === null && reason._tag === "UnexpectedResponse" && reason.path === "data.name"

/** The nodes with a matching name. Fails if a record that may match cannot be read, or has no id to read it by. */
export const setAsideNodes = (
  records: ReadonlyArray<LeftOutRecord>,
  matches: (name: string) => boolean,
  get: (id: NodeId) => Effect.Effect<Node, BerthError>
): Effect.Effect<ReadonlyArray<Node>, BerthError> => {
  const asked = new Map<NodeId, LeftOutRecord>()
  for (const record of records) {
    if (record.name !== null && !matches(record.name)) continue
    if (record.id === null) return Effect.fail(uncertain("one without an id"))
    asked.set(record.id as NodeId, record)
  }
  if (asked.size > maxReads) return Effect.fail(uncertain(`${asked.size} that cannot be read`))
  const read = ([id, record]: readonly [NodeId, LeftOutRecord]) =>
    get(id).pipe(
      Effect.map((node) => (matches(node.name) ? [node] : [])),
      Effect.catchIf(
        (error) => error.reason._tag === "NodeNotFound" || isNameless(record, error),
        () => Effect.succeed([])
      )
    )
  return Effect.map(Effect.forEach(asked, read, { concurrency }), (nodes) => nodes.flat())
}
