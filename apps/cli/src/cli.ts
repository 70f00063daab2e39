/**
 * The `berth` program: parses the command line, loads the one command that it needs, checks the output flags before the command begins, and
 * ends the run and the process.
 */
import { ChangedBy } from "@berthkit/core/client/state/ChangedBy"
import { exitCode } from "@berthkit/terminal/exitCode"
import { didYouMean, secretProblem } from "@berthkit/terminal/usage"
import { variables } from "@berthkit/terminal/variables"
import { Cause, Effect, Exit, Layer, Option, Result, Runtime } from "effect"
import pkg from "../package.json" with { type: "json" }
import { flagsOf, GlobalSettings, readCommand, usageProblem } from "./commandLine/Parameter.ts"
import type { FlagHelp } from "./commandLine/CommandHelp.ts"
import { helpOfGroup } from "./commandLine/helpOf.ts"
import { formats, globalFlagList, globalFlags } from "./commandLine/globalFlags.ts"
import { helpText } from "@berthkit/terminal/helpText"
import { namingAccount } from "./commandLine/commandToType.ts"
import { isOn, rawFlags, readWords } from "./commandLine/words.ts"
import { type Place, readRequest, type Request } from "./commandLine/Request.ts"
import { suggestFlags } from "./commandLine/suggestions.ts"
import { isNoun } from "./commandLine/CommandTree.ts"
import { type Command, Commands } from "./commands/command.ts"
import { loadHelp, recordNamed } from "./commands/describe.ts"
import { internalVerbs, tree } from "./commands/tree.ts"
import { type ProgramEnded, UsageFault } from "./failure/CliFailure.ts"
import { Output, printDebug, StdoutFailed, type Streams } from "./output/Output.ts"
import { checkOutput } from "./output/checkOutput.ts"
import { askedBy, type AskedFormat, type Format, formatOf, hasJsonErrors, isFormat } from "./output/OutputOptions.ts"
import { valueText } from "./output/valueText.ts"
import { logs } from "./settings/logs.ts"
import { platform } from "./settings/platform.ts"
import { redaction } from "./settings/redaction.ts"
import {
  exitCodeOf,
  type Failure,
  type Problem,
  problemOf,
  problemOfDefect,
  problemOfOutput
} from "./failure/Problem.ts"
import { reportProblem } from "./output/reportProblem.ts"

type Run = Extract<Request<Command>, { readonly _tag: "Run" }>

const nameOf = (path: ReadonlyArray<string>) => ["berth", ...path].join(" ")

/** A usage error. */
const fault = (path: ReadonlyArray<string>, message: string) => new UsageFault(usageProblem(nameOf(path), message))

const unknownFlag = (written: string, path: ReadonlyArray<string>, flags: ReadonlyArray<FlagHelp>) => {
  const suggestions = suggestFlags(written, flags)
  const secret = suggestions.length === 0 ? secretProblem(nameOf(path), written) : undefined
  return secret === undefined
    ? fault(path, `${nameOf(path)} has no flag ${written}${didYouMean(suggestions)}`)
    : new UsageFault(secret)
}

/** Prints the help of a place in the tree, as text or as data. */
const printHelp = Effect.fnUntraced(function* ({ entry, path }: Place<Command>, format: Format) {
  const { data, stdout } = yield* Output
  const help =
    entry === undefined || isNoun(entry) ? helpOfGroup(tree, entry) : yield* Effect.promise(() => loadHelp(path, entry))
  yield* data(hasJsonErrors(format) ? yield* valueText(help, format) : helpText(help, stdout.colour))
})

/**
 * The kinds of records that a command prints in this run. A command that can print proposals prints only these with `--dry-run`, and
 * never prints them without it.
 */
