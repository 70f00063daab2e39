/**
 * `berth`, the whole program: what a command line asks for, the one command that it needs, and how a run ends.
 */
import { usageProblem } from "@berth/terminal/usage"
import { variables } from "@berth/terminal/variables"
import { Effect, Layer } from "effect"
import { CliConfig, CliError, Command } from "effect/cli"
import pkg from "../package.json" with { type: "json" }
import { canonical } from "./commandLine/Arguments.ts"
import type { FlagDescription } from "./commandLine/CommandDescription.ts"
import { Commands } from "./commandLine/Commands.ts"
import { flagsOf } from "./commandLine/describe.ts"
import { describeGroup } from "./commandLine/describeGroup.ts"
import { formats, globalFlagList } from "./commandLine/globalFlags.ts"
import { helpText } from "./commandLine/helpText.ts"
import { namingAccount } from "./commandLine/namingAccount.ts"
import { rawFlags } from "./commandLine/rawFlag.ts"
import { type Place, readRequest, type Request } from "./commandLine/Request.ts"
import { suggestFlags } from "./commandLine/suggestFlags.ts"
import { isNoun } from "./commandLine/CommandTree.ts"
import { checkSelection } from "./commands/checkSelection.ts"
import { describeCommand } from "./commands/describeCommand.ts"
import type { Loaded } from "./commands/Loaded.ts"
import { internalVerbs, tree } from "./commands/tree.ts"
import { withExitCode } from "./ending.ts"
import { UsageFault } from "./failure/CliFailure.ts"
import { Output, type Streams } from "./output/Output.ts"
import { type Format, hasJsonErrors, isFormat, OutputFormat } from "./output/OutputFormat.ts"
import { outputFlags } from "./output/OutputOptions.ts"
import { presenter } from "./output/presenter.ts"
import { valueText } from "./output/valueText.ts"
import { type AskedFormat, formatOf } from "./settings/format.ts"
import { settingFlags } from "./settings/globalFlags.ts"
import { logs } from "./settings/logs.ts"
import { platform } from "./settings/platform.ts"
import { redaction } from "./settings/redaction.ts"

type Run = Extract<Request<Loaded>, { readonly _tag: "Run" }>

/** A fault of the command line, as the parser would have it. */
const fault = (error: CliError.NonShowHelpErrors | undefined, path: ReadonlyArray<string>) => {
  const errors = error === undefined ? [] : [error]
  return new UsageFault(usageProblem("berth", new CliError.ShowHelp({ commandPath: ["berth", ...path], errors })))
}

const unknownFlag = (option: string, path: ReadonlyArray<string>, flags: ReadonlyArray<FlagDescription>) => {
  const command = ["berth", ...path]
  return fault(new CliError.UnrecognizedOption({ option, suggestions: suggestFlags(option, flags), command }), path)
}

/** The tree as the parser has it: of all commands, the one that runs. */
const parserOf = (path: ReadonlyArray<string>, command: Loaded) => {
  const [noun] = path
  const leaf = path.length === 1 ? command : Command.make(noun!).pipe(Command.withSubcommands([command]))
  return Command.make("berth").pipe(
    Command.withSubcommands([leaf]),
    Command.withGlobalFlags([OutputFormat, ...outputFlags, ...settingFlags])
  )
}

const runVerb = Effect.fnUntraced(function* ({ args, path, verb }: Run, format: string | undefined) {
  if (format !== undefined && !isFormat(format)) {
    return yield* new UsageFault({
      message: `${variables.output} is not usable: expected ${formats.join(", ")}.`,
      hint: `Correct ${variables.output}, or unset it.`
    })
  }
  const command = yield* Effect.promise(verb.load)
  const flags = [...flagsOf(command), ...globalFlagList]
  const { args: words, unknown } = canonical(args, flags)
  if (unknown !== undefined) return yield* unknownFlag(unknown, path, flags)
  yield* checkSelection([...verb.prints, ...verb.paints], words)
  const output =
    format === undefined || words.some((word) => word.startsWith("--output=")) ? [] : [`--output=${format}`]
  yield* Command.runWith(parserOf(path, command), { version: pkg.version })([...path, ...output, ...words])
})

/** The help of any place in the tree, as text or as data. */
const printHelp = Effect.fnUntraced(function* ({ entry, path }: Place<Loaded>, format: Format) {
  const { data, stdout } = yield* Output
  const description =
    entry === undefined || isNoun(entry)
      ? describeGroup(tree, entry)
      : yield* Effect.promise(() => describeCommand(path, entry))
  yield* data(hasJsonErrors(format) ? yield* valueText(description, format) : helpText(description, stdout.colour))
})

/** Whether berth itself asks, for completions, which show no notes. */
const isInternal = ([first]: ReadonlyArray<string>): boolean => internalVerbs.some(({ name }) => name === first)

const perform = Effect.fnUntraced(function* (args: ReadonlyArray<string>, format: AskedFormat) {
  const request = readRequest(isInternal(args) ? internalVerbs : tree, args)
  switch (request._tag) {
    case "Version":
      return yield* Output.use(({ data }) => data(`berth ${pkg.version}\n`))
    case "Help":
      return yield* printHelp(request.place, format.asked)
    case "UnknownFlag":
      return yield* unknownFlag(request.written, request.path, globalFlagList)
    case "NoCommand": {
      const { hint, message } = fault(undefined, request.path)
      const noun = tree.find(({ name }) => name === request.path[0])
      const verbs = noun !== undefined && isNoun(noun) ? noun.verbs.map(({ name }) => name).join(", ") : ""
      return yield* new UsageFault({ message, hint: verbs === "" ? hint : `It has ${verbs}. ${hint}` })
    }
    case "UnknownCommand": {
      const { path, suggestions, word } = request
      const parent = ["berth", ...path]
      return yield* fault(new CliError.UnknownSubcommand({ subcommand: word, parent, suggestions }), path)
    }
    case "Run":
      return yield* runVerb(request, format.fromEnvironment)
  }
})

/** Runs berth on these streams and gives its exit code. The caller handles an interruption. */
export const run = (args: ReadonlyArray<string>, streams: Streams): Effect.Effect<number> =>
  Effect.gen(function* () {
    const raw = rawFlags(args)
    const format = yield* formatOf(raw.output)
    const output = Output.layer(streams, {
      redact: redaction,
      color: raw.color,
      quiet: raw.quiet || isInternal(args),
      followable: namingAccount(
        raw,
        tree.map(({ name }) => name)
      ),
      jsonErrors: hasJsonErrors(format.asked)
    })
    return yield* perform(args, format).pipe(
      withExitCode(format.asked, raw.debug),
      Effect.provideService(Commands, tree),
      Effect.provide(
        Layer.mergeAll(
          Layer.provideMerge(logs(raw.debug), output),
          presenter,
          platform,
          CliConfig.layer({ builtIns: [] })
        )
      )
    )
  })
