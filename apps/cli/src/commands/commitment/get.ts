/**
 * `berth commitment get`: shows what berth on this machine last set for a node's commitment. The service itself reports at most whether the
 * node has a commitment.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { commitmentLog } from "../../commitmentLog/CommitmentLog.ts"
import { resolveNode } from "../../nodes/resolve.ts"
import { oneNode } from "../../nodes/Target.ts"
import { printNote } from "../../output/Output.ts"
import { printOne } from "../../output/print.ts"
import { ownCommitmentOf, ownCommitmentRecord } from "../../records/ownCommitment.ts"
import { client } from "../../settings/client.ts"

export const get = command(
  { node: oneNode },
  Effect.fnUntraced(function* ({ node: given }) {
    const node = yield* resolveNode(given, { change: false })
    const entry = (yield* commitmentLog.load).get(node.id)
    yield* printOne(ownCommitmentRecord, ownCommitmentOf(node, entry))
    const own =
      entry === undefined ? "Berth knows of none that it has set." : "This is what Berth last set, as far as it knows."
    const { committed } = node
    yield* printNote(
      committed === null
        ? `${own} The service does not report commitments: ${entry === undefined ? "see the portal." : "the portal may have another."}`
        : `${own} The service says that the node is ${committed ? "" : "not "}committed${committed ? ": see the portal for its terms" : ""}.`
    )
  }),
  client
)
