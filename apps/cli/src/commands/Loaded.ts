/**
 * What a command is once it is loaded: whatever its flags are, how it may fail and what it needs are the same for all.
 */
import type { Effect } from "effect"
import type { Command } from "effect/cli"
import type { Commands } from "../commandLine/Commands.ts"
import type { ProgramEnded } from "../failure/CliFailure.ts"
import type { Failure } from "../failure/Problem.ts"
import type { Output } from "../output/Output.ts"
import type { OutputFormat } from "../output/OutputFormat.ts"
import type { OutputOptions } from "../output/OutputOptions.ts"
import type { AllowHttp, BaseUrl, Deadline, Debug, Profile } from "../settings/globalFlags.ts"

/** What a command may need. */
export type Needs =
  | Output
  | Commands
  | Command.Environment
  | Effect.Services<typeof OutputFormat | typeof OutputOptions | typeof AllowHttp | typeof BaseUrl>
  | Effect.Services<typeof Deadline | typeof Debug | typeof Profile>

export type Loaded = Command.Command<string, unknown, object, Failure | ProgramEnded, Needs>

/** The command without the type of its flags. */
export const loaded = <Name extends string, Input, ContextInput, E extends Failure | ProgramEnded, R extends Needs>(
  command: Command.Command<Name, Input, ContextInput, E, R>
): Loaded => command as unknown as Loaded
