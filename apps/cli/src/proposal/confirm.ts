/**
 * Asks before something is destroyed. The question goes to stderr, because stdout is for data alone; the answer is read as
 * a line, so that Ctrl-C works as everywhere else.
 */
import { escapeControls } from "@berth/terminal/escapeControls"
import { Effect, Stdio, Terminal } from "effect"
import { Interrupted, UsageFault } from "../failure/CliFailure.ts"
import { Output } from "../output/Output.ts"

/** Succeeds when the answer is yes. Fails without a terminal to ask at, and when the answer is anything else. */
export const confirm = Effect.fnUntraced(function* (question: string, nothingDone: string) {
  yield* ensureAskable
  const { ask, note } = yield* Output
  yield* ask(`${escapeControls(question)} [y/N] `)
  const terminal = yield* Terminal.Terminal
  const answer = yield* terminal.readLine.pipe(
    Effect.orElseSucceed(() => ""),
    Effect.onInterrupt(() => note(`\n${nothingDone}`))
  )
  if (!/^y(?:es)?$/i.test(answer.trim())) return yield* new Interrupted({ message: nothingDone, hint: "" })
})

/** Fails without a terminal to ask at. */
export const ensureAskable = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  const { stderr } = yield* Output
  if ((yield* stdio.stdinIsTerminal) && stderr.isTerminal) return
  return yield* new UsageFault({
    message: "Cannot ask whether to delete: this is not a terminal.",
    hint: "Add --yes to delete without asking, or --dry-run to see what would be deleted."
  })
})
