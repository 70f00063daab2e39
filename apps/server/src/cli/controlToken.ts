/**
 * The control token, from its flag, its file or its variable. Other users of a machine can see the flags of a process, so the
 * file and the variable exist as well.
 */
import { Effect, Option, Redacted } from "effect"
import { readFlagFile, StartFailure } from "@berthkit/terminal/StartFailure"

/** The variable that holds the token. */
export const controlTokenVariable = "BERTH_CONTROL_TOKEN"

export interface ControlTokenOptions {
  readonly controlToken: Option.Option<Redacted.Redacted>
  readonly controlTokenFile: Option.Option<string>
}

/** Whether the text can stand in a header. */
export const isControlToken = (text: string): boolean => /^[!-~]+$/.test(text)

const checked = (token: Redacted.Redacted, from: string) =>
  isControlToken(Redacted.value(token))
    ? Effect.succeedSome(token)
    : Effect.fail(
        new StartFailure({
          message: `${from}: expected a token of visible ASCII characters, which a header can hold`
        })
      )

/** The token, or none. The flag wins over the variable; an empty variable counts as unset. */
export const readControlToken = Effect.fnUntraced(function* ({ controlToken, controlTokenFile }: ControlTokenOptions) {
  if (Option.isSome(controlToken) && Option.isSome(controlTokenFile)) {
    return yield* new StartFailure({
      message: "--control-token and --control-token-file: leave out one of the two"
    })
  }
  if (Option.isSome(controlToken)) return controlToken
  if (Option.isSome(controlTokenFile)) {
    const text = yield* readFlagFile("--control-token-file", controlTokenFile.value)
    // Editors end the last line with a line break.
    return yield* checked(Redacted.make(text.replace(/\r?\n$/, "")), "--control-token-file")
  }
  const variable = Redacted.make(process.env[controlTokenVariable] ?? "")
  return Redacted.value(variable) === "" ? Option.none() : yield* checked(variable, controlTokenVariable)
})
