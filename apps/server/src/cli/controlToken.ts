/**
 * The control token, from its flag, its file or its variable. Whoever may list the processes of a machine sees a flag, so the other two are
 * there.
 */
import { Data, Effect, FileSystem, Option, Redacted } from "effect"
import type { PlatformError } from "effect/PlatformError"

/** The variable that has the token. */
export const controlTokenVariable = "BERTH_CONTROL_TOKEN"

/** Why there is no token, in one line without it. */
class ControlTokenFailure extends Data.TaggedError("ControlTokenFailure")<{ readonly message: string }> {}

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
        new ControlTokenFailure({
          message: `${from}: expected a token of visible ASCII characters, as a header can have it`
        })
      )

/** None where none is given. A flag comes before the variable; an empty variable is none. */
export const readControlToken = Effect.fnUntraced(function* ({ controlToken, controlTokenFile }: ControlTokenOptions) {
  if (Option.isSome(controlToken) && Option.isSome(controlTokenFile)) {
    return yield* new ControlTokenFailure({
      message: "--control-token and --control-token-file: leave out one of the two"
    })
  }
  if (Option.isSome(controlToken)) return controlToken
  if (Option.isSome(controlTokenFile)) {
    const file = controlTokenFile.value
    const fs = yield* FileSystem.FileSystem
    const token = yield* fs.readFileString(file).pipe(
      // An editor ends the last line.
      Effect.map((text) => Redacted.make(text.replace(/\r?\n$/, ""))),
      Effect.mapError(
        ({ reason }: PlatformError) =>
          new ControlTokenFailure({
            message: `--control-token-file: cannot read ${file}: ${reason._tag === "NotFound" ? "there is no such file" : reason._tag}`
          })
      )
    )
    return yield* checked(token, "--control-token-file")
  }
  const variable = Redacted.make(process.env[controlTokenVariable] ?? "")
  return Redacted.value(variable) === "" ? Option.none() : yield* checked(variable, controlTokenVariable)
})
