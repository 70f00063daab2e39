/**
 * The one path of every change: its proposals are shown, printed and no more with `--dry-run`, and confirmed where the change needs that.
 * What follows an approval sends exactly what was proposed.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Effect } from "effect"
import { Output } from "../output/Output.ts"
import { printAll, printOne } from "../output/print.ts"
import { table } from "../output/table.ts"
import { confirm, ensureAskable } from "./confirm.ts"
import { type Proposal, proposalRecord, questionOf, sentenceOf, shownFields, totalOf } from "./Proposal.ts"

/** What is asked of a change. */
export interface Approval {
  /** In the infinitive, such as `delete`. */
  readonly verb: string
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

/**
 * Shows the proposals: a table of several, and where nothing is asked a sentence about all of them, which is in the question otherwise. Where
 * only errors are wanted on stderr they are shown before a question alone, which needs them.
 */
const show = Effect.fnUntraced(function* (proposals: ReadonlyArray<Proposal>, isAsked: boolean) {
  const { chatty, note, stderr } = yield* Output
  const [first] = proposals
  if (first === undefined || !(chatty || isAsked)) return
  const line = (text: string) => note(escapeControls(text))
  if (proposals.length === 1) return isAsked ? undefined : yield* line(sentenceOf(first))
  const shown = proposals.slice(0, maxShown)
  const options = { available: stderr.columns, colour: stderr.colour }
  yield* note(table(shownFields(shown), shown, options).text.trimEnd())
  const total = isAsked ? undefined : totalOf(proposals)
  if (proposals.length > shown.length) yield* line(`… and ${proposals.length - shown.length} more.`)
  if (total !== undefined) yield* line(total)
})

/** Fails where a change has to be confirmed and there is no terminal: before anything is read for it. */
export const ensureApprovable = ({ dryRun, mustAsk, verb, yes }: Approval) =>
  mustAsk && !yes && !dryRun ? ensureAskable(verb) : Effect.void

/** Whether to send what was proposed: not with `--dry-run`. Fails without a confirmation. */
export const approve = Effect.fnUntraced(function* (proposals: ReadonlyArray<Proposal>, approval: Approval) {
  const { dryRun, mustAsk, single, verb, yes } = approval
  const [first] = proposals
  if (dryRun) {
    yield* single && first !== undefined ? printOne(proposalRecord, first) : printAll(proposalRecord, proposals)
    return false
  }
  if (first === undefined) return true
  yield* ensureApprovable(approval)
  const isAsked = mustAsk && !yes
  yield* show(proposals, isAsked)
  if (!isAsked) return true
  const count = proposals.length
  yield* confirm({
    question: questionOf(proposals),
    count: count > maxShown ? count : undefined,
    verb
  })
  return true
})
