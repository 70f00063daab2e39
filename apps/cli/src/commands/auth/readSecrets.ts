/**
 * Reads the API key and the access token: from a prompt that shows nothing of them, or from stdin, a line each. Never from a flag: every
 * user of the machine can read a command line, and a shell keeps it.
 */
import { Effect, Exit, Option, Queue, Redacted, Stdio, Stream, Terminal } from "effect"
import { Interrupted, UsageFault } from "../../failure/CliFailure.ts"
import { Output } from "../../output/Output.ts"
import { canAsk } from "../../proposal/confirm.ts"

/** Longer lines are no credentials. */
const maxInputLength = 64 * 1024

const missing = (what: string) =>
  new UsageFault({
    message: `${what} is missing.`,
    hint: "Pipe in the API key and the access token, one per line, or run berth auth login at a terminal."
  })

export const nothingSaved = "Nothing was saved."

/** A line that is typed, without an echo: the terminal shows none any more when the question appears. */
const typed = Effect.fnUntraced(function* (question: string) {
  const { ask, note } = yield* Output
  const terminal = yield* Terminal.Terminal
  const input = yield* terminal.readInput
  yield* Effect.addFinalizer((exit) => (Exit.hasInterrupts(exit) ? note(`\n${nothingSaved}`) : Effect.void))
  yield* ask(question)
  let text = ""
  for (;;) {
    const pressed = yield* Effect.option(Queue.take(input))
    if (Option.isNone(pressed)) break
    const { input: character, key } = pressed.value
    if (key.ctrl && (key.name === "c" || key.name === "d")) break
    if (key.name === "return" || key.name === "enter") {
      yield* ask("\n")
      return text
    }
    if (key.name === "backspace") text = text.slice(0, -1)
    else if (!key.ctrl && !key.meta && text.length < maxInputLength) text += Option.getOrElse(character, () => "")
  }
  yield* ask("\n")
  return yield* new Interrupted({ message: nothingSaved, hint: "" })
}, Effect.scoped)

/** The lines of stdin. */
const pipedLines = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  const text = yield* Stream.mkString(Stream.take(Stream.decodeText(stdin), maxInputLength)).pipe(
    Effect.orElseSucceed(() => "")
  )
  return text.split("\n").map((line) => line.trim())
})

/** Both credentials. */
export const readSecrets = Effect.gen(function* () {
  const [apiKey = "", accessToken = ""] = (yield* canAsk)
    ? [yield* typed("API key: "), yield* typed("Access token: ")]
    : yield* pipedLines
  if (apiKey === "") return yield* missing("The API key")
  if (accessToken === "") return yield* missing("The access token")
  return { apiKey: Redacted.make(apiKey.trim()), accessToken: Redacted.make(accessToken.trim()) }
})
