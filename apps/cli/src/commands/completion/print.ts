/**
 * `berth completion`: the script that makes a shell complete berth.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { argument, oneOf } from "../../commandLine/Parameter.ts"
import { shells, shellScripts } from "../../completion/shellScripts.ts"
import { Output } from "../../output/Output.ts"

export const completion = command(
  {
    shell: argument("SHELL", oneOf(shells, ""), "The shell that runs the script")
  },
  Effect.fnUntraced(function* ({ shell }) {
    yield* Output.use(({ data }) => data(shellScripts[shell]))
  })
)
