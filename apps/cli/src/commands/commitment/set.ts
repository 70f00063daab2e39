/**
 * `berth commitment set`: what happens to a node when its commitment ends.
 */
import { setCommitmentRequest } from "@berthkit/core/client/NodeOperations"
import { Nodes } from "@berthkit/core/client/Nodes"
import { CommitmentSetting, type CommittedOption } from "@berthkit/core/domain/Commitment"
import type { Node } from "@berthkit/core/domain/Node"
import { Effect } from "effect"
import { command } from "../command.ts"
import { argument, flag, oneOf, switchFlag, wholeNumber } from "../../commandLine/Parameter.ts"
import { keepSetting } from "../../commitmentLog/CommitmentLog.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { whenInterrupted } from "../../output/reportProblem.ts"
import { resolveNode } from "../../nodes/resolve.ts"
import { oneNode } from "../../nodes/Target.ts"
import { rupees } from "../../output/format.ts"
import { printOne } from "../../output/print.ts"
import { type Approval, approve, ensureApprovable, foundBy, type Proposal, propose } from "../../proposal/Proposal.ts"
import { optionOfNode, publicCatalogue } from "../../proposal/offer.ts"
import { commitmentRecord, endOfCommitment } from "../../records/commitment.ts"
import { client } from "../../settings/client.ts"

/** The committed option to renew to, or why it cannot be one. */
export const optionFor = Effect.fnUntraced(function* (node: Pick<Node, "plan" | "image">, skuId: number) {
  return yield* Effect.fromResult(optionOfNode(node, yield* publicCatalogue(), skuId))
})

/** The committed option that is sent whether it is listed or not; undefined where it is not, or cannot be looked up. */
const forcedOption = (node: Node, skuId: number) =>
  publicCatalogue({ retry: false }).pipe(
    Effect.flatMap((catalogue) => Effect.fromResult(optionOfNode(node, catalogue, skuId))),
    Effect.orElseSucceed(() => undefined)
  )

const outcomeOf = (
  setting: CommitmentSetting,
  skuId: number | undefined,
  option: CommittedOption | undefined
): string => {
  const end = endOfCommitment[setting]
  if (option === undefined) {
    return skuId === undefined || skuId === 0 ? end : `committed option ${skuId}, at a price that is not known; ${end}`
  }
  const { days, priceInr } = option
  return `committed for ${days} days${priceInr === null ? ", at a price that is not known" : ` at ₹${rupees(priceInr)}`}; ${end}`
}

/** The proposal to set a node's commitment; `found` is what there is to say of how it was found. */
export const proposalOf = (
  { id, name }: Pick<Node, "id" | "name">,
  setting: CommitmentSetting,
  skuId: number | undefined,
  option: CommittedOption | undefined,
  found = ""
): Proposal =>
  propose(setCommitmentRequest(id, setting, skuId), {
    action: "set-commitment",
    id,
    name,
    committedPriceInr: option?.priceInr ?? null,
    outcome: `${outcomeOf(setting, skuId, option)}${found}`
  })

export const set = command(
  {
    node: oneNode,
    setting: argument("SETTING", oneOf(CommitmentSetting.literals, ""), "What happens when the commitment ends"),
    sku: flag("sku", wholeNumber(0, undefined, "ID"), "Committed option to renew to, see berth plan list"),
    force: switchFlag("force", "Send even if the option is not listed"),
    yes: switchFlag("yes", "Do not ask"),
    dryRun: switchFlag("dry-run", "Show the request, and stop")
  },
  Effect.fnUntraced(function* ({ dryRun, force, node: given, setting, sku: skuId, yes }) {
    if (skuId !== undefined && skuId !== 0 && setting !== "auto_renew") {
      return yield* new UsageFault({
        message: `--sku goes with auto_renew, not with ${setting}.`,
        hint: "Omit --sku: only a renewal has a committed option."
      })
    }
    const approval: Approval = {
      verb: "set the commitment",
      mustAsk: true,
      yes,
      dryRun,
      single: true
    }
    yield* ensureApprovable(approval)
    const { from, node } = yield* resolveNode(given, { change: true })
    const option =
      skuId === undefined ? undefined : force ? yield* forcedOption(node, skuId) : yield* optionFor(node, skuId)
    const proposal = proposalOf(node, setting, skuId, option, foundBy(from))
    if (!(yield* approve([proposal], approval))) return
    yield* Nodes.use((nodes) => nodes.setCommitment(node.id, setting, { skuId })).pipe(
      whenInterrupted(() => ({
        message: `Interrupted before the reply came; the commitment of ${node.name} (${node.id}) may be set.`,
        hint: "Run the same command again to be sure."
      }))
    )
    yield* keepSetting(node.id, setting, skuId, option)
    yield* printOne(commitmentRecord, { id: node.id, name: node.name, setting, skuId: skuId ?? null, node })
  }),
  client
)
