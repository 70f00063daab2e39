/**
 * `berth commitment get`: what berth on this machine has set of a node's commitment. The service does not report it.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { CommitmentLog } from "../../commitmentLog/CommitmentLog.ts"
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
    const log = yield* CommitmentLog
    const entry = (yield* log.load).get(node.id)
    yield* printOne(ownCommitmentRecord, ownCommitmentOf(node, entry))
    yield* printNote(
      entry === undefined
        ? "berth on this machine has set none. The service does not report commitments: see the portal."
        : "As berth on this machine has set it. The service does not report commitments: the portal may have another."
    )
  }),
  client
)
