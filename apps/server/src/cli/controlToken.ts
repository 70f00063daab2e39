/**
 * The control token, from its flag, its file or its variable. Whoever may list the processes of a machine sees a flag, so the other two are
 * there.
 */
import { Effect, Option, Redacted } from "effect"
import { readFlagFile, StartFailure } from "@berthkit/terminal/StartFailure"

/** The variable that has the token. */
export const controlTokenVariable = "BERTH_CONTROL_TOKEN"

export interface ControlTokenOptions {
  readonly controlToken: Option.Option<Redacted.Redacted>
  readonly controlTokenFile: Option.Option<string>
}

/** Whether a header can have it. */
export const isControlToken = (text: string): boolean => /^[!-~]+$/.test(text)

const checked = (token: Redacted.Redacted, from: string) =>
  isControlToken(Redacted.value(token))
    ? Effect.succeedSome(token)
    : Effect.fail(
        new StartFailure({
          message: `${from}: expected a token of visible ASCII characters, as a header can have it`
        })
      )

/** None where none is given. A flag comes before the variable; an empty variable is none. */
export const readControlToken = Effect.fnUntraced(function* ({ controlToken, controlTokenFile }: ControlTokenOptions) {
  if (Option.isSome(controlToken) && Option.isSome(controlTokenFile)) {
    return yield* new StartFailure({
      message: "--control-token and --control-token-file: leave out one of the two"
    })
  }
  if (Option.isSome(controlToken)) return controlToken
  if (Option.isSome(controlTokenFile)) {
    const text = yield* readFlagFile("--control-token-file", controlTokenFile.value)
    // An editor ends the last line.
    return yield* checked(Redacted.make(text.replace(/\r?\n$/, "")), "--control-token-file")
  }
  const variable = Redacted.make(process.env[controlTokenVariable] ?? "")
  return Redacted.value(variable) === "" ? Option.none() : yield* checked(variable, controlTokenVariable)
})
