/**
 * The name of the command that runs, such as `node create`: the log of changes has it.
 */
import { Context } from "effect"

export const RunningCommand = Context.Reference<string>("@berthkit/cli/commandLine/RunningCommand", {
  defaultValue: () => ""
})
