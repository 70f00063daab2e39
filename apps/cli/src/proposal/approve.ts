/**
 * The one path of every change: its proposals are shown, printed and no more with `--dry-run`, and confirmed where the change needs that.
 * What follows an approval sends exactly what was proposed.
 */
import { Effect } from "effect"
import { Output, printNote } from "../output/Output.ts"
import { printAll, printOne } from "../output/print.ts"
import { table } from "../output/table.ts"
import { confirm, ensureAskable } from "./confirm.ts"
import { type Proposal, proposalRecord, sentenceOf, shownFields, totalOf } from "./Proposal.ts"

/** What is asked of a change. */
export interface Approval {
  /** In the infinitive, such as `delete`. */
  readonly verb: string
  /** What is asked about these nodes, such as `Delete node web?` */
  readonly question: (nodes: string) => string
  /** Whether it needs a confirmation. */
  readonly mustAsk: boolean
  /** `--yes`: confirmed already. */
  readonly yes: boolean
  readonly dryRun: boolean
  /** Whether one node was asked for by itself, which is one object in JSON. */
  readonly single: boolean
}

/** Of more changes the first are shown, and the count has to be typed. */
const maxShown = 20

/** Shows the proposals: a sentence for one, a table for several. */
const show = Effect.fnUntraced(function* (proposals: ReadonlyArray<Proposal>) {
  const { note, stderr } = yield* Output
  const [first] = proposals
  if (first === undefined) return
  if (proposals.length === 1) return yield* printNote(sentenceOf(first))
  const shown = proposals.slice(0, maxShown)
  const options = { available: stderr.columns, colour: stderr.colour }
  yield* note(table(shownFields(shown), shown, options).text.trimEnd())
  const total = totalOf(proposals)
  if (proposals.length > shown.length) yield* printNote(`… and ${proposals.length - shown.length} more.`)
  if (total !== undefined) yield* printNote(total)
})

/** Fails where a change has to be confirmed and there is no terminal: before anything is read for it. */
export const ensureApprovable = ({ dryRun, mustAsk, verb, yes }: Approval) =>
  mustAsk && !yes && !dryRun ? ensureAskable(verb) : Effect.void

/** Whether to send what was proposed: not with `--dry-run`. Fails without a confirmation. */
export const approve = Effect.fnUntraced(function* (proposals: ReadonlyArray<Proposal>, approval: Approval) {
  const { dryRun, mustAsk, question, single, verb, yes } = approval
  const [first] = proposals
  if (dryRun) {
    yield* single && first !== undefined ? printOne(proposalRecord, first) : printAll(proposalRecord, proposals)
    return false
  }
  if (first === undefined) return true
  yield* ensureApprovable(approval)
  yield* show(proposals)
  if (!mustAsk || yes) return true
  const count = proposals.length
  yield* confirm({
    question: question(count === 1 ? `node ${first.name}` : `these ${count} nodes`),
    count: count > maxShown ? count : undefined,
    verb
  })
  return true
})
