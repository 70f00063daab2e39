/**
 * The commands that there are, for commands that are about commands: `schema`, `completion`, help.
 */
import { Context } from "effect"
import type { Declared } from "./Command.ts"
import type { CommandTree } from "./CommandTree.ts"

export class Commands extends Context.Service<Commands, CommandTree<Declared>>()("@berth/cli/commandLine/Commands") {}
