/**
 * `berth commitment set`: sets what happens to a node when its commitment ends.
 */
import { setCommitmentRequest } from "@berthkit/core/client/NodeOperations"
import { CommitmentSetting, takesOption } from "@berthkit/core/domain/Commitment"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node } from "@berthkit/core/domain/Node"
import { Effect, Option } from "effect"
import { ensureMayBuy } from "../../applying/ledgerCommitments.ts"
import { type Doomed, ensureUnprotected } from "../../applying/Registry.ts"
import { freshCatalogue, ImageList } from "../../catalogue/ImageList.ts"
import { command } from "../command.ts"
import { argument, flag, oneOf, switchFlag, wholeNumber } from "../../commandLine/Parameter.ts"
import { buysPeriod, commitmentLog, type CommitmentOrder, keepSetting } from "../../commitmentLog/CommitmentLog.ts"
import { afterLost, commandOf, mayBeSet, sendCommitment } from "../../commitmentLog/sendCommitment.ts"
import { CommitmentUnknown, UsageFault } from "../../failure/CliFailure.ts"
import { whenInterrupted } from "../../output/reportProblem.ts"
import { resolveNode } from "../../nodes/resolve.ts"
import { oneNode } from "../../nodes/Target.ts"
import { periodPrice } from "../../output/format.ts"
import { printOne } from "../../output/print.ts"
import {
  type Approval,
  approve,
  ensureApprovable,
  type Offered,
  type Proposal,
  propose
} from "../../proposal/Proposal.ts"
import { boundOf, checkCommitments, maxCommitmentFlag } from "../../proposal/limits.ts"
import { type NodeOption, optionOfNode } from "../../proposal/offer.ts"
import { commitmentRecord, endOfCommitment } from "../../records/commitment.ts"
import { client } from "../../settings/client.ts"

const priceUnknown =
  "Name the committed option with --sku, see berth plan list; or run it without --yes: berth then asks you."

/** The committed option (a period at a price) that the node would be renewed to. Fails if the node cannot have it. */
export const optionFor = Effect.fnUntraced(function* (node: Pick<Node, "plan" | "image">, skuId: number) {
  return yield* Effect.fromResult(optionOfNode(node, yield* freshCatalogue, skuId))
})

/**
 * Looks up the committed option for a request that is sent in any case. Undefined if the option is not listed or the list cannot be read;
 * the request is then sent without a known price.
 */
const forcedOption = (node: Node, skuId: number) =>
  ImageList.use(({ fresh }) => fresh({ retry: false })).pipe(
    Effect.flatMap((catalogue) => Effect.fromResult(optionOfNode(node, catalogue, skuId))),
    Effect.orElseSucceed(() => undefined)
  )

const outcomeOf = (setting: CommitmentSetting, skuId: number | undefined, option: NodeOption | undefined): string => {
  const end = endOfCommitment[setting]
  if (option === undefined) {
    if (skuId === undefined || skuId === 0)
      return buysPeriod({ setting, skuId }) ? `${end}, at a price that is not known` : end
    return `committed option ${skuId}, at a price that is not known; ${end}`
  }
  const { days, foreignCurrency } = option
  const unknown = foreignCurrency === null ? "at a price that is not known" : `at a price in ${foreignCurrency}`
  const known = periodPrice(option)
  return `committed for ${days} days${known === undefined ? `, ${unknown}` : ` at ${known}`}; ${end}`
}

/** The proposal to set a node's commitment. */
export const proposalOf = (
  { id, name }: Pick<Node, "id" | "name">,
  setting: CommitmentSetting,
  skuId: number | undefined,
  option: NodeOption | undefined
): Proposal =>
  propose(setCommitmentRequest(id, setting, skuId), {
    action: "set-commitment",
    id,
    name,
    committedPriceInr: option?.priceInr ?? null,
    foreignCommittedPrice: option?.foreignPrice ?? null,
    outcome: `${outcomeOf(setting, skuId, option)}`
  })

/** Fails if the setting would make the service delete a protected node. */
export const ensureKeepsProtected = (node: Doomed, setting: CommitmentSetting) =>
  setting === "auto_terminate"
    ? ensureUnprotected(
        [node],
        "With auto_terminate the service would delete it at the end of its commitment. Nothing was sent."
      )
    : Effect.void

