/**
 * `berth completion`: the script that makes a shell complete berth.
 */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { shells, shellScripts } from "../../completion/shellScripts.ts"
import { Output } from "../../output/Output.ts"

export const completion = Command.make(
  "completion",
  {
    shell: Argument.Literals("SHELL", shells).pipe(
      Argument.withMetavar(""),
      Argument.withDescription("The shell that runs the script")
    )
  },
  Effect.fnUntraced(function* ({ shell }) {
    yield* Output.use(({ data }) => data(shellScripts[shell]))
  })
)
