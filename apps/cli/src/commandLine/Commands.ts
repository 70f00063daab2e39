/**
 * The commands that there are, for commands that are about commands: `schema`, `completion`, help.
 */
import { Context } from "effect"
import type { Command } from "effect/cli"
import type { CommandTree } from "./CommandTree.ts"

export class Commands extends Context.Service<Commands, CommandTree<Command.Command.Any>>()(
  "@berth/cli/commandLine/Commands"
) {}
