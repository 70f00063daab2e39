/**
 * `berth`, the whole program: what a command line asks for, the one command that it needs, and how a run ends.
 */
import { didYouMean, secretProblem } from "@berthkit/terminal/usage"
import { variables } from "@berthkit/terminal/variables"
import { Effect, Layer, Result } from "effect"
import pkg from "../package.json" with { type: "json" }
import { flagsOf, readCommand, usageProblem } from "./commandLine/readCommand.ts"
import type { FlagHelp } from "./commandLine/CommandHelp.ts"
import { helpOfGroup } from "./commandLine/helpOf.ts"
import { formats, globalFlagList, globalFlags } from "./commandLine/globalFlags.ts"
import { globalParameters, GlobalSettings } from "./commandLine/GlobalSettings.ts"
import { helpText } from "./commandLine/helpText.ts"
import { namingAccount } from "./commandLine/namingAccount.ts"
import { rawFlags } from "./commandLine/rawFlag.ts"
import { type Place, readRequest, type Request } from "./commandLine/Request.ts"
import { suggestFlags } from "./commandLine/suggestFlags.ts"
import { isOn, readWords } from "./commandLine/words.ts"
import { isNoun } from "./commandLine/CommandTree.ts"
import { checkSelection } from "./commands/checkSelection.ts"
import { type Command, Commands } from "./commands/command.ts"
import { loadHelp } from "./commands/loadHelp.ts"
import { internalVerbs, tree } from "./commands/tree.ts"
import { withExitCode } from "./ending.ts"
import { UsageFault } from "./failure/CliFailure.ts"
import { Output, type Streams } from "./output/Output.ts"
import { type Format, hasJsonErrors, isFormat } from "./output/OutputFormat.ts"
import { valueText } from "./output/valueText.ts"
import { type AskedFormat, formatOf } from "./settings/format.ts"
import { logs } from "./settings/logs.ts"
import { platform } from "./settings/platform.ts"
import { redaction } from "./settings/redaction.ts"

type Run = Extract<Request<Command>, { readonly _tag: "Run" }>

const nameOf = (path: ReadonlyArray<string>) => ["berth", ...path].join(" ")

/** A fault of the command line. */
const fault = (path: ReadonlyArray<string>, message: string) => new UsageFault(usageProblem(nameOf(path), message))

const unknownFlag = (written: string, path: ReadonlyArray<string>, flags: ReadonlyArray<FlagHelp>) => {
  const suggestions = suggestFlags(written, flags)
  const secret = suggestions.length === 0 ? secretProblem(nameOf(path), written) : undefined
  return secret === undefined
    ? fault(path, `${nameOf(path)} has no flag ${written}${didYouMean(suggestions)}`)
    : new UsageFault(secret)
}

/** The help of any place in the tree, as text or as data. */
const printHelp = Effect.fnUntraced(function* ({ entry, path }: Place<Command>, format: Format) {
  const { data, stdout } = yield* Output
  const help =
    entry === undefined || isNoun(entry) ? helpOfGroup(tree, entry) : yield* Effect.promise(() => loadHelp(path, entry))
  yield* data(hasJsonErrors(format) ? yield* valueText(help, format) : helpText(help, stdout.colour))
})

const runVerb = Effect.fnUntraced(function* ({ args, path, verb }: Run, asked: AskedFormat) {
  const format = asked.fromEnvironment
  if (format !== undefined && !isFormat(format)) {
    return yield* new UsageFault({
      message: `${variables.output} is not usable: expected ${formats.join(", ")}.`,
      hint: `Correct ${variables.output}, or unset it.`
    })
  }
  const command = yield* Effect.promise(verb.load)
  const flags = [...flagsOf(command.parameters), ...globalFlagList]
  const words = readWords(args, flags)
  if (words.unknown !== undefined) return yield* unknownFlag(words.unknown, path, flags)
  // Among other switches, as in `-yh`: nothing is done where help is asked for.
  const help = words.flags.get(globalFlags.help)
  if (help !== undefined && isOn.get(help[0] ?? "") !== false)
    return yield* printHelp({ path, entry: verb }, asked.asked)
  yield* checkSelection([...verb.prints, ...verb.paints], words)
  const read = readCommand(command.parameters, globalParameters, words, nameOf(path))
  if (Result.isFailure(read)) return yield* new UsageFault(read.failure)
  const { globals, values } = read.success
  const output = words.flags.has(globalFlags.output) || format === undefined ? globals.output : format
  yield* Effect.provideService(command.run(values), GlobalSettings, { ...globals, output })
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
      const { path } = request
      const noun = tree.find(({ name }) => name === path[0])
      const verbs = noun !== undefined && isNoun(noun) ? noun.verbs.map(({ name }) => name).join(", ") : ""
      const { hint, message } = fault(path, `${nameOf(path)} needs a command.`)
      return yield* new UsageFault({ message, hint: verbs === "" ? hint : `Its commands are ${verbs}. ${hint}` })
    }
    case "UnknownCommand": {
      const { path, suggestions, word } = request
      return yield* fault(path, `${nameOf(path)} has no command ${word}${didYouMean(suggestions)}`)
    }
    case "Run":
      return yield* runVerb(request, format)
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
      Effect.provide(Layer.mergeAll(Layer.provideMerge(logs(raw.debug), output), platform))
    )
  })
