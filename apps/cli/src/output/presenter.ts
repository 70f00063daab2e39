/**
 * Help and version, which are data because they were asked for. The fault of a command line is reported by `ending.ts`, in
 * two lines and not as a page of help.
 */
import { Effect, Layer } from "effect"
import { CliOutput } from "effect/cli"
import { Output } from "./Output.ts"

export const presenter = Layer.effect(
  CliOutput.Presenter,
  Effect.gen(function* () {
    const { data, stdout } = yield* Output
    const formatter = CliOutput.defaultFormatter({ colors: stdout.colour })
    return {
      present: (event) => {
        switch (event._tag) {
          case "Help":
            // Without a subcommand, only the program's own name asks for help.
            return event.reason === "Requested" || event.commandPath.length === 1
              ? data(`${formatter.formatHelpDoc(event.helpDoc)}\n`)
              : Effect.void
          case "Version":
            return data(`${event.name} ${event.version}\n`)
          case "InvalidInvocation":
            return Effect.void
        }
      }
    }
  })
)
