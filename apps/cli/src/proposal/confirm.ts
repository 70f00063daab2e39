/**
 * Asks before a change. The question goes to stderr, because stdout is for data; the answer is read as a line, so that Ctrl-C works as
 * usual.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Effect, Layer, Option, Stdio, Terminal } from "effect"
import { Interrupted, UsageFault } from "../failure/CliFailure.ts"
import { Output } from "../output/Output.ts"
import { accountSettings } from "../settings/account.ts"
import { dropTypedAhead, terminal } from "../settings/platform.ts"

/** Whether there is a terminal to ask. */
export const canAsk = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  const { stderr } = yield* Output
  return (yield* stdio.stdinIsTerminal) && stderr.isTerminal
})

/** Fails without a terminal. */
export const ensureAskable = Effect.fnUntraced(function* (verb: string) {
  if (yield* canAsk) return
  return yield* new UsageFault({
    message: `Cannot ask whether to ${verb}: this is not a terminal.`,
    hint: `Add --yes to ${verb} without asking, or --dry-run to see what would happen.`
  })
})

const nothingDone = "Nothing was changed."

/** Asks for a line. An interruption reports that nothing was done. */
export const askLine = Effect.fnUntraced(function* (question: string, nothing = nothingDone) {
  const { ask, note } = yield* Output
  yield* ask(`${escapeControls(question)} `)
  const terminal = yield* Terminal.Terminal
  const answer = yield* terminal.readLine.pipe(
    Effect.orElseSucceed(() => ""),
    Effect.onInterrupt(() => note(`\n${nothing}`))
  )
  return answer.trim()
})

/** The text and kind of a question. */
interface Question {
  readonly question: string
  /** The number to type instead of `y`. */
  readonly count: number | undefined
  readonly verb: string
}

/**
 * Asks a question and reads the answer. Drops text that the user typed before reading the question. Opens the terminal again, because an
 * older handle may already have read lines.
 */
const askNow = (question: string) =>
  Effect.andThen(
    dropTypedAhead(Effect.fail(new Interrupted({ message: nothingDone, hint: "" }))),
    Effect.provide(askLine(question), Layer.fresh(terminal))
  )

/** The project and location of the account if they are set, because different places may have nodes of the same name. */
const placeText = Effect.map(Effect.option(accountSettings), (settings) =>
  Option.match(
    Option.flatMap(settings, ({ location, project }) => Option.all({ location, project })),
    {
      onNone: () => "",
      onSome: ({ location, project }) => `In project ${project.value} at ${location.value}: `
    }
  )
)

/** Succeeds if the answer is yes. Fails for any other answer, and without a terminal. */
export const confirm = Effect.fnUntraced(function* ({ count, question, verb }: Question) {
  yield* ensureAskable(verb)
  const answer = yield* askNow(
    `${yield* placeText}${question} ${count === undefined ? "[y/N]" : `Type ${count} to go on:`}`
  )
  const isYes = count === undefined ? /^y(?:es)?$/i.test(answer) : answer === String(count)
  if (!isYes) return yield* new Interrupted({ message: nothingDone, hint: "" })
})
