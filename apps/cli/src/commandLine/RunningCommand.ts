/**
 * The name of the running command, such as `node create`, for the log of changes.
 */
import { Context } from "effect"

export const RunningCommand = Context.Reference<string>("@berthkit/cli/commandLine/RunningCommand", {
  defaultValue: () => ""
})
