/**
 * The type of a command. All commands share their error type and their requirements.
 */
import { Context, Effect, type Layer, type Stdio, type Terminal } from "effect"
import type { CommandTree } from "../commandLine/CommandTree.ts"
import type { GlobalSettings, Parameters, Values } from "../commandLine/Parameter.ts"
import type { ProgramEnded } from "../failure/CliFailure.ts"
import type { Failure } from "../failure/Problem.ts"
import type { Output } from "../output/Output.ts"

/** All commands, for code that describes commands, such as help and completion. */
export class Commands extends Context.Service<Commands, CommandTree<Command>>()(
  "@berthkit/cli/commands/command/Commands"
) {}

/** The services that a command may need. */
export type Needs = Output | Commands | GlobalSettings | Stdio.Stdio | Terminal.Terminal

/** A command: its flags and arguments as data, and the function that runs with their values. */
export interface Command {
  readonly parameters: Parameters
  readonly run: (values: Values<Parameters>) => Effect.Effect<void, Failure | ProgramEnded, Needs>
}

/** Makes a command. Its run gets the services of `layer`, which may depend on the values of the flags. */
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
