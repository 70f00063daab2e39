/** Facts and rows for tests of the store. A test states only the fields that matter to it. */
import { Node } from "@berthkit/core/domain/Node"
import { Schema } from "effect"
import type { Cause } from "../../src/diff/Cause.ts"
import { instantsOf } from "../../src/diff/Fact.ts"
import type { EventFact } from "../../src/events/Event.ts"
import type { NodeRow } from "../../src/store/accounts.ts"
import { aNode } from "../diff/aNode.ts"
import type { Delivery } from "../../src/store/deliveries.ts"

const between = (atMillis: number) => instantsOf([atMillis, atMillis])

const head = (id: number, version: number, atMillis: number) => ({
  identity: { nodeId: id, incarnation: 0, life: 1, version },
  atMillis,
  subject: `nodes/${id}`
})

export const created = (id: number, atMillis: number, over: Partial<Omit<Node, "id">> = {}): EventFact => ({
  ...head(id, 0, atMillis),
  type: "berth.node.created",
  data: { before: null, after: aNode({ id, ...over }), observedBetween: between(atMillis), sweep: null }
})

export const changed = (
  id: number,
  atMillis: number,
  from: Node["status"],
  to: Node["status"],
  version = atMillis
): EventFact => ({
  ...head(id, version, atMillis),
  type: "berth.node.status_changed",
  data: {
    from,
    to,
    before: aNode({ id, status: from }),
    after: aNode({ id, status: to }),
    observedBetween: between(atMillis),
    sweep: null
  }
})

export const deleted = (id: number, atMillis: number, cause: Cause = "unknown"): EventFact => ({
  ...head(id, 1, atMillis),
  type: "berth.node.deleted",
  data: { before: aNode({ id }), after: null, cause, causedBy: null, observedBetween: between(atMillis), sweep: null }
})

const encodeNode = Schema.encodeSync(Schema.toCodecJson(Node))

export const row = (id: number, over: Partial<NodeRow> = {}, node: Partial<Omit<Node, "id">> = {}): NodeRow => ({
  id,
  incarnation: 0,
  life: 1,
  status: "running",
  changes: 0,
  goneAtMillis: null,
  body: JSON.stringify({ node: encodeNode(aNode({ id, ...node })) }),
  ...over
})

/** A delivery of an event about a node of the account `a`, due at once. */
export const delivery = (seq: number, over: Partial<Delivery> = {}): Delivery => ({
  account: "a",
  seq,
  node: 1,
  id: `id-${seq}`,
  attempt: 0,
  dueMillis: 0,
  held: null,
  body: null,
  ...over
})
