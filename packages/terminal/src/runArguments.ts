/**
 * Runs a command line that `effect/cli` parses. If `--help` follows an unknown command, `effect/cli` prints the help of the
 * command before it and does not mention the unknown one. Here this is a usage error, as it is without `--help`.
 */
import { Effect } from "effect"
import { CliError, CliOutput, Command } from "effect/cli"
import { nearest } from "./usage.ts"

/** The error for a word in the place of a subcommand that is no subcommand; undefined if there is no such word. */
const unknownCommand = (
  { commandPath, helpDoc }: CliOutput.Presenter.Help,
  args: ReadonlyArray<string>
): CliError.UnknownSubcommand | undefined => {
  const names = (helpDoc.subcommands ?? []).flatMap(({ commands }) => commands.map(({ name }) => name))
  const path = commandPath.slice(1)
  const subcommand = args[path.length]
  // A word that follows a flag may be the flag's value.
  const isRightAfter = path.every((name, index) => name === args[index])
  if (subcommand === undefined || subcommand.startsWith("-") || !isRightAfter || names.length === 0) return undefined
  return new CliError.UnknownSubcommand({ subcommand, parent: commandPath, suggestions: nearest(subcommand, names) })
}

/** Runs `command` with arguments. `presenter` shows help and usage errors. */
export const runArguments =
  <Name extends string, Input, E, R, ContextInput>(
    command: Command.Command<Name, Input, ContextInput, E, R>,
    { presenter, version }: { readonly presenter: CliOutput.Presenter; readonly version: string }
  ) =>
  (args: ReadonlyArray<string>) =>
    Effect.suspend(() => {
      let unknown: CliError.UnknownSubcommand | undefined
      const present = (event: CliOutput.Presenter.Event) => {
        if (event._tag === "Help" && event.reason === "Requested") unknown = unknownCommand(event, args)
        return unknown === undefined ? presenter.present(event) : Effect.void
      }
      return Command.runWith(command, { version })(args).pipe(
        Effect.andThen(Effect.suspend(() => (unknown === undefined ? Effect.void : Effect.fail(unknown)))),
        Effect.provide(CliOutput.layerPresenter({ present }))
      )
    })
