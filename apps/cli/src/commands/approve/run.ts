/**
 * `berth approve`: a person consents to an agent's proposal. It works only in a terminal. If it worked without one, an agent could run it
 * and approve its own proposal.
 */
import { quoted } from "@berthkit/terminal/quoted"
import { Clock, Effect } from "effect"
import { argument, text } from "../../commandLine/Parameter.ts"
import { ProposalRefused, UsageFault } from "../../failure/CliFailure.ts"
import { Output, printNote } from "../../output/Output.ts"
import { printOne } from "../../output/print.ts"
import { canAsk, confirm } from "../../proposal/confirm.ts"
import { questionOf } from "../../proposal/Proposal.ts"
import { consentLines, expiryOf, isCurrent, proposalsOf, type ProposalStore } from "../../proposal/ProposalStore.ts"
import { approvalRecord } from "../../records/approval.ts"
import { connection, stateOf } from "../../settings/client.ts"
import { command } from "../command.ts"

/** Why the proposal can no longer be approved; undefined if it can. */
const done = (id: string, answer: string | null, hasResult: boolean, isOld: boolean) => {
  const hint = "Ask the agent to propose it again."
  const because = (message: string) => new ProposalRefused({ proposal: id, message, hint })
  if (hasResult) return because(`The proposal ${id} was carried out.`)
  if (answer !== null) return because(`The proposal ${id} was ${answer} before.`)
  return isOld ? because(`The proposal ${id} has expired.`) : undefined
}

/** Shows a proposal and asks. */
const ask = Effect.fnUntraced(function* (id: string, store: ProposalStore) {
  const kept = yield* store.find(id)
  const isOld = !isCurrent(kept, yield* Clock.currentTimeMillis)
  const { answer: before, result, wasSent } = kept
  const isTaken = before === "declined" || wasSent
  const fault = done(id, isTaken ? before : null, result !== null, isOld)
  if (fault !== undefined) return yield* fault
  const { note } = yield* Output
  if (before === "approved") yield* note("It was approved before. You can still say no.")
  for (const line of consentLines(kept)) yield* note(line)
  const question = questionOf([kept.terms.proposal])
  yield* Effect.tapErrorTag(
    confirm({ question, count: undefined, verb: "approve" }),
    "Interrupted",
    Effect.fnUntraced(function* () {
      if ((yield* store.answer(id, "declined")) === "declined") return
      return yield* new ProposalRefused({
        proposal: id,
        message: `It is too late to decline the proposal ${id}: it was approved before, and its request has left.`,
        hint: "To see the outcome: berth node list"
      })
    })
  )
  if (!isCurrent(kept, yield* Clock.currentTimeMillis)) return yield* done(id, null, false, true)!
  const answer = yield* store.answer(id, "approved")
  if (answer === "declined") return yield* done(id, answer, false, false)!
  yield* printNote("Approved. The agent may carry it out now, once.")
  const { proposal } = kept.terms
  yield* printOne(approvalRecord, {
    id,
    action: proposal.action,
    name: proposal.name,
    expiresAt: expiryOf(kept),
    outcome: "approved"
  })
})

export const approve = command(
  {
    id: argument(
      "ID",
      text("", (given) => given !== "", "expected the id of a proposal"),
      "Id of the proposal"
    )
  },
  Effect.fnUntraced(function* ({ id }) {
    if (!(yield* canAsk)) {
      return yield* new UsageFault({
        message: "Cannot approve: this is not a terminal, and only a person may approve.",
        hint: `Type it in a terminal of your own: berth approve ${quoted(id.slice(0, 100))}`
      })
    }
    const found = yield* connection
    yield* Effect.provide(ask(id, yield* proposalsOf(found)), stateOf(found))
  })
)
