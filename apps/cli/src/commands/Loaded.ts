/**
 * What a command is once it is loaded: whatever its flags are, how it may fail and what it needs are the same for all.
 */
import type { FileSystem, Path, Stdio, Terminal } from "effect"
import type { Command } from "../commandLine/Command.ts"
import type { Commands } from "../commandLine/Commands.ts"
import type { GlobalSettings } from "../commandLine/GlobalSettings.ts"
import type { Parameters } from "../commandLine/Parameter.ts"
import type { ProgramEnded } from "../failure/CliFailure.ts"
import type { Failure } from "../failure/Problem.ts"
import type { Output } from "../output/Output.ts"

/** What a command may need. */
export type Needs =
  | Output
  | Commands
  | GlobalSettings
  | FileSystem.FileSystem
  | Path.Path
  | Stdio.Stdio
  | Terminal.Terminal

export type Loaded = Command<Parameters, Failure | ProgramEnded, Needs>

/** The command without the type of its flags. */
export const loaded = <P extends Parameters, E extends Failure | ProgramEnded, R extends Needs>(
  command: Command<P, E, R>
): Loaded => command as unknown as Loaded
