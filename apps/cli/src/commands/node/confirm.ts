/**
 * Asks a person before something is destroyed. The question goes to stderr, so that stdout stays data alone; the answer
 * is read as a line, so that Ctrl-C works as everywhere else.
 */
import { Effect, Stdio, Terminal } from "effect"
import { Interrupted, UsageFault } from "../../failure/CliFailure.ts"
import { escapeControls } from "../../output/escapeControls.ts"
import { Output } from "../../output/Output.ts"

/** Succeeds when the answer is yes. Fails where nobody can be asked, and when the answer is anything else. */
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

/** Fails where nobody can be asked. */
export const ensureAskable = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  const { stderr } = yield* Output
  if ((yield* stdio.stdinIsTerminal) && stderr.isTerminal) return
  return yield* new UsageFault({
    message: "There is nobody to ask whether to delete: this is not a terminal.",
    hint: "Add --yes to delete without asking; --dry-run shows what would be deleted."
  })
})
