/**
 * `berth commitment set`: what happens to a node when its commitment ends.
 */
import { Nodes } from "@berth/core/client/Nodes"
import { NodeId } from "@berth/core/domain/Node"
import { CommitmentSetting } from "@berth/core/domain/Commitment"
import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { client } from "../../config/client.ts"
import { idFlag } from "../../config/wholeNumberFlag.ts"
import { paths } from "../../config/paths.ts"
import { type Preview, previewView } from "../../output/Preview.ts"
import { encodeWith, printOne, type View } from "../../output/print.ts"
import { oneNode } from "../../target/NodeArgument.ts"
import { nameOf } from "../../target/NodeOutcome.ts"
import { resolveNode } from "../../target/resolve.ts"

/** What each setting does at the end of the commitment (decision 17). */
const outcomes: Record<CommitmentSetting, string> = {
  auto_renew: "at its end the commitment is renewed",
  auto_terminate: "at its end the node is terminated",
  hourly_billing: "at its end the node is billed by the hour"
}

const Commitment = Schema.Struct({
  id: NodeId,
  name: Schema.String,
  setting: CommitmentSetting,
  skuId: Schema.NullOr(Schema.Int).annotate({ description: "The committed option that was passed; null without one." })
})

const commitmentView: View<typeof Commitment.Type> = {
  encode: encodeWith(Commitment),
  columns: () => [
    { title: "ID", value: ({ id }) => String(id) },
    { title: "NAME", value: ({ name }) => name },
    { title: "SETTING", value: ({ setting }) => setting },
    { title: "OUTCOME", value: ({ setting }) => outcomes[setting] },
    { title: "SKU", value: ({ skuId }) => (skuId === null ? "-" : String(skuId)) }
  ],
  none: "no commitments"
}

export const set = Command.make(
  "set",
  {
    node: oneNode,
    setting: Argument.Literals("SETTING", CommitmentSetting.literals).pipe(
      Argument.withMetavar(""),
      Argument.withDescription(CommitmentSetting.literals.join(" | "))
    ),
    sku: idFlag("plan").pipe(
      Flag.withMetavar("SKU"),
      Flag.withDescription("Committed option to renew to, see berth plan list"),
      Flag.optional
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Show the request, and stop"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ dryRun, node: given, setting, sku }) {
    const nodes = yield* Nodes
    const found = yield* resolveNode(given)
    const skuId = Option.getOrUndefined(sku)
    if (dryRun) {
      const body = { vcn_id: found.id, node_status: setting, ...(skuId !== undefined && { committed_plan: skuId }) }
      const preview: Preview = {
        action: "set-commitment",
        id: found.id,
        name: nameOf(found),
        request: { method: "POST", path: paths().commitments.set(), body },
        pricePerHourInr: null,
        pricePerMonthInr: null,
        committedPriceInr: null,
        outcome: outcomes[setting]
      }
      return yield* printOne(previewView, preview)
    }
    yield* nodes.setCommitment(found.id, setting, { skuId })
    yield* printOne(commitmentView, { id: found.id, name: nameOf(found), setting, skuId: skuId ?? null })
  })
).pipe(Command.withDescription("Set what happens when a node's commitment ends"), Command.provide(client))
