/**
 * What a command is: whatever its flags are, how it may fail and what it needs are the same for all.
 */
import { Context, Effect, type Layer, type Stdio, type Terminal } from "effect"
import type { CommandTree } from "../commandLine/CommandTree.ts"
import type { GlobalSettings } from "../commandLine/GlobalSettings.ts"
import type { Parameters, Values } from "../commandLine/Parameter.ts"
import type { ProgramEnded } from "../failure/CliFailure.ts"
import type { Failure } from "../failure/Problem.ts"
import type { Output } from "../output/Output.ts"

/** The commands that there are, for those that are about commands. */
export class Commands extends Context.Service<Commands, CommandTree<Command>>()(
  "@berthkit/cli/commands/command/Commands"
) {}

/** What a command may need. */
export type Needs = Output | Commands | GlobalSettings | Stdio.Stdio | Terminal.Terminal

/** A command: its flags and arguments as data, and what it does with their values. */
export interface Command {
  readonly parameters: Parameters
  readonly run: (values: Values<Parameters>) => Effect.Effect<void, Failure | ProgramEnded, Needs>
}

/** A command with the types of its flags; `layer`, which may depend on the values, is provided to it. */
export const command = <
  const P extends Parameters,
  E extends Failure | ProgramEnded,
  R extends Needs | ROut,
  ROut = never,
  E2 extends Failure | ProgramEnded = never,
  RIn extends Needs = never
>(
  parameters: P,
  run: (values: Values<P>) => Effect.Effect<void, E, R>,
  layer?: Layer.Layer<ROut, E2, RIn> | ((values: Values<P>) => Layer.Layer<ROut, E2, RIn>)
): Command => {
  const provided = (values: Values<P>) =>
    layer === undefined ? run(values) : Effect.provide(run(values), typeof layer === "function" ? layer(values) : layer)
  return { parameters, run: provided as Command["run"] }
}
