/**
 * The control token, from its flag, its file or its variable. The file and the variable exist because other users of a
 * machine can see the flags of a process.
 */
import { Effect, Option, Redacted } from "effect"
import { readFlagFile, StartFailure } from "@berthkit/terminal/StartFailure"

/** The variable that holds the token. */
export const controlTokenVariable = "BERTH_CONTROL_TOKEN"

export interface ControlTokenOptions {
  readonly controlToken: Option.Option<Redacted.Redacted>
  readonly controlTokenFile: Option.Option<string>
}

/** Whether a header can hold the text. */
export const isControlToken = (text: string): boolean => /^[!-~]+$/.test(text)

const checked = (token: Redacted.Redacted, from: string) =>
  isControlToken(Redacted.value(token))
    ? Effect.succeedSome(token)
    : Effect.fail(
        new StartFailure({
          message: `${from}: expected a token of visible ASCII characters, which a header can hold`
        })
      )

/** The token, or none. A flag (with the token or its file) wins over the variable. An empty variable counts as unset. */
export const readControlToken = Effect.fnUntraced(function* ({ controlToken, controlTokenFile }: ControlTokenOptions) {
  if (Option.isSome(controlToken) && Option.isSome(controlTokenFile)) {
    return yield* new StartFailure({
      message: "--control-token and --control-token-file: leave out one of the two"
    })
  }
  if (Option.isSome(controlToken)) return controlToken
  if (Option.isSome(controlTokenFile)) {
    const text = yield* readFlagFile("--control-token-file", controlTokenFile.value)
    // Editors end the last line with a line break, which is not part of the token.
    return yield* checked(Redacted.make(text.replace(/\r?\n$/, "")), "--control-token-file")
  }
  const variable = Redacted.make(process.env[controlTokenVariable] ?? "")
  return Redacted.value(variable) === "" ? Option.none() : yield* checked(variable, controlTokenVariable)
})