const printedBy = (names: ReadonlyArray<string>, isDryRun: boolean): ReadonlyArray<string> => {
  const isProposal = (name: string) => name.replace("[]", "") === "proposal"
  return names.some(isProposal) ? names.filter((name) => isProposal(name) === isDryRun) : names
}

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
  // A command whose switch for help is combined with others, as in `-yh`, prints its help and does nothing else.
  const help = words.flags.get(globalFlags.help)
  if (help !== undefined && isOn.get(help[0] ?? "") !== false)
    return yield* printHelp({ path, entry: verb }, asked.asked)
  const read = readCommand(command.parameters, words, nameOf(path))
  if (Result.isFailure(read)) return yield* new UsageFault(read.failure)
  const { globals, values } = read.success
  const output = words.flags.has(globalFlags.output) || format === undefined ? globals.output : format
  const names = printedBy([...verb.prints, ...verb.paints], (values as { readonly dryRun?: unknown }).dryRun === true)
  const records = yield* Effect.promise(() => Promise.all(names.map(recordNamed)))
  yield* checkOutput({ command: nameOf(path), records, value: verb.value }, askedBy({ ...globals, output }))
  yield* command
    .run(values)
    .pipe(
      Effect.provideService(GlobalSettings, { ...globals, output }),
      Effect.provideService(ChangedBy, path.join(" "))
    )
})

/** Whether this is an internal command, such as those that compute completions. Internal commands print no notes. */
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

interface Ending {
  readonly code: number
  readonly problem: Problem
}

const endingOf = (failure: Failure): Ending => ({ code: exitCodeOf(failure), problem: problemOf(failure) })

/** A failed write to stdout arrives as a defect, but it is not a bug in berth. */
const endingOfDefect = (defect: unknown): Ending =>
  defect instanceof StdoutFailed
    ? { code: exitCode[defect.exit], problem: problemOfOutput(defect) }
    : { code: exitCode.fault, problem: problemOfDefect(defect) }

/** Ends a run with its exit code. The caller handles an interruption. */
const withExitCode =
  (debug: boolean) =>
  <R>(run: Effect.Effect<void, Failure | ProgramEnded, R>) =>
    run.pipe(
      Effect.as<number>(exitCode.done),
      Effect.catchTag("ProgramEnded", ({ code }) => Effect.succeed(code)),
      Effect.catchCause((cause) =>
        Effect.gen(function* () {
          if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
          const failure = Cause.findErrorOption(cause)
          const { code, problem } = Option.match(failure, {
            onSome: endingOf,
            onNone: () => endingOfDefect(Cause.squash(cause))
          })
          yield* reportProblem(problem)
          if (code === exitCode.fault && debug) yield* printDebug(Cause.pretty(cause))
          return code
        })
      )
    )

/** Runs berth on these streams and returns its exit code. The caller handles interruptions. */
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
      withExitCode(raw.debug),
      Effect.provideService(Commands, tree),
      Effect.provide(Layer.mergeAll(Layer.provideMerge(logs(raw.debug), output), platform))
    )
  })

/** The exit code for each signal. Berth exits with this code once the interrupted run has reported the interruption. */
const signals = {
  SIGINT: exitCode.interrupted,
  SIGHUP: exitCode.hungUp,
  SIGTERM: exitCode.terminated
} as const

const runMain = Runtime.makeRunMain(({ fiber }) => {
  let signalled: number | undefined
  for (const [signal, code] of Object.entries(signals)) {
    process.on(signal, () => {
      signalled ??= code
      fiber.interruptUnsafe(fiber.id)
    })
  }
  fiber.addObserver((exit) => {
    if (signalled !== undefined || Exit.isFailure(exit)) process.exit(signalled ?? exitCode.fault)
  })
})

/** Runs berth as this process; signals interrupt it. */
export const runProcess = (args: ReadonlyArray<string>): void => {
  // Sets the exit code without exiting. The process then ends once all output is written.
  const exit = (code: number) => {
    process.exitCode = code
  }
  runMain(Effect.map(run(args, process), exit), { disableErrorReporting: true })
}
