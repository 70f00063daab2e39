/**
 * `berth commitment set`: what happens to a node when its commitment ends.
 */
import { setCommitmentRequest } from "@berth/core/client/NodeRequests"
import { Nodes } from "@berth/core/client/Nodes"
import { CommitmentSetting } from "@berth/core/domain/Commitment"
import { wholeNumberFlag } from "@berth/terminal/wholeNumber"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { resolveNode } from "../../nodes/resolve.ts"
import { oneNode } from "../../nodes/Target.ts"
import { printOne } from "../../output/print.ts"
import { proposalRecord, propose } from "../../proposal/Proposal.ts"
import { commitmentRecord, endOfCommitment } from "../../records/commitment.ts"
import { client } from "../../settings/client.ts"
import { switchFlag } from "../../settings/switches.ts"

export const set = Command.make(
  "set",
  {
    node: oneNode,
    setting: Argument.Literals("SETTING", CommitmentSetting.literals).pipe(
      Argument.withMetavar(""),
      Argument.withDescription(CommitmentSetting.literals.join(" | "))
    ),
    sku: wholeNumberFlag("plan", 0).pipe(
      Flag.withMetavar("SKU"),
      Flag.withDescription("Committed option to renew to, see berth plan list"),
      Flag.optional
    ),
    dryRun: switchFlag("dry-run", "Show the request, and stop")
  },
  Effect.fnUntraced(function* ({ dryRun, node: given, setting, sku }) {
    const found = yield* resolveNode(given)
    const subject = { id: found.id, name: found.name }
    const skuId = Option.getOrUndefined(sku)
    if (dryRun) {
      const request = setCommitmentRequest(found.id, setting, skuId)
      const change = { action: "set-commitment", ...subject, outcome: endOfCommitment[setting] } as const
      return yield* printOne(proposalRecord, propose(request, change))
    }
    yield* Nodes.use((nodes) => nodes.setCommitment(found.id, setting, { skuId }))
    yield* printOne(commitmentRecord, { ...subject, setting, skuId: skuId ?? null })
  })
).pipe(Command.withDescription("Set what happens when a node's commitment ends"), Command.provide(client))