/** Whether the outcome is unknown and the error needs our hint. The error for a reply that Berth cannot read has its own hint. */
const isLost = (error: BerthError): boolean => mayBeSet(error) && error.reason._tag !== "UnexpectedResponse"

/** Records what the user saw in the portal about a purchase whose reply was lost. Sends nothing. */
const settle = Effect.fnUntraced(function* (node: Node, order: CommitmentOrder) {
  const open = yield* commitmentLog.openOf(node.id)
  const skuId = order.skuId ?? null
  if (open === undefined || open.setting !== order.setting || open.skuId !== skuId) {
    return yield* new UsageFault({
      message: `No request for ${order.setting}${skuId === null ? "" : ` with the committed option ${skuId}`} of ${node.name} (${node.id}) is without a reply.`,
      hint: open === undefined ? "Omit --found." : `One is open: ${commandOf(node.id, open)} --found set`
    })
  }
  const option = open.skuId === null || open.skuId === 0 ? undefined : yield* forcedOption(node, open.skuId)
  yield* keepSetting(node.id, open.setting, open.skuId ?? undefined, option)
  yield* commitmentLog.end(node.id)
})

export const set = command(
  {
    node: oneNode,
    setting: argument("SETTING", oneOf(CommitmentSetting.literals, ""), "What happens when the commitment ends"),
    sku: flag("sku", wholeNumber(0, undefined, "ID"), "Id of the commitment to buy, see berth plan list"),
    maxCommitment: maxCommitmentFlag,
    force: switchFlag("force", "Send even if the option is not listed"),
    found: flag(
      "found",
      oneOf(["set", "not-set"], "FOUND"),
      "After a lost reply: whether the account portal shows the commitment"
    ),
    yes: switchFlag("yes", "Do not ask"),
    dryRun: switchFlag("dry-run", "Show the request, and stop")
  },
  Effect.fnUntraced(function* ({ dryRun, force, found, maxCommitment, node: given, setting, sku: skuId, yes }) {
    // A request of berth api may have sent another setting with an option. A person has to be able to say what became of it.
    if (found === undefined && skuId !== undefined && skuId !== 0 && !takesOption(setting)) {
      return yield* new UsageFault({
        message: `--sku goes with auto_renew, not with ${setting}.`,
        hint: "Omit --sku: only a renewal has a committed option."
      })
    }
    const approval: Approval = {
      verb: "set the commitment",
      mustAsk: true,
      yes,
      dryRun
    }
    if (found === "set") {
      if (dryRun) {
        return yield* new UsageFault({
          message: "--dry-run has nothing to show: --found set sends no request.",
          hint: "Omit --dry-run."
        })
      }
      const node = yield* resolveNode(given, { change: true })
      yield* settle(node, { setting, skuId })
      return yield* printOne(commitmentRecord, { id: node.id, name: node.name, setting, skuId: skuId ?? null, node })
    }
    yield* ensureApprovable(approval)
    const read = Effect.gen(function* () {
      const node = yield* resolveNode(given, { change: true })
      const option =
        skuId === undefined ? undefined : force ? yield* forcedOption(node, skuId) : yield* optionFor(node, skuId)
      yield* ensureKeepsProtected(node, setting)
      if (found === undefined) yield* ensureMayBuy(node, { setting, skuId }, option?.days)
      if (buysPeriod({ setting, skuId })) {
        const bound = boundOf({ maxCommitment, yes, dryRun })
        yield* checkCommitments([option?.priceInr ?? null], bound, priceUnknown, option?.foreignCurrency)
      }
      const order = { node, option }
      const proposals = [proposalOf(node, setting, skuId, option)]
      return { proposals, single: true, order } satisfies Offered<typeof order>
    })
    const approved = yield* approve(yield* read, read, approval)
    if (Option.isNone(approved)) return
    const { node, option } = approved.value
    const hint = afterLost({ setting, skuId })
    yield* sendCommitment(node, { setting, skuId }, option, found === "not-set").pipe(
      Effect.mapError((error) =>
        error._tag === "BerthError" && isLost(error)
          ? new CommitmentUnknown({ id: node.id, name: node.name, because: error.message, hint })
          : error
      ),
      whenInterrupted(() => ({
        message: `Interrupted before the reply came; the commitment of ${node.name} (${node.id}) may be set.`,
        hint
      }))
    )
    yield* printOne(commitmentRecord, { id: node.id, name: node.name, setting, skuId: skuId ?? null, node })
  }),
  client
)
